"""Assembles the fragments of tool calls, however a provider uses ids, indexes and names. Pure.

The rules come from recorded streams (tests/corpus/llm_streams): index always 0, no index at all, a new id
with each fragment, names repeated or in pieces, arguments sent twice, as an object, or as several objects in
a row.
"""

import hashlib
import json
import re
from collections.abc import Collection, Mapping
from itertools import count
from typing import Any

from tui.core.conversation.conversation import CallRequest
from tui.core.errors import ModelError
from tui.core.jsonrpc.reader import json_value
from tui.core.language.translate import N_, message
from tui.core.ports import CallPart
from tui.core.text import object_in, text_in

_FENCE = re.compile(r"(?:```|~~~)[\w+-]{0,20}\s*")
JSON_TOKEN = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|["{}\[\]]', re.DOTALL)
_BETWEEN = re.compile(r"(?:[\s,;]|```(?:json\b)?)*")
"""Text that is allowed between the arguments of several calls."""

_NO_ARGUMENTS = ("", "null", "None", "[]", '""')
MAX_OBJECTS = 64
"""Maximum objects in a row for one call; the loop runs far fewer."""


def sendable(text: str) -> str:
    """Return `text` with adjacent halves of surrogate pairs joined, and lone ones as U+FFFD."""
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


MAX_LOOKED_AT = 50_000_000
"""Maximum characters parsed to see whether a call is complete: at worst, about a second."""


class Slot:
    """One call while it arrives, its arguments in pieces or in growing snapshots.

    Only the end shows which of the two applies: `{"a":` and `{"a":1}` may be two snapshots, or the beginning
    of `{"a":{"a":1}}`. So both readings are kept until then.
    """

    def __init__(self, index: int | None) -> None:
        self.index = index
        self.id = self.name = ""
        self.extra: dict[str, Any] = {}
        self.size = 0
        """Characters of the arguments, in the shorter reading."""
        self._pieces: list[str] = []
        self._looked_at = 0
        self._snapshot: list[str] = []
        self._last = ""

    def add(self, text: str) -> None:
        self._last = text
        # Not parsed while ordinary arguments grow: a piece is shorter than the text that it continues.
        grown = self.size and len(text) >= self.size and (whole := self._shorter()).startswith("{")
        if grown and text.startswith(whole):
            self._snapshot = [text]
            self.size = len(text)
        else:
            if self._snapshot:
                self._snapshot.append(text)
            self.size += len(text)
        self._pieces.append(text)

    def _shorter(self) -> str:
        return "".join(self._snapshot or self._pieces)

    @property
    def blank(self) -> bool:
        """Whether it cannot be distinguished from another call yet."""
        return not (self.id or self.name or self.size)

    @property
    def is_object(self) -> bool:
        return next((piece.lstrip()[:1] for piece in self._pieces if piece.strip()), "") in ("{", '"')

    @property
    def complete(self) -> bool:
        """Whether the arguments are one complete object in either reading."""
        if not self.size or self._last.rstrip()[-1:] not in ("", "}", '"', "`"):
            return False
        self._pieces = ["".join(self._pieces)]
        self._looked_at += len(self._pieces[0])
        if self._looked_at > MAX_LOOKED_AT:
            return False
        return is_complete(self._pieces[0]) or is_complete(self._shorter())

    @property
    def text(self) -> str:
        """The arguments: all pieces, unless only snapshots explain them."""
        joined = "".join(self._pieces)
        return self._shorter() if self._snapshot and not _may_go_on(joined) else joined


def fresh_id(seed: str, used: Collection[str]) -> str:
    """Return an id of nine letters and digits (Mistral's form) that depends on `seed` only."""
    seeds = (f"{seed}\0{number}".encode("utf-8", "replace") for number in count())
    ids = (hashlib.sha256(one).hexdigest()[:9] for one in seeds)
    return next(made for made in ids if made not in used)


def is_complete(text: str) -> bool:
    """Whether `text` is one complete JSON object, or a JSON string with one in it, or a fence around it."""
    text = without_fence(text)
    if text[:1] == text[-1:] == '"':
        text = str(json_value(text, strict=False) or "").strip()
    return text.startswith("{") and text.endswith("}") and isinstance(json_value(text, strict=False), dict)


def settle_arguments(text: str) -> list[tuple[str, bool]]:
    """Return the arguments of the one or more calls in `text`, each as (JSON text, truncated).

    No arguments are `{}`; JSON in a JSON string is unwrapped; several objects in a row are several calls;
    truncated text is marked and left unchanged, and so is invalid JSON.
    """
    text = sendable(text).strip()
    bare = without_fence(text)
    if bare in _NO_ARGUMENTS:
        return [("{}", False)]
    value = json_value(bare, strict=False)
    text = bare if isinstance(value, dict) else text
    for _ in range(2):
        if not isinstance(value, str):
            break
        text, value = value.strip(), json_value(value, strict=False)
        if text in _NO_ARGUMENTS:
            return [("{}", False)]
    if isinstance(value, dict):
        return [(json.dumps(value, ensure_ascii=False) if json_value(text) is None else text, False)]
    if objects := _in_a_row(text):
        return [(entry, False) for entry in objects]
    return [(text, is_cut(text))]


def _may_go_on(text: str) -> bool:
    """Whether `text` is JSON, or a beginning of JSON that ends where an object or a string may."""
    try:
        json.loads(text, strict=False)
    except json.JSONDecodeError as error:
        return error.msg.startswith("Unterminated string") or error.pos >= len(text.rstrip())
    except (ValueError, RecursionError):
        return False
    return True


def without_fence(text: str) -> str:
    """Return text without a fence around it, or the half of one."""
    text = text.strip()
    if (begun := _FENCE.match(text)) is not None:
        text = text[begun.end() :]
    return text.removesuffix("```").removesuffix("~~~").rstrip()


def _in_a_row(text: str) -> list[str]:
    """Return the objects of `{…}{…}`, each plain, in a string or in a fence; [] for anything else.

    An empty object before others is a placeholder, a repeated object counts once, and a special token
    after the last object is noise.
    """
    decoder = json.JSONDecoder(strict=False)
    found: list[dict[str, Any]] = []
    start = _BETWEEN.match(text)
    at = start.end() if start else 0
    while at < len(text) and len(found) < MAX_OBJECTS:
        if found and text.startswith(("<|", "</"), at):
            break
        try:
            value, end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            return []
        value = json_value(value, strict=False) if isinstance(value, str) else value
        if not isinstance(value, dict):
            return []
        if not found or value != found[-1]:
            found.append(value)
        between = _BETWEEN.match(text, end)
        at = between.end() if between else end
    meant = [value for value in found if value] or found[:1]
    return [json.dumps(value, ensure_ascii=False) for value in meant]


def is_cut(text: str) -> bool:
    """Whether `text` is a truncated JSON object (or one in a string)."""
    if not text.startswith(("{", '"')):
        return False
    depth: list[str] = []
    for found in JSON_TOKEN.finditer(text):
        token = found.group()
        if token == '"':  # a string without an end
            return True
        if token in ("{", "["):
            depth.append("}" if token == "{" else "]")
        elif token in ("}", "]") and (not depth or depth.pop() != token):
            return False
    return bool(depth)


MAX_CALLS = 300
"""Maximum calls that are passed on; more than the loop runs, so that it notices the excess."""

MAX_FLOOD = 5_000
"""Number of calls after which a reply is rejected as endless."""

MAX_IDS = 100_000
"""Maximum ids that are remembered; if each fragment has a new id, none is repeated."""

MAX_ID = 262_144
"""Maximum characters of an id. LiteLLM appends Gemini's thought signature, some thousand characters."""

MAX_OPAQUE = 16_000_000
"""Maximum characters of all ids and signatures in one reply."""

MAX_ARGUMENTS = 2_000_000
"""Maximum characters of arguments in one reply; only a runaway model writes more."""

MAX_NAME = 256
UNNAMED = "unnamed_call"
_FUNCTION = ("function", "custom")
_ARGUMENTS = ("arguments", "parameters", "input", "args")


SIGNATURES = ("reasoning_opaque", "thought_signature", "thoughtSignature")
"""Opaque texts on a message or a call: Copilot, and gateways to Gemini."""

_LITELLM = "provider_specific_fields"

ON_CALLS = (*SIGNATURES, _LITELLM)
"""Fields of a call that are sent back besides `extra_content`."""


def signatures_in(holder: Mapping[str, Any]) -> dict[str, Any]:
    """Return the opaque fields of a delta or a call that are sent back, besides `extra_content`.

    Of LiteLLM's `provider_specific_fields` only the signatures: the others are copies and quotes.
    """
    found: dict[str, Any] = {
        name: value for name in SIGNATURES if isinstance(value := holder.get(name), str) and value
    }
    fields = holder.get(_LITELLM)
    if isinstance(fields, Mapping):
        signed = {name: value for name, value in fields.items() if value and "signature" in str(name).lower()}
        found |= {_LITELLM: signed} if signed else {}
    return found


class CallSlots:
    """The calls of one reply; `known_names` of tools distinguish a name in pieces from a new one."""

    def __init__(self, known_names: Collection[str]) -> None:
        self._known = frozenset(known_names)
        self._slots: list[Slot] = []
        self._by_id: dict[str, Slot] = {}
        self._by_index: dict[int, Slot] = {}
        self._by_both: dict[tuple[str, int], Slot] = {}
        self._size = 0
        self._fresh_ids = False
        self._opaque_size = 0

    def __bool__(self) -> bool:
        return any(slot.name or slot.size for slot in self._slots)

    def feed(self, entry: Mapping[str, Any]) -> CallPart | None:
        """Take one element of `delta.tool_calls`. Raises ModelError beyond the limits."""
        function = next((item for key in _FUNCTION if isinstance(item := entry.get(key), dict)), entry)
        name = text_in(function, "name")[:MAX_NAME]
        identity = entry.get("id")
        identity = str(identity) if isinstance(identity, str | int) else ""
        if len(identity) > MAX_ID:  # no provider makes it; others are unchanged, they may carry a signature
            identity = fresh_id(identity, ())
        index = index_of(entry)
        arguments = next((function[key] for key in _ARGUMENTS if key in function), None)
        begins = not isinstance(arguments, str) or arguments.lstrip()[:1] in ("", "{")
        slot = self._slot(identity, index, name, begins, bool(arguments))
        if slot is None:
            if len(self._slots) >= MAX_FLOOD:
                raise ModelError(message("the reply holds more than {limit} tool calls", limit=MAX_FLOOD))
            slot = Slot(index)
            self._slots.append(slot)
            if index is not None:
                self._by_index[index] = slot
        slot.id = slot.id or identity
        if identity and len(self._by_id) < MAX_IDS:
            self._count_opaque(0 if identity in self._by_id else len(identity))
            self._by_id[identity] = slot
            if index is not None:
                self._by_both[identity, index] = slot
        self._take_name(slot, name)
        self._take_arguments(slot, arguments)
        extra = object_in(entry, "extra_content")
        opaque = {**extra, **signatures_in(function), **signatures_in(entry)}
        if opaque:
            self._count_opaque(len(str(opaque)))
            slot.extra.update(opaque)
        return CallPart(slot.name, slot.size) if slot.name or slot.size else None

    def _count_opaque(self, size: int) -> None:
        self._opaque_size += size
        if self._opaque_size > MAX_OPAQUE:
            words = N_("the ids and signatures of the tool calls exceed {limit} characters")
            raise ModelError(message(words, limit=MAX_OPAQUE))

    def _slot(self, identity: str, index: int | None, name: str, begins: bool, more: bool) -> Slot | None:
        """Return the slot of a fragment, or None if it begins a new call.

        `begins` says that its arguments could begin a JSON object, `more` that it has arguments.
        """
        latest = self._slots[-1] if self._slots else None
        same_index = self._by_index.get(index) if index is not None else None
        same_id = self._by_id.get(identity)
        if index is not None:
            same_id = self._by_both.get((identity, index), same_id)
        if same_id is not None:
            moved = None not in (index, same_id.index) and index != same_id.index
            return None if self._another(same_id, name) or (moved and name and same_id.complete) else same_id
        if identity and name:
            before = latest if same_index is None and (index is None or not begins) else same_index
            return before if before is not None and self._continues(before, name, begins, more) else None
        if identity:
            if same_index is not None:
                # A new id after a complete object starts another call, whose name is yet to arrive.
                another = begins and same_index.complete and same_index.size > len("{}")
                return None if another else same_index
            return latest if latest is not None and not latest.complete else None
        if same_index is not None:
            return None if self._another(same_index, name) else same_index
        if latest is None:
            return None
        if index is not None:
            return latest if not name and not latest.complete else None
        if name and latest.complete and not self._in_pieces(latest, name):
            return latest if not more and latest.name in ("", name) else None
        return None if self._another(latest, name) else latest

    def _continues(self, slot: Slot, name: str, begins: bool, more: bool) -> bool:
        """Whether a fragment with a new id and a name still belongs to `slot`.

        It may fill a slot that is still blank. Some endpoints give each fragment a new id and repeat the
        name; then the previous call is unfinished.
        """
        if slot.blank or self._in_pieces(slot, name):
            return True
        if slot.name != name or slot.complete:
            late = not slot.name and slot.size > 0 and not (more if slot.complete else begins)
            return late or (self._fresh_ids and slot.name == name and not more)
        if slot.size and not slot.is_object:
            return False
        self._fresh_ids = self._fresh_ids or bool(slot.size and slot.id)
        return slot.size > 0 or more or not slot.id

    def _another(self, slot: Slot, name: str) -> bool:
        """Whether `name` can only be the name of another call than the one in `slot`."""
        if not name or not slot.name or name == slot.name or self._in_pieces(slot, name):
            return False
        if slot.name in self._known and any(known.startswith(name) for known in self._known):
            return True
        return slot.complete

    def _in_pieces(self, slot: Slot, name: str) -> bool:
        """Whether `name` continues the name in `slot`: together they are, or begin, the name of a tool."""
        if not slot.name or _bare_name(slot.name) in self._known:
            return bool(slot.name) and _bare_name(slot.name + name) in self._known
        joined = _bare_name(slot.name + name)
        return any(known.startswith(joined) for known in self._known)

    def _take_name(self, slot: Slot, name: str) -> None:
        if not name or name == slot.name:
            return
        if slot.name in self._known and slot.name + name not in self._known:
            return
        if name.startswith(slot.name):
            slot.name = name
        else:
            slot.name = (slot.name + name)[:MAX_NAME]

    def _take_arguments(self, slot: Slot, arguments: Any) -> None:
        if not isinstance(arguments, str | None):
            arguments = json.dumps(arguments, ensure_ascii=False)
        if not arguments:
            return
        before = slot.size
        slot.add(arguments)
        self._size += slot.size - before
        if self._size > MAX_ARGUMENTS:
            words = N_("the arguments of the tool calls exceed {limit} characters")
            raise ModelError(message(words, limit=MAX_ARGUMENTS))

    def finish(self, *, cut: bool = False) -> tuple[CallRequest, ...]:
        """Return the calls: empty ones dropped, arguments settled, each with its own id.

        `cut`: the reply was truncated, so a call without arguments may be missing them.
        """
        calls: list[CallRequest] = []
        used: set[str] = set()
        for slot in self._slots:
            name = _bare_name(slot.name)
            written = slot.text
            if not name and not written.strip():
                continue
            if len(calls) >= MAX_CALLS:
                break
            settled = settle_arguments(written)
            # In a truncated reply, "no arguments" may be a placeholder for missing ones.
            if cut and settled == [("{}", False)] and (slot is self._slots[-1] or not written.strip()):
                settled = [(written, True)]
            for number, (text, truncated) in enumerate(settled):
                identity = slot.id if number == 0 else ""
                if not identity or identity in used:
                    identity = fresh_id(f"{len(calls)}\0{slot.id}\0{name}\0{text}", used)
                used.add(identity)
                calls.append(CallRequest(identity, name or UNNAMED, text, truncated, slot.extra or None))
        return tuple(calls)


def _bare_name(name: str) -> str:
    """Return a tool's name without leaked parts: harmony tokens and a namespace."""
    return name.partition("<|")[0].strip().removeprefix("functions.")


def index_of(entry: Mapping[str, Any]) -> int | None:
    """Return the index of a call or choice, or None; digits in a text and whole floats count too."""
    index = entry.get("index")
    if isinstance(index, float) and index.is_integer():
        return int(index)
    if isinstance(index, str) and index.isascii() and index.isdigit() and len(index) < 10:
        return int(index)
    return index if isinstance(index, int) else None
