"""A call that is about to be kept: its draft, its server and its file, for the dialog and the command.

Of a call that is kept again, the placeholders stay where they fit.
"""

import shlex
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tui.addons.tests.keep.draft import Draft, as_written, free_name, name_for, part, response_of
from tui.addons.tests.keep.exchange import Exchange, Other
from tui.addons.tests.keep.home import last_change
from tui.addons.tests.keep.recorded import secrets_in
from tui.addons.tests.keep.target import Target, expecting, target_for, write
from tui.addons.tests.keep.variation import Variation
from tui.addons.tests.review.expectations import accepted
from tui.addons.tests.review.last_runs import LastRuns
from tui.addons.tests.run.judge import Response, judge
from tui.addons.tests.run.launch import has_consent, record_consent
from tui.addons.tests.suite.case import UNSET, Case, Expectation, Request, RequestKind
from tui.addons.tests.suite.case_text import case_toml
from tui.addons.tests.suite.change import with_server
from tui.addons.tests.suite.find import shown_path
from tui.addons.tests.suite.read import name_fault
from tui.addons.tests.suite.references import NotSaved, expected_with_saved, filled_expectation
from tui.core.comparison.placeholders import (
    Placeholder,
    fits,
    fits_text,
    has_placeholder,
    parts_of,
    same,
    written,
)
from tui.core.comparison.values import Path as ValuePath
from tui.core.comparison.varied import renewed_text
from tui.core.errors import McptuiError, UsageError
from tui.core.language.translate import message
from tui.core.secrets.walk import without_secrets
from tui.core.text import clean_line
from tui.core.units import and_more, size
from tui.core.workbench import CallKey, CallKind, CallMemory
from tui.runtime.copies.origin import Origin

MOST_UP = 2
"""Folders above the current one in which a file is near."""

MOST_CHARS = 512 * 1024
"""Maximum characters of a case in a file."""

KINDS: Mapping[CallKind, RequestKind] = {
    CallKind.TOOL: RequestKind.TOOL,
    CallKind.PROMPT: RequestKind.PROMPT,
}
"""What can be saved in a test file. The arguments of a resource template cannot be told from its URI."""


@dataclass(frozen=True, slots=True)
class Moved:
    """A saved call of the state folder: its item, its name there, and its case."""

    key: CallKey
    name: str
    case: Case


def to_move(memory: CallMemory, server: str, taken: Collection[str]) -> list[Moved]:
    """Return the saved calls of a server as cases, with names that are not taken."""
    names, found = set(taken), list[Moved]()
    for key, calls in memory.saved.items():
        for name, arguments in calls.items():
            if key.server != server or key.kind not in KINDS or not isinstance(arguments, Mapping):
                continue
            names.add(free := free_name(name, names))
            found.append(Moved(key, name, saved_case(key, free, arguments)))
    return found


def without_moved(moved: Iterable[Moved], memory: CallMemory) -> CallMemory:
    """Return the saved calls without those that are in a test file now."""
    for one in moved:
        memory = memory.without_saved(one.key, one.name)
    return memory


def saved_case(key: CallKey, name: str, arguments: Any) -> Case:
    """Return saved arguments as a case that expects nothing yet."""
    given = dict(arguments) if isinstance(arguments, Mapping) else {}
    return Case(name, 0, as_written(Request(KINDS[key.kind], key.name, given)))


@dataclass(frozen=True, slots=True)
class Keeping:
    """What is about to be kept.

    Attributes:
        current: the current folder.
        redact: returns a text without secrets.
        by_name: whether a configured server is named, or its command is written out; None for the default.
        is_own: whether the user's own mcptui made the call, so that keeping it is consent to its server.
    """

    draft: Draft
    origin: Origin
    current: Path
    redact: Callable[[str], str]
    by_name: bool | None = None
    is_own: bool = True

    @classmethod
    def of(
        cls, exchange: Exchange, origin: Origin, current: Path, redact: Callable[[str], str], *, is_own: bool
    ) -> "Keeping":
        """Return an exchange as it is proposed. Raises UsageError if a secret is in its request."""
        safe = without_secrets_of(exchange, redact)
        return cls(Draft.of(safe, name_for(safe.request)), origin, current, redact, is_own=is_own)

    def target(self, typed: str = "") -> Target:
        """Return the file that the user typed, or the default. Raises UsageError or SuiteError."""
        return target_for(
            typed,
            self.origin,
            self.current,
            self.redact,
            by_name=self.by_name,
            has_call=lambda file: self.same_case(file) is not None,
        )

    @property
    def is_changed(self) -> bool:
        """Whether the user has switched something against the proposal."""
        return bool(self.draft.switched) or not self.draft.timed

    def since_kept(self, target: Target) -> "Keeping":
        """Return this without results from before the call was last kept, or before its server changed."""
        exchange, there = self.draft.exchange, self.same_case(target)
        is_kept = there is not None and not there.expected.is_empty and target.stamp is not None
        kept = target.stamp[3] / 1e9 if is_kept and target.stamp is not None else 0.0
        change = last_change(self.origin)
        changed = change.at if change is not None and change.at <= exchange.at else 0.0
        others = [one for one in exchange.compared if one[2] >= max(kept, changed)]
        return self.compared_with(others) if len(others) < len(exchange.compared) else self

    def compared_with(self, others: Iterable[Other]) -> "Keeping":
        """Return this with other results of equal requests."""
        draft = self.draft
        exchange = without_secrets_of(draft.exchange.compared_with(others), self.redact)
        made = Draft.of(exchange, draft.name, draft.switched)
        return replace(self, draft=replace(made, timed=draft.timed))

    def named(self, name: str) -> "Keeping":
        """Return this with another name of the case."""
        return replace(self, draft=replace(self.draft, name=name))

    def proposed_for(self, target: Target) -> "Keeping":
        """Return this with the name of the case that has the same request, or else with a free one."""
        there = self.same_case(target)
        free = name_for(self.draft.exchange.request, target.names)
        return self.named(there.name if there is not None else free)

    def shown_path(self, path: Path) -> str:
        """Return a path as the user types it: relative to the current folder if it is near."""
        return shown_path(path, str(self.current), MOST_UP)

    def same_case(self, target: Target, name: str = "") -> Case | None:
        """Return a case of the file with the same request and answers, of this `name` if it is given."""
        case, cases = self.draft.case(), target.suite.cases if target.suite is not None else ()
        alike = (one for one in cases if same_request(one, case))
        return next((one for one in alike if name in ("", one.name)), None)

    def is_kept_by(self, there: Case) -> bool:
        """Return whether this result passes a case with the same request, and those of equal calls do."""
        exchange = self.draft.exchange
        results = [None, *exchange.others]
        try:
            expected = filled_expectation(there.expected, {})
        except NotSaved:  # it depends on the calls before it
            return False
        is_accepted = not expected.is_empty and {*exchange.findings} <= {*expected.findings}
        return is_accepted and not any(
            judge(expected, response_of(exchange, one)).mismatches for one in results
        )

    def case_in(self, target: Target) -> Case:
        """Return the case as the file will have it. Of one that is kept, placeholders that fit stay."""
        case, there = self.draft.case(), self.same_case(target, self.draft.name)
        if there is None:
            return case
        if self.is_kept_by(there) and not self.is_changed:
            return replace(case, expected=there.expected)
        return replace(case, expected=kept_again(there.expected, self.draft))

    def preview(self, target: Target) -> str:
        """Return what will be added to the file."""
        case = _text_of(self.case_in(target))
        return f"{with_server('', target.server.server)}\n{case}" if target.is_new else case

    def moved(self, memory: CallMemory, target: Target) -> list[Moved]:
        """Return the saved calls of the server, which move to the file together with the case."""
        return to_move(memory, self.origin.name, {*target.names, self.draft.name})

    def keep(self, target: Target, moved: Sequence[Moved] = ()) -> str:
        """Write the case, after saved ones of its server, and return what to say. Blocks.

        Of saved ones with the same request, it takes the place. A case of its name with the same request gets
        its expectation, unless the result is as it expects.

        Raises UsageError or SuiteError.
        """
        case, there = self.case_in(target), self.same_case(target, self.draft.name)
        if there is not None and case.expected == there.expected:
            file, name = self.shown_path(target.path), clean_line(there.name, 200)
            return message("Already kept in {file}: {name}", file=file, name=name)
        require_name(case.name)
        if there is None and case.name in target.names:
            file = self.shown_path(target.path)
            raise UsageError(message("{file} already has a case of this name.", file=file))
        text = _text_of(case)
        if len(text) > MOST_CHARS:
            raise UsageError(
                message(
                    "The result is too large to keep: {size}. The limit is {most}.",
                    size=size(len(text)),
                    most=size(MOST_CHARS),
                )
            )
        saved = [one.case for one in moved if one.case.request != case.request]
        if there is not None:
            write(expecting(target, there, case.expected), saved)
        else:
            write(target, [*saved, case])
        return after_keeping(target, self.origin, self.shown_path(target.path), is_own=self.is_own)


def require_name(name: str) -> None:
    """Raise UsageError if a file cannot have this name of a case."""
    if not name.strip():
        raise UsageError(message("A name is required."))
    if fault := name_fault(name):
        raise UsageError(f"A name {fault}.")


def same_request(one: Case, other: Case) -> bool:
    """Return whether two cases send the same, with the same answers to the server."""
    return one.request == other.request and same(dict(one.answers), dict(other.answers))


def after_keeping(target: Target, origin: Origin, shown: str, *, is_own: bool) -> str:
    """Remember a file that was written, and store consent if the call is the user's own; return what to say.

    Blocks. `shown` is its path as the user types it.
    """
    problem = remember(target, origin, is_own=is_own)
    said = message(
        "Kept in {file}. Run it with: mcptui test {argument}", file=shown, argument=shlex.quote(shown)
    )
    if target.server.needs and target.is_new:
        needs = and_more(target.server.needs, 6)
        said = message("{said}\nSet {names} when you run it.", said=said, names=needs)
    return message("{said}\nYour consent was not saved: {why}", said=said, why=problem) if problem else said


def remember(target: Target, origin: Origin, *, is_own: bool) -> str:
    """Remember a file that was written, and store consent to the server that the user called (`is_own`).

    Blocks. Returns why the consent could not be stored, or "".
    """
    with closing(LastRuns()) as runs:  # the screens list it from now on
        runs.remember(target.path)
    there = target.suite.server if target.suite is not None else None
    # What a file of someone else names besides the command that ran still needs consent: variables, and
    # cases for a configured server.
    is_theirs = there is not None and (
        not there.command or replace(there, line=1) != replace(target.server.server, line=1)
    )
    if not is_own:
        return ""
    try:
        if is_theirs and not (target.suite is not None and has_consent(target.suite, origin.spec)):
            return ""
        return record_consent(target.path, origin.spec)
    except (McptuiError, OSError) as error:
        return clean_line(str(error), 300)


def _text_of(case: Case) -> str:
    try:
        return case_toml(case)
    except ValueError:
        raise UsageError(
            message("It has half of a surrogate pair, which cannot be written to a file.")
        ) from None


def without_secrets_of(exchange: Exchange, redact: Callable[[str], str]) -> Exchange:
    """Return an exchange with a mark for each secret in its results.

    Raises UsageError if there is one in its request: the case could not send it.
    """
    request, answers = exchange.request, exchange.answers
    sent = [request.name, dict(request.arguments), dict(answers)]
    names = {*exchange.secrets, *secrets_in(without_secrets(sent, redact))}
    if names:
        listed = and_more([clean_line(name, 40) for name in sorted(names)], 4)
        raise UsageError(
            message(
                "The request contains a secret ({names}), which must not be in a test file.", names=listed
            ),
            next_step=message("Call it without the secret: a server can read it from its environment."),
        )
    return replace(
        exchange,
        result=without_secrets(exchange.result, redact),
        error=without_secrets(exchange.error, redact),
        others=tuple(without_secrets(one, redact) for one in exchange.others),
    )


_MISSING = object()


def kept_again(before: Expectation, draft: Draft) -> Expectation:
    """Return what a case expects that expected `before`, whose call is kept again.

    What the user switched in the draft is as in the draft.
    """
    made = draft.case().expected
    if before.is_empty or before.error != made.error:
        return made
    exchange = draft.exchange
    responses = [response_of(exchange), *(response_of(exchange, one) for one in exchange.others)]
    try:
        found = accepted(before, responses[0], lambda value: expected_with_saved(value, {}))
    except NotSaved:  # what depends on the calls before it is kept as new
        return made
    heads = {one.path[0] for one in draft.switched}
    if found.text is not None and (made.text is not None or "text" in heads):
        texts = [one.text for one in responses]
        is_as_made = "text" in heads or not has_placeholder(before.text)
        text = made.text if is_as_made else _with_proposals(found.text, draft, ("text",))
        found = replace(found, text=text if text is not None and _fit_all(text, texts) else made.text)
    if made.result is not UNSET and (before.result is not UNSET or before.text is None):
        values = [part(one, "result") for one in responses]
        merged = _merged(("result",), before.result, made.result, values, draft)
        found = replace(found, result=merged)
    if "content" in heads:
        found = replace(found, content=made.content)
    slowest = max(exchange.ms, *exchange.other_ms, 0.0)
    is_slow = before.within_ms is None or slowest > before.within_ms or not draft.timed
    found = replace(found, within_ms=made.within_ms if is_slow else before.within_ms, findings=made.findings)
    for one in responses:
        if _differs(found, one) and not _differs(made, one):
            return made
    return found


def _differs(expected: Expectation, response: Response) -> bool:
    return bool(judge(filled_expectation(expected, {}), response).mismatches)


def _merged(path: ValuePath, before: Any, made: Any, values: Sequence[Any], draft: Draft) -> Any:
    """Return `made`, with the placeholders of `before` that fit all values there.

    Members that `before` has not are not expected, unless the object has lost one: it may be renamed.
    """
    if any(one.path == path for one in draft.switched):
        return made
    if isinstance(before, dict) and isinstance(made, dict):
        has_lost = bool(before.keys() - made.keys())
        return {
            name: _merged((*path, name), before[name], one, _inside(values, name), draft)
            if name in before
            else one
            for name, one in made.items()
            if name in before or has_lost
        }
    if isinstance(before, list) and isinstance(made, list) and len(before) == len(made):
        pairs = enumerate(zip(before, made, strict=True))
        return [_merged((*path, at), one, new, _inside(values, at), draft) for at, (one, new) in pairs]
    if not isinstance(before, str) or not has_placeholder(before):
        return made
    there = [one for one in values if one is not _MISSING]
    if all(fits(before, one) for one in there):
        return before
    if there and all(isinstance(one, str) for one in there):
        text = _with_proposals(renewed_text(before, there[0]), draft, path)
        return text if all(fits(text, one) for one in there) else made
    return made


def _inside(values: Sequence[Any], step: str | int) -> list[Any]:
    """Return the values at a member or an item of each of these."""
    found = []
    for value in values:
        is_there = step in value if isinstance(value, dict) else isinstance(step, int) and _has(value, step)
        found.append(value[step] if is_there else _MISSING)
    return found


def _has(value: Any, at: int) -> bool:
    return isinstance(value, list) and at < len(value)


def _fit_all(text: str, others: Collection[str]) -> bool:
    return all(fits_text(text, one) for one in others)


def _with_proposals(text: str, draft: Draft, path: ValuePath) -> str:
    """Return a text in which new times and ids are placeholders, as the draft proposes."""
    for one in draft.chosen:
        if one.path == path and one.start >= 0 and not one.is_seen:
            text = _replaced(text, one)
    return text


def _replaced(text: str, one: Variation) -> str:
    found = list[Any]()
    for each in parts_of(text):
        if type(each) is not str or one.value not in each:
            found.append(each)
            continue
        first, *rest = each.split(one.value)
        found.append(first)
        for other in rest:
            found += [Placeholder(one.placeholder[1:-1]), other]
    return written(part for part in found if part != "")
