"""What the user answered to a server during a call, as `answers` of a test file. Pure.

Up to 2025-11-25 a server sends requests during a call. From 2026-07-28 on it asks in a result, and the
answers are in the next round of the call.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tui.core.comparison.placeholders import same
from tui.core.text import list_in, object_in, text_in

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
