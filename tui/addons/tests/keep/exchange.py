"""A finished request with its response, from a recording: what a kept call is made of. Pure.

Up to 2025-11-25 a server sends requests during a call. From 2026-07-28 on it asks in a result, and the
answers are in the next round of the call.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from tui.addons.tests.suite.case import Request
from tui.core.comparison.placeholders import same
from tui.core.jsonrpc.classification import is_tool_error
from tui.core.text import list_in, object_in, text_in
from tui.runtime.copies.origin import Launched

MOST_OTHERS = 8
"""Maximum other results to compare with."""

Other = tuple[Mapping[str, Any], float, float]
"""The raw result of an equal request, its milliseconds, and when it was sent, as `Exchange.at`."""


@dataclass(frozen=True, slots=True)
class Exchange:
    """A finished request with its response. Texts of the server are raw, without secrets.

    Attributes:
        server: its name in the recording, without "tap:".
        tapped: whether another host called it, and `mcptui tap` recorded that.
        result: the raw result, None for a JSON-RPC error, which is `error`.
        ms: milliseconds from the request to the response, without the time in which the user was asked.
        answers: what the user answered meanwhile, as in a test file.
        at: when it was sent, in seconds since the epoch; 0 if unknown.
        others: the results of other recorded requests that are equal to this one, raw, the nearest first.
        other_ms, other_at: how long those took, and when they were sent.
        secrets: names of the secrets in the request, for which the recording has only marks.
        hints: annotations of the tool, as the server listed them in the recording.
        launched: how the server was started, None if the recording does not say.
        seq: of its first request in the recording.
        call: the id by which its messages are found, or "".
        findings: codes of what the linter says about the response, without hints.
    """

    server: str
    request: Request
    result: Mapping[str, Any] | None = None
    error: Mapping[str, Any] | None = None
    ms: float = 0.0
    answers: Mapping[str, Any] = field(default_factory=dict)
    at: float = 0.0
    others: Sequence[Mapping[str, Any]] = ()
    other_ms: tuple[float, ...] = ()
    other_at: tuple[float, ...] = ()
    secrets: tuple[str, ...] = ()
    hints: Mapping[str, Any] = field(default_factory=dict)
    launched: Launched | None = None
    seq: int = 0
    call: str = ""
    tapped: bool = False
    findings: tuple[str, ...] = ()

    def compared_with(self, others: Iterable[Other]) -> "Exchange":
        """Return this with other results of equal requests, the first `MOST_OTHERS`."""
        found = [*others][:MOST_OTHERS]
        results, times, at = zip(*found, strict=True) if found else ((), (), ())
        return replace(self, others=results, other_ms=times, other_at=at)

    @property
    def compared(self) -> Sequence[Other]:
        """The other results that are known."""
        return [*zip(self.others, self.other_ms, self.other_at, strict=False)]

    @property
    def is_error(self) -> bool:
        """Whether it failed: isError, or a JSON-RPC error."""
        return self.result is None or is_tool_error(self.result)


Message = Mapping[str, Any]


def answered(
    sent: Sequence[Message], rounds: Sequence[Message], asked: Sequence[tuple[Message, Message]]
) -> dict[str, Any]:
    """Return the answers of a call, by kind: `form`, `url`, `sampling`.

    `sent` are its requests, `rounds` the responses before the last one, which ask for input. `asked` are the
    server's own requests with the responses.
    """
    found: dict[str, list[Any]] = {}
    for method, params, result in (*_in_rounds(sent, rounds), *_in_requests(asked)):
        if (one := _answer(method, params, result)) is not None:
            found.setdefault(one[0], []).append(one[1])
    return {kind: _short(answers) for kind, answers in found.items()}


def _in_rounds(sent: Sequence[Message], rounds: Sequence[Message]) -> Iterator[tuple[str, Message, Any]]:
    for response, request in zip(rounds, sent[1:], strict=False):
        wanted = object_in(object_in(response, "result"), "inputRequests")
        given = object_in(object_in(request, "params"), "inputResponses")
        for key, one in wanted.items():
            if isinstance(one, Mapping):
                yield text_in(one, "method"), object_in(one, "params"), given.get(key)


def _in_requests(asked: Sequence[tuple[Message, Message]]) -> Iterator[tuple[str, Message, Any]]:
    for request, response in asked:
        yield text_in(request, "method"), object_in(request, "params"), response.get("result")


def _answer(method: str, params: Message, result: Any) -> tuple[str, Any] | None:
    """Return the kind of an answer, and what to write for it; None for what needs no answer."""
    given = result if isinstance(result, Mapping) else {}
    if method == "sampling/createMessage":
        return "sampling", _text_of(given) if given else False
    if method != "elicitation/create":
        return None
    action = text_in(given, "action") or "cancel"
    if text_in(params, "mode") == "url":
        return "url", action
    return "form", dict(object_in(given, "content")) if action == "accept" else action


def _text_of(reply: Message) -> str:
    content = reply.get("content")
    parts = list_in(reply, "content") or [content]
    return "\n".join(text_in(part, "text") for part in parts if isinstance(part, Mapping))


def _short(answers: list[Any]) -> Any:
    """Return one answer if all are the same: it is for every question."""
    return answers[0] if all(same(answers[0], one) for one in answers) else answers
