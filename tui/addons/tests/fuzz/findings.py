"""What is wrong with the response to a call: the oracle of the fuzzer."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from tui.addons.tests.run.case_run import output_findings
from tui.addons.tests.run.instance import Exchange, ServerInstance
from tui.addons.tests.suite.case import Request
from tui.core.jsonrpc.classification import is_tool_error
from tui.core.jsonrpc.protocol import INTERNAL_ERROR
from tui.core.text import clean_line, list_in, mapping, text_in
from tui.core.time_limits import PROGRESS
from tui.core.tools import CallFailure
from tui.core.traffic import Severity
from tui.core.units import size
from tui.traffic.explain.crash import last_crash


class Fault(StrEnum):
    """The kinds of findings, worst first."""

    CRASH = "crash"
    HANG = "hang"
    NO_ANSWER = "no-answer"
    INTERNAL_ERROR = "internal-error"
    EXCEPTION = "exception"
    STRAY_OUTPUT = "stray-output"
    INVALID_RESULT = "invalid-result"
    PROTOCOL = "protocol"
    LARGE_ANSWER = "large-answer"
    ACCEPTED = "accepted"


COSTLY = frozenset({Fault.CRASH, Fault.HANG, Fault.NO_ANSWER, Fault.LARGE_ANSWER})
"""Faults that larger values only cause again, and that cost time or a new process."""


@dataclass(frozen=True, slots=True)
class Found:
    """A fault of one call. `rule` and `path` tell faults of a kind apart; `said` is a sentence about it.

    `path` leads to the argument that violates the rule, with `*` for each index; "" for all of them.
    """

    fault: Fault
    said: str
    rule: str = ""
    path: str = ""

    @property
    def key(self) -> tuple[Fault, str, str]:
        return self.fault, self.rule, self.path

    def is_like(self, other: "Found") -> bool:
        """Return whether two faults are the same. Not each crash says where it was."""
        is_unknown = self.fault is Fault.CRASH and not (self.rule and other.rule)
        return self.key == other.key or (is_unknown and other.fault is Fault.CRASH)


_RULES = (
    ("required", re.compile(r"is a required property|is a dependency of")),
    ("unknown", re.compile(r"(?:Additional|Unevaluated) properties|does not match any of the regexes")),
    ("type", re.compile(r"is not of type|is not valid under any")),
    ("minimum", re.compile(r"less than")),
    ("maximum", re.compile(r"greater than")),
    ("multiple", re.compile(r"not a multiple")),
    ("too-short", re.compile(r"is too short|should be non-empty|does not have enough")),
    ("too-long", re.compile(r"is too long|is expected to be empty|has too many|expected at most")),
    ("unique", re.compile(r"non-unique")),
    ("choice", re.compile(r"is not one of|was expected")),
    ("pattern", re.compile(r"does not match|is not a '")),
)
_OF_PART = re.compile(r"(?!['\"{\[]|(?:Additional|Unevaluated) properties|False schema)(.+?): ")
"""How a sentence about a part of the arguments begins: with its path. Others begin with a value."""

_REQUIRED = re.compile(r"'([^']+)' is a (?:required property|dependency of)")
_INDEX = re.compile(r"(?<=\.)\d+(?=\.|$)")
_CONVERTED = re.compile(
    r"""(?:[^ ]*:\ )?(?:True|False|-?\d[\d.e+-]*|'\s*[-+]?[\d._]*\d[\d._e+-]*\s*'
    |'(?:true|false|yes|no|on|off|[tfyn])')\ is\ not\ of\ type\ '(?:integer|number|boolean)'""",
    re.IGNORECASE | re.VERBOSE,
)
"""Values that many libraries convert on purpose, such as "5" to 5."""

_UNHANDLED = re.compile(
    r"""Traceback\ \(most\ recent\ call\ last\)|panicked\ at|Maximum\ call\ stack|nil\ pointer\ dereference
    |\b(?:Index|Key|Type|Attribute|ZeroDivision|UnboundLocal|Name|Assertion|Recursion|Overflow|Memory
        |UnicodeEncode|UnicodeDecode|Reference|Range|Runtime|NullPointer|NotImplemented)(?:Error|Exception)\b
    |(?:^|(?:Error|Exception|tool\ \S+):\ )[^:\n]{0,60}?(?:index\ out\ of\ range|division\ by\ zero
        |has\ no\ attribute\ '|unsupported\ operand|maximum\ recursion\ depth|surrogates\ not\ allowed
        |object\ is\ not\ (?:subscriptable|iterable|callable)|embedded\ null\ (?:byte|character)
        |codec\ can't\ (?:en|de)code|Cannot\ read\ propert|undefined\ is\ not
        |is\ not\ (?:a\ function|iterable))""",
    re.VERBOSE | re.MULTILINE,
)
"""Words of exceptions that nobody handled, of Python, JavaScript, Rust, Go and Java."""

TRACEBACK = "Traceback"
MASKED = re.compile(r"Error executing tool \S+")
"""The text in place of an exception of a tool, which the Python SDK prints to stderr only."""

CONFESSED = re.compile(r"(?:MCP error [-\d]+: )?(?:Output validation error|Invalid structured content)")
"""The text by which the SDKs say that a result of the server does not match its own schema."""

NOT_SENT = "Not sent"
"""How the problem begins of a call that mcptui cannot write, with half of a surrogate pair."""

MOST_WORDS = 300
STRAY = "stray-output"
"""The finding of the linter about output that is no message."""


def rule_of(problem: str) -> str:
    """Return the keyword that arguments violate, by the sentence about them."""
    return next((name for name, pattern in _RULES if pattern.search(problem)), "schema")


def path_of(problem: str) -> str:
    """Return the path of the argument that is wrong or missing, by the sentence about it; "" for all."""
    found, missing = _OF_PART.match(problem), _REQUIRED.search(problem)
    steps = [_INDEX.sub("*", found[1])] if found is not None else []
    return ".".join([*steps, *([missing[1]] if missing is not None else [])])


async def faults_of(
    exchange: Exchange, request: Request, problem: str, most: int, instance: ServerInstance
) -> list[Found]:
    """Return what is wrong with the response to a call of a tool.

    `problem` is why the arguments are invalid, or "". `most` are the bytes that a response may have.
    """
    answer, error = exchange.answer, mapping(exchange.answer.error)
    found = [Found(Fault.STRAY_OUTPUT, one.sentence) for one in exchange.findings if one.code == STRAY][:1]
    if answer.late:
        if PROGRESS not in answer.problem:
            found.append(
                Found(Fault.HANG, _first(answer.problem.partition(". ")[0].removeprefix("tools/call ")))
            )
    elif answer.lost:
        found.append(crash(answer.problem.partition(" after ")[0].partition("” ")[2], instance))
    elif answer.failure is CallFailure.TOO_LARGE or exchange.size > most:
        said = answer.problem or f"the response has {size(exchange.size)}"
        found.append(Found(Fault.LARGE_ANSWER, _first(said)))
    elif answer.problem:
        if not answer.problem.startswith(NOT_SENT):
            found.append(Found(Fault.NO_ANSWER, _first(answer.problem)))
    elif error.get("code") == INTERNAL_ERROR:
        found.append(Found(Fault.INTERNAL_ERROR, _first(text_in(error, "message"))))
    elif not error:
        errors = (one for one in exchange.findings if one.severity >= Severity.ERROR and one.code != STRAY)
        found += (Found(Fault.PROTOCOL, _first(one.sentence), one.code) for one in errors)
        found += await _of_result(mapping(answer.result), request, problem, instance)
    return found


def crash(end: str, instance: ServerInstance) -> Found:
    """Return the crash of a server, with its last words. `end` says how it ended."""
    words = instance.last_words()
    return Found(Fault.CRASH, _first(end or "ended", " ".join(words[:2])), _place(words))


async def _of_result(
    result: Mapping[str, Any], request: Request, problem: str, instance: ServerInstance
) -> list[Found]:
    if is_tool_error(result):
        text = "\n".join(text_in(mapping(one), "text") for one in list_in(result, "content"))
        if MASKED.fullmatch(text):
            await instance.catch_up()
            words = instance.last_words()
            return [Found(Fault.EXCEPTION, _first(" ".join(words[:2]) or text), _place(words))]
        if CONFESSED.match(text):
            return [Found(Fault.INVALID_RESULT, _first(text))]
        found = _UNHANDLED.search(text)
        if found is None or found[0] in str(request.arguments):  # it may be what it was given
            return []
        return [_raised(text, found)]
    accepted = problem and not _CONVERTED.match(problem)
    faults = [Found(Fault.ACCEPTED, _first(problem), rule_of(problem), path_of(problem))] if accepted else []
    wrong = await output_findings(request.name, result, instance)
    return [*faults, *(Found(Fault.INVALID_RESULT, _first(one.sentence)) for one in wrong)]


def _raised(text: str, found: re.Match[str]) -> Found:
    """Return the exception in the text of an error: of a traceback, its words and place, else the line."""
    is_traceback = found[0].startswith(TRACEBACK)  # there may be words before it
    if (crash := last_crash(text[found.start() if is_traceback else 0 :].splitlines())) is None:
        line = text[: found.start()].rpartition("\n")[2] + text[found.start() :].partition("\n")[0]
        return Found(Fault.EXCEPTION, _first(line), found[0])
    place = "" if crash.own is None else f" at {crash.own}"
    return Found(Fault.EXCEPTION, _first(crash.words + place), crash.words.partition(":")[0] + place)


def _place(words: Sequence[str]) -> str:
    """Return the line of code that the last words of a server name, or ""."""
    return next((word for word in words if word.startswith("at ")), "")


def _first(*texts: str) -> str:
    """Return the first line of each text, joined."""
    return ". ".join(clean_line(text.partition("\n")[0], MOST_WORDS).rstrip(".") for text in texts if text)
