"""What to answer a held request with: a recorded answer to the same call, or something to fill in."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from tui.addons.faults.tray import AnyHeld
from tui.core.jsonrpc.messages import write_line
from tui.core.jsonrpc.reader import json_mapping
from tui.core.text import object_in
from tui.core.traffic import ANSWERS, Kind, TrafficReader
from tui.traffic.record.open_recording import whole_entry
from tui.ui.traffic.edit_request import OURS, TOKEN, shown
from tui.ui.traffic.entry_list import EntryList
from tui.ui.traffic.resender import MOST_EDITED

MOST_READ = 50
"""How many of the newest requests of the same method and tool are compared with the held one."""

_EMPTY: Mapping[str, Mapping[str, Any]] = {
    "tools/call": {"content": [{"type": "text", "text": ""}]},
    "prompts/get": {"messages": [{"role": "user", "content": {"type": "text", "text": ""}}]},
    "resources/read": {"contents": [{"uri": "", "text": ""}]},
    "elicitation/create": {"action": "accept", "content": {}},
    "sampling/createMessage": {
        "role": "assistant",
        "content": {"type": "text", "text": ""},
        "model": "mcptui",
        "stopReason": "endTurn",
    },
}


def part_of(held: AnyHeld) -> Mapping[str, Any]:
    """Return the part of a held message that the user edits: params, or result or error."""
    message = json_mapping(held.sent)
    if held.reading.kind in ANSWERS:
        return {key: message[key] for key in ("result", "error") if key in message}
    return shown(object_in(message, "params"))


def with_part(held: AnyHeld, part: Mapping[str, Any]) -> bytes:
    """Return a held message with an edited part."""
    message = dict(json_mapping(held.sent))
    if held.reading.kind in ANSWERS:
        rest = {key: value for key, value in message.items() if key not in ("result", "error")}
        return write_line({**rest, **part})
    hidden = {
        key: value
        for key, value in object_in(object_in(message, "params"), "_meta").items()
        if key == TOKEN or key.startswith(OURS)
    }
    meta = {**hidden, **object_in(part, "_meta")}
    return write_line({**message, "params": {**part, **({"_meta": meta} if meta else {})}})


def answer_to(held: AnyHeld) -> Mapping[str, Any]:
    """Return an answer to fill in; for a held response, what it says."""
    is_request = held.reading.kind is Kind.REQUEST
    return {"result": _EMPTY.get(held.reading.method, {})} if is_request else part_of(held)


async def recorded_answer(list: EntryList, held: AnyHeld) -> Mapping[str, Any] | None:
    """Return the newest recorded answer to a request with the same params as a held one, or None."""
    entries, reading = list.entries, held.reading
    if reading.kind is not Kind.REQUEST:
        return None
    alike = [
        (entries.seq(index), entries.seq(partner))
        for index in range(len(entries) - 1, -1, -1)
        if entries.kind[index] == Kind.REQUEST
        and entries.methods.texts[entries.method[index]] == reading.method
        and entries.tools.texts[entries.tool[index]] == reading.tool
        and entries.direction[index] == held.direction
        and (partner := entries.partner(index)) >= 0
        and entries.kind[partner] in (Kind.RESPONSE, Kind.ERROR)
    ]
    wanted = _essence(held.sent)
    return await list.reader.ask(partial(_answer_among, pairs=alike[:MOST_READ], wanted=wanted))


def _answer_among(
    reader: TrafficReader, pairs: list[tuple[int, int]], wanted: Mapping[str, Any]
) -> Mapping[str, Any] | None:
    for request, response in pairs:
        asked, said = (whole_entry(reader, seq, MOST_EDITED) for seq in (request, response))
        if asked is not None and said is not None and _essence(asked.body) == wanted:
            message = json_mapping(said.body)
            if found := {key: message[key] for key in ("result", "error") if key in message}:
                return found
    return None


def _essence(raw: bytes) -> Mapping[str, Any]:
    """Return the params of a request without what is new in each."""
    return {key: value for key, value in object_in(json_mapping(raw), "params").items() if key != "_meta"}
