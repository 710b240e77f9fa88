"""A kept call before it is written: what will be expected, and which parts of it vary. Pure."""

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import chain, count
from typing import Any, Self

from tui.addons.tests.keep.exchange import Exchange
from tui.addons.tests.keep.variation import Variation, expected, variations
from tui.addons.tests.run.judge import Response, says_more, undecodable
from tui.addons.tests.suite.case import LISTS, UNSET, Case, Expectation, Request, RequestKind
from tui.addons.tests.suite.references import without_references
from tui.core.language.translate import message
from tui.core.text import clean_line, compact, list_in, mapping

MIN_WITHIN = 100.0
"""Milliseconds; a shorter limit says more about the computer than about the server."""

FACTOR = 3.0
_STEPS = (1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0)
LONGEST_NAME = 80
_VOLATILE = frozenset({"resultType", "ttlMs", "cacheScope", "nextCursor", "_meta"})
"""Members of results of prompts and lists that are not expected."""

NEAR_SECONDS = 2 * 86_400.0
_IN_MILLISECONDS, _NO_TIME = 1e11, 1e15


@dataclass(frozen=True, slots=True)
class Draft:
    """What a case is made of.

    Attributes:
        parts: the keys of the expectation with their values, without placeholders: text, result, content.
        variations: what varies, in the order of the file.
        switched: those that are switched off or on against the proposal.
        timed: whether the case has a time limit.
    """

    exchange: Exchange
    name: str
    parts: Mapping[str, Any]
    variations: Sequence[Variation]
    switched: frozenset[Variation] = frozenset()
    timed: bool = True

    @classmethod
    def of(cls, exchange: Exchange, name: str, switched: Collection[Variation] = ()) -> Self:
        """Return an exchange with what varies in it. Takes long for a large result."""
        parts = parts_of(response_of(exchange))
        near = is_near(exchange.at)
        others = [response_of(exchange, one) for one in exchange.others]
        given = [exchange.request.name, exchange.request.arguments]
        found = [
            one
            for head, value in parts.items()
            for one in variations(head, value, [part(other, head) for other in others], given, near)
        ]
        kept = {(one.path, one.start, one.placeholder) for one in switched}
        still = frozenset(one for one in found if (one.path, one.start, one.placeholder) in kept)
        return cls(exchange, name, parts, found, still)

    def is_on(self, one: Variation) -> bool:
        """Return whether a part becomes a placeholder."""
        return one.required or one.proposed != (one in self.switched)

    def switch(self, one: Variation) -> "Draft":
        """Return this with a part switched on or off."""
        return self if one.required else replace(self, switched=self.switched ^ {one})

    @property
    def chosen(self) -> Sequence[Variation]:
        return [one for one in self.variations if self.is_on(one)]

    @property
    def differing(self) -> Sequence[Variation]:
        """What is not the same in the results of equal requests."""
        return [one for one in self.variations if one.is_seen]

    @property
    def within(self) -> float:
        """The time limit in milliseconds."""
        return within(max(self.exchange.ms, *self.exchange.other_ms, 0.0))

    def case(self) -> Case:
        """Return the case as it will be written."""
        chosen = self.chosen
        values = {head: expected(head, value, chosen) for head, value in self.parts.items()}
        exchange = self.exchange
        codes = [one.code for one in undecodable(response_of(exchange))]
        expectation = Expectation(
            text=values.get("text"),
            result=values.get("result", UNSET),
            content=values.get("content"),
            error=exchange.is_error,
            within_ms=self.within if self.timed else None,
            findings=tuple(dict.fromkeys((*exchange.findings, *codes))),
        )
        return Case(self.name, 0, as_written(exchange.request), expectation, answers=exchange.answers)


def as_written(request: Request) -> Request:
    """Return a request as a file has it: `${` is the beginning of a saved value there."""
    return replace(
        request,
        name=without_references(request.name) if request.kind is RequestKind.READ else request.name,
        arguments=without_references(request.arguments),
    )


def response_of(exchange: Exchange, result: Mapping[str, Any] | None = None) -> Response:
    """Return the response of an exchange, or one with the result of an equal request."""
    kind = exchange.request.kind
    if result is not None:
        return Response(kind, result)
    return Response(kind, exchange.result, exchange.error if exchange.result is None else None)


def parts_of(response: Response) -> dict[str, Any]:
    """Return what is expected of a response, by the keys of a test file.

    Structured content is preferred. The text is expected too if it says something else.
    """
    if response.is_error:
        return {"text": response.text}
    found: dict[str, Any] = {}
    content = response.content
    match response.kind:
        case RequestKind.LIST:
            return {"result": part(response, "result")}
        case RequestKind.PROMPT:
            messages = list_in(mapping(response.result), "messages")
            if content or len(messages) == 1:
                found["text"] = response.text
            else:
                found["result"] = part(response, "result")
        case _:
            structured = structured_of(response)
            if structured is not UNSET and not _only_wraps(structured, response.text):
                found["result"] = structured
                if says_more(response, structured):
                    found["text"] = response.text
            elif response.text or not content:
                found["text"] = response.text
    if content:
        found["content"] = [dict(one) for one in content]
    return found


def part(response: Response, head: str) -> Any:
    """Return the value of a key of the expectation in another response."""
    if head == "text":
        return response.text
    if head == "content":
        return [dict(one) for one in response.content]
    if response.kind is RequestKind.LIST:
        return names_of(response.value)
    if response.kind is RequestKind.PROMPT:
        return {name: value for name, value in mapping(response.value).items() if name not in _VOLATILE}
    return structured_of(response)


def names_of(result: Any) -> dict[str, Any]:
    """Return a list with nothing but the names of its items: a contract compares their definitions."""
    found = mapping(result)
    return {
        kind.member: [{kind.key: one[kind.key]} if kind.key in one else {} for one in map(mapping, items)]
        for kind in LISTS.values()
        if isinstance(items := found.get(kind.member), list)
    }


def structured_of(response: Response) -> Any:
    """Return the structured content, or the object or list in the text; `UNSET` without any."""
    value = response.value
    is_wanted = response.structured is not None or isinstance(value, Mapping | list)
    return value if is_wanted else UNSET


def _only_wraps(structured: Any, text: str) -> bool:
    """Return whether structured content is only the text: SDKs wrap it as `{"result": text}`."""
    return (
        isinstance(structured, Mapping)
        and list(structured.values()) == [text]
        and [*structured] == ["result"]
    )


def within(ms: float) -> float:
    """Return the time limit for a kept latency: three times as much, rounded up to a simple number."""
    wanted = max(MIN_WITHIN, ms * FACTOR)
    power = 10.0 ** math.floor(math.log10(wanted))
    return next(step * power for step in _STEPS if step * power >= wanted * 0.999)


def is_near(at: float) -> Callable[[Any], bool]:
    """Return a function that says whether a time is that of the call, `at` in seconds since the epoch."""

    def near(value: Any) -> bool:
        if not at:
            return True
        if isinstance(value, int | float):
            unit = 1000 if value > _IN_MILLISECONDS else 1
            return abs(value) < _NO_TIME and abs(value / unit - at) < NEAR_SECONDS
        try:
            there = datetime.fromisoformat(str(value).replace(",", ".").replace(" ", "T", 1))
        except ValueError:
            return True
        there = there if there.tzinfo is not None else there.replace(tzinfo=UTC)
        return abs(there.timestamp() - at) < NEAR_SECONDS

    return near


def name_for(request: Request, taken: Collection[str] = ()) -> str:
    """Return a name for a case, other than those that are taken."""
    return free_name(clean_line(_with_values(request), LONGEST_NAME).strip() or "call", taken)


def free_name(name: str, taken: Collection[str]) -> str:
    """Return a name, with a number if it is taken."""
    numbered = (f"{name} ({number})" for number in count(2))
    return next(one for one in chain([name], numbered) if one not in taken)


def described(request: Request) -> str:
    """Return what is requested, without arguments."""
    if request.kind is RequestKind.LIST:
        return message("list of {name}", name=request.name)
    return request.name


def _with_values(request: Request) -> str:
    given = ", ".join(
        value if isinstance(value, str) else compact(value, 24)
        for value in request.arguments.values()
        if value not in ("", None)
    )
    return f"{described(request)} {given}".strip()
