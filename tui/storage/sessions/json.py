"""A session as JSON, to export and import; docs/session-format.md documents the format. Pure.

An import is untrusted. Its size, depth and memory are bounded, every value is validated, and an error names
the invalid value.
"""

import base64
import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any

from tui.core.conversation.conversation import Message, ToolMessage, UserMessage
from tui.core.conversation.message_json import Object, dumps, message_object, message_of, plain
from tui.core.errors import StorageError, reason_of
from tui.core.language.translate import message
from tui.core.units import bounded, whole
from tui.storage.exports.session import SessionTranscript
from tui.storage.sessions.stored_session import ROWS, StoredSession, compaction_of, number, repaired, rows_of

FORMAT = "mcptui-session"
VERSION = 1

MOST_BYTES = 256 * 1024 * 1024
MOST_MESSAGES = 100_000
MOST_PARTS = 5_000_000
"""Maximum number of objects and lists: each takes far more memory than its two bytes in the file."""

LONGEST_NAME = 200


def json_pieces(shown: SessionTranscript) -> Iterator[str]:
    """Yield the export, one message per line."""
    info, meta = shown.info, shown.meta
    head: Object = {
        "format": FORMAT,
        "version": VERSION,
        "id": info.id,
        "title": info.title,
        "created": info.created,
        "changed": info.changed,
        "system": meta.system or "",
        "model": info.model,
        "profile": meta.profile or "",
        "parent": info.parent,
        "branched_at": info.branched_at,
        "tokens": info.tokens,
        "estimated": info.estimated,
        "cost": info.cost,
        "compaction": asdict(meta.compaction) if meta.compaction else None,
    }
    yield dumps(head)[:-1] + ',\n"messages":['
    for index, (one, at) in enumerate(zip(shown.messages, shown.times, strict=True)):
        yield ("," if index else "") + "\n" + dumps({"at": at} | message_object(one))
    yield "\n]"
    for name, rows in (*shown.rows.items(), ("remarks", rows_of(shown.remarks))):
        yield f',\n"{name}":[' + ",".join("\n" + dumps({"at": at} | body) for at, body in rows) + "\n]"
    yield ',\n"results":' + dumps(shown.results) + "}\n"


def parsed(raw: bytes, where: str) -> StoredSession:
    """Return the session of an export, or raise `StorageError` that names the invalid part."""
    try:
        return _session(_loaded(raw))
    except ValueError as error:
        raise StorageError(
            message("not an exported session: {reason}", reason=reason_of(error, 300)),
            where=where,
            next_step=message("Export one with mcptui sessions export ID --as json"),
        ) from error


def _loaded(raw: bytes) -> Mapping[str, Any]:
    if len(raw) > MOST_BYTES:
        raise ValueError(message("larger than {limit} MiB", limit=MOST_BYTES // 2**20))
    if raw.count(b"{") + raw.count(b"[") > MOST_PARTS:
        raise ValueError(message("too many parts"))
    try:
        found = json.loads(raw.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise ValueError(message("not JSON ({reason})", reason=reason_of(error))) from None
    if not isinstance(found, dict) or found.get("format") != FORMAT:
        raise ValueError(message("{name} is not {value}", name='"format"', value=f'"{FORMAT}"'))
    version = found.get("version")
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise ValueError(message('"version" is not a number'))
    if version > VERSION:
        raise ValueError(
            message("written by a newer mcptui (version {version}). Update mcptui", version=version)
        )
    return found


def _session(found: Mapping[str, Any]) -> StoredSession:
    items = _list(found, "messages", MOST_MESSAGES)
    if not items:
        raise ValueError(message('"messages" is empty'))
    messages = [_message(item, f"messages[{index}]") for index, item in enumerate(items)]
    times = [number(item, "at") for item in items]
    rows = {name: _rows(found, name) for name in ROWS}
    sent = {str(body.get("call_id")) for _, body in rows["intents"]}
    valid = repaired(messages, sent)
    if not valid:
        raise ValueError(message('"messages" has no user or assistant message'))
    if len(valid) != len(messages):  # repaired: the times no longer fit
        times = [times[0]] * len(valid)
    meta = {name: _text(found, name) for name in ("title", "system", "model", "profile")}
    known = {name: value for name, value in meta.items() if value}
    compaction = compaction_of(found.get("compaction"), valid)
    return StoredSession(
        meta=known
        | {
            "created": number(found, "created") or times[0],
            "changed": number(found, "changed") or times[-1],
            "tokens": whole(found.get("tokens")) or 0,
            "estimated": found.get("estimated") is True,
            "cost": bounded(found.get("cost")),
        }
        | ({"compaction": asdict(compaction)} if compaction else {}),
        messages=dict(enumerate(valid)),
        times=dict(enumerate(times)),
        results=_results(found),
        rows=rows,
    )


def _message(item: Any, where: str) -> Message:
    try:
        found = message_of(item)
    except ValueError as error:
        raise ValueError(f"{where}: {error}") from None
    if isinstance(found, UserMessage | ToolMessage):
        for index, one in enumerate(found.attachments):
            if one.kind != "text":
                try:
                    base64.b64decode(one.data, validate=True)
                except ValueError:
                    raise ValueError(
                        message("{name} is not base64", name=f"{where}.attachments[{index}].data")
                    ) from None
    return found


def _rows(found: Mapping[str, Any], name: str) -> list[tuple[float, Object]]:
    rows: list[tuple[float, Object]] = []
    for index, item in enumerate(_list(found, name, MOST_MESSAGES)):
        if not isinstance(item, dict):
            raise ValueError(message("{name} is not an object", name=f"{name}[{index}]"))
        rows.append((number(item, "at"), plain({key: value for key, value in item.items() if key != "at"})))
    return rows


def _results(found: Mapping[str, Any]) -> dict[str, str]:
    results = found.get("results", {})
    if not isinstance(results, dict) or not all(isinstance(text, str) for text in results.values()):
        raise ValueError(message('"results" is not an object of strings'))
    if any(len(name) > LONGEST_NAME for name in results):
        raise ValueError(message('a name in "results" is too long'))
    return results


def _list(found: Mapping[str, Any], name: str, most: int) -> list[Any]:
    value = found.get(name, [])
    if not isinstance(value, list):
        raise ValueError(message('"{name}" is not an array', name=name))
    if len(value) > most:
        raise ValueError(message('"{name}" has more than {limit:,} items', name=name, limit=most))
    return value


def _text(found: Mapping[str, Any], name: str) -> str:
    value = found.get(name)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise ValueError(message('"{name}" is not a string', name=name))
    return value
