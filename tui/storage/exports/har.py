"""HTTP exchanges as a HAR 1.2 archive, which browsers' network panels and proxies open. Pure.

Only HTTP traffic is included: servers reached by URL, and the model's endpoint. The fields are those of
http://www.softwareishard.com/blog/har-12-spec/. Unknown values are -1 or empty, as the specification says.
"""

import base64
import json
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import tui
from tui.core.traffic import Direction, Entry, EntryNote, Kind
from tui.core.units import rfc3339
from tui.core.web import header_in
from tui.storage.exports.document import note_line
from tui.storage.exports.jsonl import NoteOf, no_note

MAX_COMMENTS = 100
"""Maximum marked or noted replies of an exchange to name."""

Whole = Callable[[int], Entry | None]
"""Takes a seq and returns the entry with its body, or None if it was dropped."""


def har(columns: Iterable[Entry], whole: Whole, note_of: NoteOf = no_note) -> Iterator[str]:
    """Yield an archive with the exchanges in the order of their requests. At most one body is in memory."""
    creator = {"name": "mcptui", "version": tui.__version__}
    yield '{"log":{"version":"1.2","creator":' + json.dumps(creator) + ',"entries":['
    comma = ""
    for asked, replied in exchanges(columns).items():
        if (request := whole(asked)) is not None:
            yield comma + "\n"
            yield from _har_entry(request, replied, whole, note_of)
            comma = ","
    yield "\n]}}\n"


def exchanges(columns: Iterable[Entry]) -> Mapping[int, Sequence[int]]:
    """Return the seqs of the replies to each request over HTTP.

    They are found by request or by number of the HTTP exchange.
    """
    replies: dict[int, array[int]] = {}
    by_number: dict[tuple[str, int | str], array[int]] = {}
    for entry in columns:
        number = entry.detail.get("exchange")
        key = (entry.source, number) if isinstance(number, int | str) else None
        if entry.direction is Direction.OUT and "url" in entry.detail:
            replies[entry.seq] = array("q")
            if key is not None:
                by_number[key] = replies[entry.seq]
        elif entry.direction is Direction.IN and "status" in entry.detail:
            found = by_number.get(key) if key is not None else replies.get(entry.pair)
            if found is not None:
                found.append(entry.seq)
    return replies


def _har_entry(request: Entry, replies: Sequence[int], whole: Whole, note_of: NoteOf) -> Iterator[str]:
    """Yield an exchange. The replies are read twice, unless there is only one."""
    only = whole(replies[0]) if len(replies) == 1 else None

    def read() -> Iterator[Entry]:
        return (found for seq in replies if (found := only or whole(seq)) is not None)

    detail: Mapping[str, Any] = {}
    first_ns = last_ns = request.mono_ns
    size, is_stream, is_text, comments = 0, False, True, list[str]()
    for number, one in enumerate(read()):
        if not number:
            detail, first_ns = one.detail, one.mono_ns
            is_stream = one.kind is not Kind.MODEL_REPLY and "sse" in detail
        note = note_of(one.seq)
        comments += [_comment(one, note)] if note.marked or note.text else []
        last_ns, size = one.mono_ns, size + one.size
        try:
            _content(one, is_stream).decode()
        except UnicodeDecodeError:
            is_text = False
    took, wait = ((moment - request.mono_ns) / 1e6 for moment in (last_ns, first_ns))
    about = {
        "startedDateTime": rfc3339(request.wall_ns),
        "time": max(took, 0),
        "request": _request(request),
        "cache": {},
        "timings": {"send": 0, "wait": wait, "receive": max(took - wait, 0)},
        "comment": _comment(request, note_of(request.seq)),
    }
    mime = header_in(_pairs(detail.get("headers")), "content-type")
    content: dict[str, Any] = {"size": size, "mimeType": mime}
    if not is_text:
        content["encoding"] = "base64"
    response = _response(detail, size, comments)
    yield _opened(about) + ',"response":' + _opened(response) + ',"content":' + _opened(content)
    yield ',"text":"'
    contents = (_content(one, is_stream) for one in read())
    # In a live recording, a body may have changed since. That must not break the archive.
    texts = (json.dumps(content.decode("utf-8", "replace"))[1:-1] for content in contents)
    yield from texts if is_text else _base64(contents)
    yield '"}}}'


def _comment(entry: Entry, note: EntryNote) -> str:
    """Return the number of an entry, its mark and its note."""
    words = [f"{entry.source}, entry {entry.seq}"]
    words += ["marked"] if note.marked else []
    return ", ".join([*words, *([note_line(note)] if note.text else [])])


def _opened(value: Mapping[str, Any]) -> str:
    return json.dumps(value)[:-1]


def _base64(contents: Iterable[bytes]) -> Iterator[str]:
    rest = b""
    for content in contents:
        content = rest + content
        rest = content[len(content) - len(content) % 3 :]
        yield base64.b64encode(content[: len(content) - len(rest)]).decode("ascii")
    yield base64.b64encode(rest).decode("ascii")


def _request(entry: Entry) -> dict[str, Any]:
    url, query = str(entry.detail.get("url", "")), list[tuple[str, str]]()
    with suppress(ValueError):  # not a URL
        query = parse_qsl(urlsplit(url).query, keep_blank_values=True)[:100]
    headers = _pairs(entry.detail.get("headers"))
    found: dict[str, Any] = {
        "method": str(entry.detail.get("http", "POST")),
        "url": url,
        "httpVersion": "HTTP/1.1",
        "cookies": [],
        "headers": _named(headers),
        "queryString": [{"name": name, "value": value} for name, value in query],
        "headersSize": -1,
        "bodySize": entry.size,
    }
    if entry.body:
        mime = header_in(headers, "content-type") or "application/json"
        found["postData"] = {"mimeType": mime, "text": entry.body.decode("utf-8", "replace")}
    return found


def _response(detail: Mapping[str, Any], size: int, comments: Sequence[str]) -> dict[str, Any]:
    headers, status = _pairs(detail.get("headers")), detail.get("status")
    return {
        "status": status if isinstance(status, int) else 0,
        "statusText": "",
        "httpVersion": "HTTP/1.1",
        "cookies": [],
        "headers": _named(headers),
        "redirectURL": header_in(headers, "location"),
        "headersSize": -1,
        "bodySize": size,
        "comment": "; ".join(comments[:MAX_COMMENTS]),
    }


def _content(reply: Entry, is_stream: bool) -> bytes:
    """Return a body, or an event in the event stream format (HTML Living Standard, 9.2.6)."""
    if not is_stream:
        return reply.body
    known = reply.detail.get("sse")
    head = b""
    if isinstance(known, Mapping):
        for name in ("event", "id"):
            if known.get(name):
                head += f"{name}: {known[name]}\n".encode("utf-8", "replace")
    return head + b"".join(b"data: " + line + b"\n" for line in reply.body.split(b"\n")) + b"\n"


def _named(headers: Sequence[tuple[str, str]]) -> list[dict[str, str]]:
    return [{"name": name, "value": value} for name, value in headers]


def _pairs(headers: Any) -> list[tuple[str, str]]:
    found = headers.items() if isinstance(headers, Mapping) else headers or ()
    try:
        return [(str(name), str(value)) for name, value in found]
    except (TypeError, ValueError):
        return []
