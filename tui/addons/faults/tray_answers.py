"""What to answer a held request with: a recorded answer to the same call, or something to fill in."""

from collections.abc import Mapping
from functools import partial
from itertools import islice
from typing import Any, NamedTuple

from tui.addons.faults.tray import AnyHeld
from tui.core.comparison.placeholders import same
from tui.core.forms.spec import MISSING
from tui.core.jsonrpc.messages import write_line
from tui.core.jsonrpc.reader import json_mapping, json_text
from tui.core.language.translate import N_, _
from tui.core.text import list_in, mapping, object_in, text_in
from tui.core.traffic import ANSWERS, Kind, TrafficReader
from tui.traffic.record.open_recording import whole_entry
from tui.ui.traffic.edit_request import OURS, TOKEN, shown
from tui.ui.traffic.entry_list import EntryList
from tui.ui.traffic.resender import MOST_EDITED

MOST_READ = 50
"""How many of the newest requests of the same method and tool, or lists of tools, are read."""

MOST_LISTED = 4 * 1024 * 1024

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
    if held.reading.kind is not Kind.REQUEST:
        return part_of(held)
    meta = object_in(object_in(json_mapping(held.sent), "params"), "_meta")
    kind = {"resultType": "complete"} if f"{OURS}protocolVersion" in meta else {}  # since 2026-07-28
    return {"result": {**kind, **_EMPTY.get(held.reading.method, {})}}


# ---- the result of a tool, as a form or a text -------------------------------------------------------------


def form_value(said: Mapping[str, Any], schema: Mapping[str, Any] | None) -> Any:
    """Return what a form with the output schema of a tool shows of an answer; without a schema, its text.

    MISSING if the answer has something else, such as an error or an image.
    """
    result = mapping(said.get("result"))
    texts = [_text_of(item) for item in list_in(result, "content")]
    if result.get("isError") is True or None in texts:
        return MISSING
    if schema is not None:
        return result.get("structuredContent", MISSING)
    return texts[0] if len(texts) == 1 and "structuredContent" not in result else MISSING


def with_form_value(said: Mapping[str, Any], schema: Mapping[str, Any] | None, value: Any) -> dict[str, Any]:
    """Return an answer with another value in the form. Structured content is also sent as text."""
    if same(form_value(said, schema), value):
        return dict(said)
    result = mapping(said["result"])
    if schema is None:
        return {"result": {**result, "content": [{**result["content"][0], "text": value}]}}
    content = [{"type": "text", "text": json_text(value)}]
    return {"result": {**result, "content": content, "structuredContent": value}}


def _text_of(item: Any) -> str | None:
    found = mapping(item)
    return text_in(found, "text") if found.get("type") == "text" else None


# ---- recorded answers --------------------------------------------------------------------------------------


class RecordedAnswer(NamedTuple):
    """A recorded answer and its entry. `is_same`: to a request with the same params."""

    said: Mapping[str, Any]
    seq: int
    is_same: bool
    is_by_hand: bool = False

    @property
    def origin(self) -> str:
        """Where it is from, in words."""
        words = N_("from entry {seq}") if self.is_same else N_("from entry {seq}, another call")
        if self.is_by_hand:
            words = N_("from entry {seq}, by hand")
            if not self.is_same:
                words = N_("from entry {seq}, by hand, another call")
        return _(words, seq=self.seq)


async def recorded_answer(list: EntryList, held: AnyHeld) -> RecordedAnswer | None:
    """Return the newest recorded answer to a request with the same params as a held one, or None.

    Without one, the newest answer of the same server to the same method and tool. Of tools, results only. An
    answer that was given by hand counts as well.
    """
    entries, reading = list.entries, held.reading
    if reading.kind is not Kind.REQUEST:
        return None

    def source_of(index: int) -> str:
        return entries.sources.texts[entries.source[index]]

    alike = (
        (entries.seq(index), entries.seq(partner), source_of(index))
        for index in entries.newest(Kind.REQUEST, reading.method)
        if entries.direction[index] == held.direction
        and entries.tools.texts[entries.tool[index]] == reading.tool
        and (partner := entries.partner(index)) >= 0
        and entries.kind[partner] in (Kind.RESPONSE, Kind.ERROR)
    )
    by_hand = (
        (
            entries.seq(asked) if (asked := entries.partner(index)) >= 0 else 0,
            entries.seq(index),
            source_of(index),
        )
        for index in entries.newest(Kind.EVENT, "answered")
        if entries.tools.texts[entries.tool[index]] == reading.tool
    )
    pairs = [*islice(alike, MOST_READ), *islice(by_hand, MOST_READ)]
    pairs = sorted(pairs, key=lambda pair: pair[1], reverse=True)[:MOST_READ]
    return await list.reader.ask(partial(_answer_among, pairs=pairs, held=held))


async def recorded_schema(list: EntryList, held: AnyHeld) -> Mapping[str, Any] | None:
    """Return the output schema of the tool of a held call, as its server last listed it, or None."""
    entries = list.entries
    lists = (
        entries.seq(index)
        for index in entries.newest(Kind.RESPONSE, "tools/list")
        if entries.sources.texts[entries.source[index]] == held.source
    )
    return await list.reader.ask(
        partial(_schema_among, seqs=[*islice(lists, MOST_READ)], name=held.reading.tool)
    )


def _schema_among(reader: TrafficReader, seqs: list[int], name: str) -> Mapping[str, Any] | None:
    for seq in seqs:
        entry = whole_entry(reader, seq, MOST_LISTED)
        result = object_in({} if entry is None else json_mapping(entry.body), "result")
        for tool in map(mapping, list_in(result, "tools")):
            if tool.get("name") == name:
                schema = tool.get("outputSchema")
                return schema if isinstance(schema, dict) else None
    return None


def _answer_among(
    reader: TrafficReader, pairs: list[tuple[int, int, str]], held: AnyHeld
) -> RecordedAnswer | None:
    newest, wanted = None, _essence(json_mapping(held.sent))
    for request, response, source in pairs:
        asked, said = (whole_entry(reader, seq, MOST_EDITED) if seq else None for seq in (request, response))
        if said is None:
            continue
        is_by_hand, message, question = said.kind is Kind.EVENT, json_mapping(said.body), None
        if asked is not None:
            question = json_mapping(asked.body)
        elif is_by_hand and said.detail.get("dir") == held.direction.name.lower():
            question = object_in(message, "was")
        message = object_in(message, "sent") if is_by_hand else message
        found = {key: message[key] for key in ("result", "error") if key in message}
        is_other = is_by_hand and question is not None and question.get("method") != held.reading.method
        if question is None or is_other or not found:
            continue
        if held.reading.tool and not _is_result_of_tool(found):
            continue
        is_same = _essence(question) == wanted
        if is_same or (newest is None and source == held.source):
            newest = RecordedAnswer(found, response, is_same, is_by_hand)
        if is_same:
            return newest
    return newest


def _is_result_of_tool(said: Mapping[str, Any]) -> bool:
    """Whether an answer is neither an error nor a task nor a question."""
    result = mapping(said.get("result"))
    return "content" in result and result.get("isError") is not True


def _essence(message: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the params of a request without what is new in each."""
    return {key: value for key, value in object_in(message, "params").items() if key != "_meta"}
