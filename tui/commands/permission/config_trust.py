"""`mcptui config trust`: shows each server and model that needs consent, and stores the answers.

Only a typed yes or no is an answer. Anything else saves nothing, and the end of input ends the command.
"""

import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from tui.commands.permission.terminal_approver import YES_OR_NO, is_terminal, typed_answer, yes_or_no
from tui.core.errors import UsageError, as_sentences
from tui.core.permission.consent import NO_ALL, YES_ALL
from tui.core.ports import BY_KEY
from tui.core.text import clean, clean_line, quoted_name
from tui.core.units import day
from tui.runtime.permission.consent import agree, missing_consents, store_answer
from tui.settings.config_file import ConfigFile
from tui.settings.load import Loaded
from tui.settings.specs import left_out
from tui.settings.state.permission.stored_consents import StoredConsents, Subject

YES_TO_ALL = "y yes to all, n no to all, o one by one, or just enter to decide later: "
ONE_BY_ONE = ("o", "one")


def config_trust(path: Path, *, yes: bool) -> int:
    """Ask about each server and model, or with `yes` show them and consent to all; return the exit code.

    Raises UsageError without a terminal, ConfigError if the file is unusable or a consent cannot be stored.
    """
    found = missing_consents(path, os.environ)
    for skipped in _skipped(ConfigFile(str(path), os.environ).read()):
        print(f"mcptui: {clean(skipped)}", file=sys.stderr)
    if not found:
        print("no server or model needs consent")
        return 0
    if not yes and not is_terminal():
        raise UsageError("no terminal to ask on.", next_step="Use --yes to consent to all of them.")
    if damage := found[0][1].damage:
        print(f"mcptui: {clean(damage)}", file=sys.stderr)
    servers = [one for one in found if not one[1].is_model]
    answer = "o"
    if len(servers) > 1 and not yes:
        shown = "\n\n".join("\n".join((*question.lines(), *_earlier(one))) for one, question in servers)
        print(clean(f"{shown}\n\n{YES_ALL}\n{NO_ALL}"))
        answer = _typed(YES_TO_ALL).lower()
    for subject, question in found:
        one_by_one = answer in ONE_BY_ONE or question.is_model
        if one_by_one:
            print(clean("\n".join((*question.lines(), *_earlier(subject), *question.outcomes))))
        said = True if yes else yes_or_no(_typed(YES_OR_NO) if one_by_one else answer)
        told = {True: "agreed", False: "declined", None: "no answer, nothing saved"}[said]
        problem = ""
        if said:
            by = "option --yes" if yes else BY_KEY
            problem = agree(path, subject.name, os.environ, by=by, expected=subject.launch)
        elif said is not None:
            problem = store_answer(subject, allowed=False, by=BY_KEY)
        if problem:
            print(f"mcptui: {clean(problem)}", file=sys.stderr)
            return 2
        print(f"{clean_line(subject.name, 64)}: {told}\n")
    return 0


def _typed(question: str) -> str:
    """Return what the user typed. Raises UsageError at the end of input, which is not an answer."""
    if (answer := typed_answer(question)) is None:
        raise UsageError("no answer was given. The answers before it are kept.")
    return answer


def _skipped(loaded: Loaded) -> Iterator[str]:
    """Yield a sentence for each server and model that is skipped because its configuration is incomplete."""
    for kind, what in (("servers", "server"), ("models", "model")):
        for name, problems in left_out(loaded, kind).items():
            entry = loaded.raw[kind][name]
            if loaded.source or (isinstance(entry, Mapping) and "source" in entry):
                why = as_sentences(clean_line(one, 400) for one in problems)
                yield f"skipped the {what} {quoted_name(name)}: {why}."


def _earlier(subject: Subject) -> Iterator[str]:
    if at := StoredConsents().refused_at(subject):
        yield f"  You declined this on {day(at)}."
