"""Exchanges over HTTP as a HAR 1.2 archive, which browsers' network panels and proxies open. Pure.

Only what travelled over HTTP is in it: servers reached by URL, and the model's endpoint. The fields are
those of http://www.softwareishard.com/blog/har-12-spec/; what is not known is -1 or empty, as it says.
"""

import base64
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import tui
from tui.core.traffic import Direction, Entry, Kind
from tui.storage.export_jsonl import time_text


@dataclass(slots=True)
class _Exchange:
    """A request and what came back: one body, or the events of a stream."""

    request: Entry
    replies: list[Entry] = field(default_factory=list)


def har(entries: Iterable[Entry]) -> Iterator[str]:
    """Yield an archive; exchanges are told as they end, those without an answer last."""
    creator = {"name": "mcptui", "version": tui.__version__}
    yield '{"log":{"version":"1.2","creator":' + json.dumps(creator) + ',"entries":['
    comma = ""
    for exchange in _exchanges(entries):
        yield comma + "\n" + json.dumps(_har_entry(exchange))
        comma = ","
    yield "\n]}}\n"


def _exchanges(entries: Iterable[Entry]) -> Iterator[_Exchange]:
    """Put together what belongs together: by pair, and by the number of the HTTP exchange."""
    by_seq: dict[int, _Exchange] = {}
    by_number: dict[tuple[str, Any], _Exchange] = {}
    for entry in entries:
        detail = entry.detail
        key = (entry.source, detail.get("exchange"))
        if entry.direction is Direction.OUT and "url" in detail:
            by_seq[entry.seq] = exchange = _Exchange(entry)
            if key[1] is not None:
                by_number[key] = exchange
        elif entry.direction is Direction.IN and "status" in detail:
            found = by_number.get(key) if key[1] is not None else by_seq.get(entry.pair)
            if found is not None:
                found.replies.append(entry)
    yield from by_seq.values()


def _har_entry(exchange: _Exchange) -> dict[str, Any]:
    request, replies = exchange.request, exchange.replies
    took = (replies[-1].mono_ns - request.mono_ns) / 1e6 if replies else -1
    first = (replies[0].mono_ns - request.mono_ns) / 1e6 if replies else 0
    return {
        "startedDateTime": time_text(request.wall_ns),
        "time": max(took, 0),
        "request": _request(request),
        "response": _response(replies),
        "cache": {},
        "timings": {"send": 0, "wait": first, "receive": max(took - first, 0)},
        "comment": f"{request.source}, entry {request.seq}",
    }


def _request(entry: Entry) -> dict[str, Any]:
    url = str(entry.detail.get("url", ""))
    found: dict[str, Any] = {
        "method": str(entry.detail.get("http", "POST")),
        "url": url,
        "httpVersion": "HTTP/1.1",
        "cookies": [],
        "headers": _pairs(entry.detail.get("headers")),
        "queryString": [{"name": name, "value": value} for name, value in _query(url)],
        "headersSize": -1,
        "bodySize": entry.size,
    }
    if entry.body:
        mime = _header(entry.detail.get("headers"), "content-type") or "application/json"
        found["postData"] = {"mimeType": mime, "text": entry.body.decode("utf-8", "replace")}
    return found


def _query(url: str) -> list[tuple[str, str]]:
    try:
        return parse_qsl(urlsplit(url).query, keep_blank_values=True)[:100]
    except ValueError:
        return []


def _response(replies: list[Entry]) -> dict[str, Any]:
    detail: Mapping[str, Any] = replies[0].detail if replies else {}
    headers = detail.get("headers")
    size = sum(reply.size for reply in replies)
    return {
        "status": _status(detail.get("status")),
        "statusText": "",
        "httpVersion": "HTTP/1.1",
        "cookies": [],
        "headers": _pairs(headers),
        "content": {"size": size, "mimeType": _header(headers, "content-type") or "", **_content(replies)},
        "redirectURL": _header(headers, "location"),
        "headersSize": -1,
        "bodySize": size,
    }


def _status(value: Any) -> int:
    return value if isinstance(value, int) else 0


def _content(replies: list[Entry]) -> dict[str, str]:
    if replies and replies[0].kind is not Kind.MODEL_REPLY and "sse" in replies[0].detail:
        body = b"".join(_event(reply) for reply in replies)
    else:
        body = b"".join(reply.body for reply in replies)
    try:
        return {"text": body.decode("utf-8")}
    except UnicodeDecodeError:
        return {"text": base64.b64encode(body).decode("ascii"), "encoding": "base64"}


def _event(reply: Entry) -> bytes:
    """Return an event as a stream has it (HTML Living Standard, 9.2.6)."""
    known = reply.detail.get("sse")
    head = b""
    if isinstance(known, Mapping):
        for name in ("event", "id"):
            if known.get(name):
                head += f"{name}: {known[name]}\n".encode("utf-8", "replace")
    return head + b"".join(b"data: " + line + b"\n" for line in reply.body.split(b"\n")) + b"\n"


def _pairs(headers: Any) -> list[dict[str, str]]:
    found = headers.items() if isinstance(headers, Mapping) else headers or ()
    try:
        return [{"name": str(name), "value": str(value)} for name, value in found]
    except (TypeError, ValueError):
        return []


def _header(headers: Any, name: str) -> str:
    return next((pair["value"] for pair in _pairs(headers) if pair["name"].lower() == name), "")
