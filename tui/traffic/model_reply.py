"""A model's streamed reply as one value: text, calls, usage, and its chunks. Pure.

The body of such an entry is the stream as received (server-sent events); this value is only for display.
"""

import json
from collections.abc import Iterator
from typing import Any

MAX_BODY = 8 * 1024 * 1024
MAX_CHUNKS = 5_000


def is_stream(body: bytes) -> bool:
    """Whether a body looks like server-sent events."""
    start = body[:4096].lstrip(b"\xef\xbb\xbf \r\n\t")
    return start.startswith((b"data:", b":", b"event:", b"id:")) and b"data:" in body[:65536]


def joined(body: bytes) -> dict[str, Any]:
    """Return a streamed reply as one JSON value; parts that it does not have are left out.

    `text`, `reasoning` and `tool_calls` are assembled from all deltas, `chunks` are the events unchanged.
    """
    chunks = list(_events(body[:MAX_BODY]))
    summary: dict[str, Any] = {}
    text: list[str] = []
    thought: list[str] = []
    calls: dict[int, dict[str, str]] = {}
    for chunk in chunks:
        if not isinstance(chunk, dict):
            continue
        if isinstance(usage := chunk.get("usage"), dict):
            summary["usage"] = usage
        for choice in _objects(chunk.get("choices")):
            delta = choice.get("delta") or choice.get("message")
            _hear(delta if isinstance(delta, dict) else {}, text, thought, calls)
            if isinstance(reason := choice.get("finish_reason"), str):
                summary["finish_reason"] = reason
    parts = {"text": "".join(text), "reasoning": "".join(thought), "tool_calls": list(calls.values())}
    return {**{name: value for name, value in parts.items() if value}, **summary, "chunks": chunks}


def _hear(
    delta: dict[str, Any], text: list[str], thought: list[str], calls: dict[int, dict[str, str]]
) -> None:
    if isinstance(piece := delta.get("content"), str):
        text.append(piece)
    for name in ("reasoning_content", "reasoning"):
        if isinstance(piece := delta.get(name), str):
            thought.append(piece)
            break
    for call in _objects(delta.get("tool_calls")):
        index = call.get("index")
        kept = calls.setdefault(
            index if isinstance(index, int) else len(calls), {"name": "", "arguments": ""}
        )
        function = call.get("function")
        for name in kept:
            if isinstance(function, dict) and isinstance(piece := function.get(name), str):
                kept[name] += piece


def _objects(value: Any) -> list[dict[str, Any]]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _events(body: bytes) -> Iterator[Any]:
    count = 0
    text = body.decode("utf-8", "replace").replace("\r\n", "\n").replace("\r", "\n")
    for event in text.split("\n\n"):
        lines = [line[5:].removeprefix(" ") for line in event.split("\n") if line.startswith("data:")]
        if not lines:
            continue
        count += 1
        if count > MAX_CHUNKS:
            return
        try:
            yield json.loads("\n".join(lines))
        except (ValueError, RecursionError):
            yield "\n".join(lines)
