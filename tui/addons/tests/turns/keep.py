"""Keeps a turn of a conversation as a turn case: its question, its calls, its server and its file.

An argument is expected if the question says it: `location~Hangzhou` for "Hangzhou, China". Another run or
another model may choose the others differently, so they are only proposed. If the question says no argument
of a call, as after a translation, all are expected, because otherwise any call of the tool would do.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tui.addons.tests.keep.draft import free_name
from tui.addons.tests.keep.keeping import MOST_UP, after_keeping
from tui.addons.tests.keep.target import Target, target_for, write
from tui.addons.tests.suite.case import TurnCase
from tui.addons.tests.suite.case_text import turn_toml
from tui.addons.tests.suite.change import with_server
from tui.addons.tests.suite.find import shown_path
from tui.addons.tests.turns.call_pattern import MAX_CHARS, ArgumentPattern, CallPattern
from tui.core.conversation.conversation import (
    AssistantMessage,
    CallRequest,
    Message,
    ToolMessage,
    UserMessage,
)
from tui.core.errors import UsageError
from tui.core.events import NEVER_RUN
from tui.core.language.translate import message
from tui.core.schemas.tool_names import NameTable
from tui.core.secrets import encodings, secret_names
from tui.core.text import clean_line, fold
from tui.core.tools import Tool
from tui.core.turn.model_step import parse_arguments
from tui.runtime.copies.origin import Origin

MOST_WORDS = 40
"""Words of an argument that are looked for in the question."""

MOST_CHARS = 2_000
MOST_UNSAID = 200
"""Characters of a text that is proposed though the question does not say it."""

MOST_CALLS = 20
MOST_ARGUMENTS = 30
"""Arguments of a call that are proposed."""

MAX_DEPTH = 3
_WORD = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|[^\\W\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+")
_SPOKEN = re.compile(r"[^\W_]")


@dataclass(frozen=True, slots=True)
class KeptArgument:
    """An argument of a call, and whether the question says it, and whether it is expected."""

    pattern: ArgumentPattern
    is_said: bool
    is_on: bool


@dataclass(frozen=True, slots=True)
class KeptCall:
    """A call of the turn, and whether it is expected."""

    tool: str
    arguments: tuple[KeptArgument, ...] = ()
    is_on: bool = True

    @classmethod
    def of(cls, tool: str, question: str, arguments: Mapping[str, Any]) -> "KeptCall":
        """Return a call as it is proposed for a question."""
        found = {str(one): (one, is_said) for one, is_said in _arguments_of(question, arguments)}
        proposed = [pair for pair in found.values() if not pair[0].problem(arguments)][:MOST_ARGUMENTS]
        says_none = not any(is_said for _, is_said in proposed)
        kept = tuple(KeptArgument(one, is_said, is_said or says_none) for one, is_said in proposed)
        made = cls(tool, kept)
        return made if len(str(made)) <= MAX_CHARS else cls(tool)

    def __str__(self) -> str:
        return str(CallPattern(self.tool, tuple(one.pattern for one in self.arguments if one.is_on)))

    def switched(self, argument: int | None) -> "KeptCall":
        """Return this with an argument switched on or off, None for the whole call."""
        if argument is None:
            return replace(self, is_on=not self.is_on)
        found = list(self.arguments)
        found[argument] = replace(found[argument], is_on=not found[argument].is_on)
        return replace(self, arguments=tuple(found))


@dataclass(frozen=True, slots=True)
class MadeTurn:
    """A question with the calls of the model until the next question, each with its server and tool."""

    question: str
    calls: tuple[tuple[str, str, Mapping[str, Any]], ...]

    @property
    def servers(self) -> list[str]:
        """The servers that were called, in order."""
        return list(dict.fromkeys(server for server, _, _ in self.calls))

    def calls_of(self, server: str) -> tuple[KeptCall, ...]:
        """Return the calls of a server as they are proposed, equal ones once."""
        found = (
            KeptCall.of(tool, self.question, arguments)
            for called, tool, arguments in self.calls
            if called == server
        )
        return tuple({str(one): one for one in found}.values())[:MOST_CALLS]


def made_turn(messages: Sequence[Message], at: int, tools: Iterable[Tool]) -> MadeTurn | None:
    """Return the turn that message `at` belongs to; None before the first question.

    Calls that did not run or failed are left out, and those of tools that no longer exist.
    """
    begin = next(
        (place for place in range(min(at, len(messages) - 1), -1, -1) if _asks(messages, place)), None
    )
    if begin is None:
        return None
    end = next((place for place in range(begin + 1, len(messages)) if _asks(messages, place)), len(messages))
    question, turn = messages[begin].text.strip(), messages[begin + 1 : end]
    if not question:
        return None
    results = {one.call_id: one for one in turn if isinstance(one, ToolMessage)}
    table, calls = NameTable(tools), list[tuple[str, str, Mapping[str, Any]]]()
    for one in turn:
        for call in one.calls if isinstance(one, AssistantMessage) else ():
            tool = table.resolve(call.name)
            if tool is not None and _worked(results.get(call.id)):
                calls.append((tool.server, tool.name, _arguments(call)))
    return MadeTurn(question, tuple(calls))


def _asks(messages: Sequence[Message], place: int) -> bool:
    """Return whether a message begins a turn; a message behind results was added to a running turn."""
    before = messages[place - 1] if place else None
    return isinstance(messages[place], UserMessage) and not isinstance(before, ToolMessage)


def _worked(result: ToolMessage | None) -> bool:
    return result is not None and not result.is_error and result.why not in NEVER_RUN


def _arguments(call: CallRequest) -> Mapping[str, Any]:
    try:
        return parse_arguments(call.arguments)
    except ValueError:
        return {}


def _arguments_of(question: str, arguments: Mapping[str, Any]) -> Iterator[tuple[ArgumentPattern, bool]]:
    """Yield patterns of the arguments, and whether the question says them, as far as it does."""
    folded = fold(question[:MOST_CHARS])
    numbers = set(re.findall(r"-?\d+(?:\.\d+)?", question))
    for name, value in _leaves(arguments):
        if isinstance(value, str):
            if part := said_part(folded, value):
                yield ArgumentPattern(name, part, part=True), True
            elif len(value) <= MOST_UNSAID:
                yield ArgumentPattern(name, value, part=bool(value)), False
        elif isinstance(value, int | float) and not isinstance(value, bool):
            text = _written(value)
            yield ArgumentPattern(name, value, written=text), text in numbers
        else:
            yield ArgumentPattern(name, value), False


def _leaves(value: Mapping[str, Any], path: str = "", depth: int = 0) -> Iterator[tuple[str, Any]]:
    """Yield the values in arguments with their dotted paths; of a list, its texts one by one."""
    for name, one in value.items():
        if (path and "." in name) or not name:
            continue  # it would be read as a longer path
        place = f"{path}.{name}" if path else name
        if isinstance(one, Mapping):
            if depth < MAX_DEPTH:
                yield from _leaves(one, place, depth + 1)
        elif isinstance(one, list):
            yield from ((place, item) for item in one[:MOST_WORDS] if isinstance(item, str) and item)
        else:
            yield place, one


def _written(number: float) -> str:
    return str(int(number)) if isinstance(number, float) and number.is_integer() else str(number)


def said_part(folded: str, value: str) -> str:
    """Return the longest run of words of a text that a folded question has too, or ""."""
    value = " ".join(value[:MOST_CHARS].split())
    words = list(_WORD.finditer(value))[:MOST_WORDS]
    for length in range(len(words), 0, -1):
        for first in range(len(words) - length + 1):
            part = value[words[first].start() : words[first + length - 1].end()]
            if _is_said(folded, fold(part)):
                return part
    return ""


def _is_said(question: str, part: str) -> bool:
    """Return whether a question has a text as whole words; a single letter says nothing."""
    is_word = part.isascii()
    if len(part) < 2 or (is_word and len(part) < 3 and not part.isdecimal()):
        return False
    at = question.find(part)
    while at >= 0:
        around = question[at - 1 : at] if at else "", question[at + len(part) : at + len(part) + 1]
        if not is_word or not any(_SPOKEN.match(one) for one in around):
            return True
        at = question.find(part, at + 1)
    return False


MOST_TITLE = 60
RUNS, PASSING = 5, 0.8
"""Of a kept turn: models do not always choose alike."""


@dataclass(frozen=True, slots=True)
class TurnKeeping:
    """What is about to be kept of a turn, for the suite of one of its servers.

    Attributes:
        origins: how each server that was called is started, by name.
        calls: of the server, as they are proposed or switched.
        name: of the case; "" for its question.
    """

    turn: MadeTurn
    server: str
    origins: Mapping[str, Origin]
    current: Path
    redact: Callable[[str], str]
    calls: tuple[KeptCall, ...] = ()
    name: str = ""

    @classmethod
    def of(
        cls,
        turn: MadeTurn,
        origins: Mapping[str, Origin],
        current: Path,
        redact: Callable[[str], str],
        server: str = "",
    ) -> "TurnKeeping":
        """Return a turn as it is proposed, for a `server` or the first that was called.

        Raises UsageError if it has no call that can be expected, or contains a secret.
        """
        servers = [one for one in turn.servers if one in origins]
        if not servers:
            raise UsageError(
                message("Nothing to keep: no call of this turn succeeded, or its server is gone.")
            )
        made = cls(turn, "", origins, current, redact)._for(server if server in servers else servers[0])
        if made._has_secret(turn.question):
            raise UsageError(message("The question contains a secret, which must not be in a test file."))
        return made

    @property
    def servers(self) -> list[str]:
        """The servers whose suite the turn may be kept in."""
        return [one for one in self.turn.servers if one in self.origins]

    @property
    def case(self) -> TurnCase:
        """The case as it will be written."""
        calls = tuple(str(one) for one in self.calls if one.is_on)
        return TurnCase(self.turn.question, 1, self.name, calls, runs=RUNS, passing=PASSING)

    @property
    def origin(self) -> Origin:
        return self.origins[self.server]

    def named(self, name: str) -> "TurnKeeping":
        """Return this with another name of the case."""
        return replace(self, name=name)

    def switched(self, call: int, argument: int | None = None) -> "TurnKeeping":
        """Return this with a call switched on or off, or one of its arguments."""
        calls = list(self.calls)
        calls[call] = calls[call].switched(argument)
        return replace(self, calls=tuple(calls))

    def for_next_server(self) -> "TurnKeeping":
        """Return this for the next server that was called."""
        servers = self.servers
        return self._for(servers[(servers.index(self.server) + 1) % len(servers)])

    def _for(self, server: str) -> "TurnKeeping":
        """Return this for a server, without the secret arguments that the question does not say."""
        calls = []
        for call in self.turn.calls_of(server):
            shown = (
                one for one in call.arguments if one.is_said or not self._has_secret(str(one.pattern.value))
            )
            calls.append(replace(call, arguments=tuple(shown)))
        return replace(self, server=server, calls=tuple(calls))

    def _has_secret(self, text: str) -> bool:
        has_mark = encodings.MARK in text or secret_names.MARK.search(text) is not None
        return has_mark or self.redact(text) != text

    def free_name(self, target: Target) -> str:
        """Return a name that no other turn case of the file has, "" if the question is one."""
        taken = {one.title for one in _turns(target)}
        if self.turn.question not in taken:
            return ""
        title = clean_line(self.turn.question, MOST_TITLE)
        return free_name(title, {*taken, title})

    def target(self, typed: str = "") -> Target:
        """Return the file that the user typed, or the default. Raises UsageError or SuiteError."""
        return target_for(typed, self.origin, self.current, self.redact)

    def shown_path(self, path: Path) -> str:
        """Return a path as the user types it."""
        return shown_path(path, str(self.current), MOST_UP)

    def preview(self, target: Target) -> str:
        """Return what will be added to the file."""
        text = turn_toml(self.case)
        return f"{with_server('', target.server.server)}\n{text}" if target.is_new else text

    def problem(self, target: Target) -> str:
        """Return why the turn cannot be written to a file as it is, or ""."""
        case, file = self.case, self.shown_path(target.path)
        if not case.calls:
            return message("A turn case expects at least one call.")
        if any(map(self._has_secret, case.calls)):
            return message("A call contains a secret, which must not be in a test file.")
        for there in _turns(target):
            if (there.question, there.calls) == (case.question, case.calls):
                return message("{file} already expects these calls for this question.", file=file)
            if there.title == case.title:
                if self.name:
                    return message("{file} already has a turn case with this name.", file=file)
                return message("{file} already has a turn case with this question.", file=file)
        return ""

    def keep(self, target: Target) -> str:
        """Write the case, and return what to say. Blocks. Raises UsageError or SuiteError."""
        if problem := self.problem(target):
            raise UsageError(problem)
        write(target, [self.case])
        return after_keeping(target, self.origin, self.shown_path(target.path), is_own=True)


def _turns(target: Target) -> Sequence[TurnCase]:
    return target.suite.turns if target.suite is not None else ()
