"""Answers requests from servers according to command-line options, and prints the answers on stderr."""

import argparse
import os
import shlex
from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import islice
from typing import Any

from tui.commands.permission.terminal_approver import asked_line, yes_or_no
from tui.commands.run_input import read_json
from tui.commands.streams import err_later
from tui.core.errors import UsageError
from tui.core.forms.elicitation import content_problem, default_content
from tui.core.permission.definitions import shown_name
from tui.core.ports import BY_DEFAULT
from tui.core.questions import (
    Action,
    AddressQuestion,
    DefinitionsQuestion,
    FormQuestion,
    Question,
    QuestionAnswer,
    Questioner,
    SamplingQuestion,
    SkillQuestion,
)
from tui.core.text import clean_line, compact
from tui.core.units import and_more, plural

MAX_FILE = 1024 * 1024
MAX_CHANGES = 20
MAX_LINES = 40
"""Maximum changed definitions to print, and maximum lines of each."""

MAX_ANSWERS = 100
"""Maximum different answers to print."""


class FlagAnswers(Questioner):
    """Answers by options, and never asks the user. Consent requires `--trust-config`.

    `values` are the contents of forms, in order. The last one is reused for further forms, and None declines
    every form. Missing fields get the defaults of the form. `accept_changes` accepts changed definitions, but
    suspicious ones only with `accept_suspicious`. `tell` receives an object for each change and its outcome.
    `skills` are those that may be loaded, as SERVER/NAME. Others are asked about on a terminal if `asks`.
    """

    def __init__(
        self,
        values: Sequence[Mapping[str, Any]] | None,
        *,
        flag: str = "decline",
        accept_changes: bool = False,
        accept_suspicious: bool = False,
        tell: Callable[[dict[str, Any]], None] = lambda value: None,
        skills: Collection[str] = (),
        asks: bool = False,
    ) -> None:
        self._skills, self._asks = skills, asks
        self._versions: dict[str, str] = {}
        self._values = values
        self._by = f"option --elicit {flag}"
        self._accept_changes = accept_changes or accept_suspicious
        self._accept_suspicious = accept_suspicious
        self._forms = 0
        self._tell = tell
        self._said: set[tuple[str, str]] = set()
        self._shown: set[tuple[str, str, str]] = set()
        self._err = err_later()  # servers do not ask in the task of the command

    @classmethod
    def of(
        cls, args: argparse.Namespace, tell: Callable[[dict[str, Any]], None] = lambda value: None
    ) -> "FlagAnswers":
        """Return the answers of a command line. Raises UsageError if a file or directory is invalid."""
        for root in args.root:
            if not os.path.isdir(os.path.expanduser(root)):
                raise UsageError("not a directory", where=f"--root {root}")
        flag: str = args.elicit
        values: Sequence[Mapping[str, Any]] | None = [{}] if flag == "defaults" else None
        if flag.startswith("@"):
            flag, values = "@FILE", read_values(flag[1:])
        accept, suspicious, more = args.accept_changes, args.accept_suspicious, vars(args)
        return cls(
            values,
            flag=flag,
            accept_changes=accept,
            accept_suspicious=suspicious,
            tell=tell,
            skills=more.get("approve_skill") or (),
            asks=more.get("approve") == "ask",
        )

    async def ask(self, question: Question) -> QuestionAnswer:
        match question:
            case FormQuestion():
                return self._form(question)
            case AddressQuestion():
                why = "declined: no terminal to open it from"
                if question.purpose == "sign in":
                    why += f". Sign in first: mcptui login {clean_line(question.server, 60)}"
                self._say(question.server, f"{question.message} {question.url}".strip(), why)
                return QuestionAnswer(Action.DECLINE, by=f"{BY_DEFAULT} (no terminal)")
            case DefinitionsQuestion():
                return self._definitions(question)
            case SkillQuestion():
                return await self._skill(question)
            case SamplingQuestion(reply=None):
                how = "declined. Allow it with --sampling allow"
                self._say(question.server, "a model reply", how)
        return await super().ask(question)

    async def _skill(self, question: SkillQuestion) -> QuestionAnswer:
        """Answer by an option, or ask on the terminal. No other option approves a skill."""
        by_uri = f"{question.server}/{question.uri}"
        named = by_uri if by_uri in self._skills else f"{question.server}/{question.label}"
        is_changed = False
        if named in self._skills:
            is_changed = self._versions.setdefault(named, question.version) != question.version
            if not is_changed:
                return QuestionAnswer(Action.ACCEPT, by=f"option --approve-skill {named}")
        line = None
        if self._asks:
            text = "\n".join(["? " + question.lines()[0], *question.lines()[1:], *question.outcomes])
            line = await asked_line(f"{text}\n  y yes, n no: ")
        if line is not None:
            return QuestionAnswer(Action.ACCEPT if yes_or_no(line) else Action.DECLINE)
        how = f"declined. Allow it with --approve-skill {shlex.quote(clean_line(named, 160))}"
        if is_changed:
            how = "declined, because it has changed during this run"
        self._say(question.server, f"load the skill {question.name}", how)
        return QuestionAnswer(Action.DECLINE, by=f"{BY_DEFAULT} (nobody to ask)")

    def _form(self, question: FormQuestion) -> QuestionAnswer:
        if self._values is None:
            how = "declined. Answer it with --elicit defaults or --elicit @FILE"
            self._say(question.server, question.message, how)
            return QuestionAnswer(Action.DECLINE, by=self._by)
        given = self._values[min(self._forms, len(self._values) - 1)]
        self._forms += 1

        content = {**default_content(question.schema), **given}
        if problem := content_problem(question.schema, content):
            self._say(question.server, question.message, f"declined: invalid answer: {problem}")
            return QuestionAnswer(Action.DECLINE, by=self._by)
        self._say(question.server, question.message, f"answered {compact(content, 300)}")
        return QuestionAnswer(Action.ACCEPT, content, by=self._by)

    def _definitions(self, question: DefinitionsQuestion) -> QuestionAnswer:
        """Print what changed and how to accept it, or that it was accepted."""
        # Imported late: compiles many patterns, which a run without changes does not need.
        from tui.core.hidden_text.readable import readable_line
        from tui.core.permission.change_effects import ChangeEffect
        from tui.core.permission.wording import lines, since, summary

        out = self._err()
        if question.damage:
            print(f"! {clean_line(question.server, 80)}: {clean_line(question.damage, 1_000)}", file=out)
        fresh = [one for one in question.changes if (one.server, one.name, one.digest) not in self._shown]
        self._shown |= {(one.server, one.name, one.digest) for one in fresh}
        for one in fresh[:MAX_CHANGES]:
            rows = lines(one)
            for row in islice(rows, MAX_LINES):
                print(f"  {''.join(text for text, _ in row)}", file=out)
            if more := sum(1 for _ in rows):
                print(f"    … {plural(more, 'more line')}. The app shows all of them", file=out)
        if (more := len(fresh) - MAX_CHANGES) > 0:
            print(f"  … {plural(more, 'more change')}", file=out)
        suspicious = {one.name for one in question.changes if one.effect is ChangeEffect.SUSPICIOUS}
        flag = "--accept-suspicious" if self._accept_suspicious else "--accept-changes"
        refused = set() if self._accept_suspicious else suspicious
        accepted = {one.name for one in question.changes} - refused if self._accept_changes else set()
        server = clean_line(question.server, 80)
        for one in question.changes:
            is_accepted, change = one.name in accepted, "new" if one.is_new else "changed"
            self._tell(
                {
                    "type": "definition",
                    "server": one.server,
                    "name": shown_name(one.name),  # not cleaned
                    "change": change,
                    "verdict": one.effect.value,
                    "accepted": is_accepted,
                    "by": f"option {flag}" if is_accepted else BY_DEFAULT,
                }
            )
            if self._accept_changes:
                outcome = "not accepted. Read it, then add --accept-suspicious to accept it"
                outcome = f"accepted, {flag}" if is_accepted else outcome
                words = f"{readable_line(shown_name(one.name), 80)} {change}, {one.effect}"
                print(f"! {server}: {words} · {outcome}", file=out)
        if self._accept_changes:
            out.flush()
            return QuestionAnswer(Action.ACCEPT, by=f"option {flag}", only=frozenset(accepted))
        names = and_more([readable_line(shown_name(one.name), 80) for one in question.changes], MAX_CHANGES)
        if suspicious:
            also = ", or with --accept-suspicious to include suspicious ones"
            is_all = len(suspicious) == len(question.changes)
            flag = "--accept-suspicious" if is_all else flag + also
        what = f"{summary(question.changes)}{since(question.changes)}{question.share}"
        said = f"! {server}: {what} · not offered to the model: {names}. Accept with {flag}"
        print(said, file=out, flush=True)
        return QuestionAnswer(Action.CANCEL, by=BY_DEFAULT)

    def refused(self, server: str, why: str) -> None:
        self._say(server, "a malformed request", f"refused: {why}")

    def _say(self, server: str, asked: str, answer: str) -> None:
        """Print a request and its answer, the same answer to a server only once."""
        server, answer = clean_line(server, 80), clean_line(answer, 600)
        if (server, answer) not in self._said and len(self._said) < MAX_ANSWERS:
            self._said.add((server, answer))
            print(f"? {server} asks: {clean_line(asked, 500)} · {answer}", file=self._err(), flush=True)


def read_values(path: str) -> Sequence[Mapping[str, Any]]:
    """Return the objects in a JSON file. Raises UsageError with the line and the expected form."""
    where = f"--elicit @{path}"
    found = read_json(path, MAX_FILE, where)
    listed = found if isinstance(found, list) else [found]
    if not listed or not all(isinstance(one, dict) for one in listed):
        raise UsageError(
            "the file must contain an object or an array of objects",
            where=where,
            next_step='Use an object with the fields, {"name": "Ada"}, or an array with one object per form.',
        )
    return listed
