"""The definitions that a server listed in a recording: its last complete lists. Blocks."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from tui.addons.tests.contract.listing import LISTS, Entries, Kind, ServerListing, capabilities_of, entries_of
from tui.commands.recordings import OpenRecording, open_entries
from tui.core.errors import UsageError
from tui.core.jsonrpc.protocol import VERSION_KEY
from tui.core.jsonrpc.reader import json_value
from tui.core.text import clean_line, list_in, mapping, object_in, text_in
from tui.core.traffic import Direction, Entry
from tui.core.traffic import Kind as EntryKind
from tui.traffic.record.open_recording import whole_entry

MAX_BYTES = 64 * 1024 * 1024
"""Maximum bytes of a message."""

_METHODS = {one.method: kind for kind, one in LISTS.items()}
_HANDSHAKES = ("initialize", "server/discover")
_TAP = "tap:"


def recorded_listing(path: Path, server: str | None) -> ServerListing:
    """Return what a server listed in a recording; what was not listed completely is unknown.

    Raises UsageError if it has several servers and none is chosen, StorageError if it cannot be read.
    """
    with open_entries(path) as recording:
        exchanges = list(_exchanges(recording))
        chosen = _chosen({entry.source for entry, _ in exchanges}, server, path)
        found = _listing(recording, [one for one in exchanges if one[0].source == chosen])
    if not found.lists and found.instructions is None:
        raise UsageError("no complete definitions in the recording.", where=clean_line(str(path), 400))
    return found


def _exchanges(recording: OpenRecording) -> Iterator[tuple[Entry, Entry]]:
    """Yield the requests of lists and handshakes, each with its response."""
    asked: dict[int, Entry] = {}
    for entry in recording.entries():
        if entry.method not in _METHODS and entry.method not in _HANDSHAKES:
            continue
        if entry.kind is EntryKind.REQUEST and entry.direction is Direction.OUT:
            asked[entry.seq] = entry
        elif entry.kind is EntryKind.RESPONSE and (request := asked.pop(entry.pair, None)) is not None:
            yield request, entry


def _chosen(names: set[str], wanted: str | None, path: Path) -> str:
    where = clean_line(str(path), 400)
    shown = ", ".join(clean_line(name.removeprefix(_TAP), 80) for name in sorted(names))
    if wanted is not None:
        found = next((name for name in (wanted, f"{_TAP}{wanted}") if name in names), None)
        if found is None:
            why = f"no definitions of {clean_line(wanted, 80)} in the recording. It has: {shown or 'none'}."
            raise UsageError(why, where=where)
        return found
    if len(names) != 1:
        if names:
            raise UsageError(
                f"the recording has several servers: {shown}.",
                where=where,
                next_step="Choose one with --server NAME.",
            )
        raise UsageError("no definitions of a server in the recording.", where=where)
    return next(iter(names))


def _listing(recording: OpenRecording, exchanges: list[tuple[Entry, Entry]]) -> ServerListing:
    """Return what one server listed in these exchanges."""
    lists: dict[Kind, Entries] = {}
    notes: dict[Kind, tuple[str, ...]] = {}
    pages: dict[Kind, list[Any]] = {}
    known = ServerListing()
    for request, response in exchanges:
        result = object_in(_message(recording, response), "result")
        params = object_in(_message(recording, request), "params")
        if request.method in _HANDSHAKES:
            known = _introduced(result, params) if "capabilities" in result else known
            continue
        kind = _METHODS[request.method]
        member = LISTS[kind].member
        if "cursor" not in params:
            pages[kind] = []
        elif kind not in pages:
            continue
        pages[kind] += list_in(result, member)
        if result.get("nextCursor") is None and isinstance(result.get(member), list):
            lists[kind], notes[kind] = entries_of(kind, pages.pop(kind))
    for kind, one in LISTS.items():
        if known.capabilities is not None and known.capabilities.get(one.capability) in (None, False):
            lists.setdefault(kind, {})
    told = tuple(note for one in notes.values() for note in one)
    return replace(known, lists=lists, notes=told)


def _message(recording: OpenRecording, entry: Entry) -> Mapping[str, Any]:
    found = whole_entry(recording.reader, entry.seq, MAX_BYTES)
    return mapping(json_value(found.body)) if found is not None else {}


def _introduced(result: Mapping[str, Any], params: Mapping[str, Any]) -> ServerListing:
    """Return a listing with the handshake alone."""
    protocol = text_in(result, "protocolVersion") or text_in(object_in(params, "_meta"), VERSION_KEY)
    return ServerListing(
        instructions=text_in(result, "instructions"),
        capabilities=capabilities_of(result.get("capabilities")),
        protocol=protocol,
    )
