"""Collects the provider fields of a streamed reply that are sent back with the next request. Pure.

`reasoning_details` of OpenRouter and MiniMax, `thinking_blocks` of LiteLLM in front of Claude, signatures of
Google and Copilot: each arrives in pieces, and the provider rejects a history in which one is missing or
changed.
"""

from collections.abc import Callable, Mapping
from typing import Any

MAX_DETAILS = 4_096
"""Maximum items of one list that is sent back."""

SIGNATURES = ("reasoning_opaque", "thought_signature", "thoughtSignature")
"""Opaque texts on a message or a call: Copilot, and gateways to Gemini."""

BLOCKS = "thinking_blocks"
_TEXT_OF = {"reasoning.summary": "summary", "thinking": "thinking"}
_SNAPSHOT_FROM = 16
"""A piece that repeats all of a text this long is the whole text so far, as some gateways send it."""

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


class _Text:
    """A text that arrives in pieces, or in snapshots of all so far; joined once, since it may be long."""

    def __init__(self, first: str) -> None:
        self._pieces = [first]
        self._size = len(first)

    def add(self, piece: str) -> str:
        """Add a piece; return what it adds."""
        if _SNAPSHOT_FROM <= self._size <= len(piece) and piece.startswith(self.whole()):
            piece = piece[self._size :]
        self._pieces.append(piece)
        self._size += len(piece)
        return piece

    def whole(self) -> str:
        self._pieces = ["".join(self._pieces)]
        return self._pieces[0]


class EchoedFields:
    """The fields of one reply. `count` is called with each text."""

    def __init__(self, count: Callable[[str], None]) -> None:
        self._count = count
        self._lists: dict[str, list[dict[str, Any]]] = {}
        self._texts: dict[str, list[tuple[dict[str, Any], str, _Text]]] = {}
        self._others: dict[str, Any] = {}

    def take(self, delta: Mapping[str, Any]) -> str:
        """Store the fields of a delta; return the thinking in them."""
        shown = ""
        for name in ("reasoning_details", BLOCKS):
            pieces = delta.get(name)
            for piece in pieces if isinstance(pieces, list) else ():
                if isinstance(piece, dict):
                    shown += self._piece(name, piece)
        if isinstance(extra := delta.get("extra_content"), dict):
            self._count_all(extra)
            self._others.setdefault("extra_content", {}).update(extra)
        signed = signatures_in(delta)
        self._count_all(signed)
        self._others |= signed
        return shown

    def all(self) -> dict[str, Any]:
        for texts in self._texts.values():
            for item, field, text in texts:
                item[field] = text.whole()
        return {**self._lists, **self._others}

    def _count_all(self, fields: Mapping[str, Any]) -> None:
        self._count("".join(value if isinstance(value, str) else str(value) for value in fields.values()))

    def _piece(self, name: str, piece: dict[str, Any]) -> str:
        """Store a piece of a list, joined with the one before it if both are of one text."""
        self._count_all(piece)
        items = self._lists.setdefault(name, [])
        field = _TEXT_OF.get(str(piece.get("type")), "text")
        text = piece.get(field)
        last = items[-1] if items else {}
        same = (last.get("type"), last.get("index")) == (piece.get("type"), piece.get("index"))
        if name == BLOCKS and last.get("signature"):  # a signature ends its block
            same = False
        if isinstance(text, str) and same and isinstance(last.get(field), str):
            last.update({key: value for key, value in piece.items() if value is not None})
            return self._texts[name][-1][2].add(text)
        if len(items) < MAX_DETAILS:
            items.append({key: value for key, value in piece.items() if name != BLOCKS or value is not None})
            if isinstance(text, str):
                self._texts.setdefault(name, []).append((items[-1], field, _Text(text)))
        return text if isinstance(text, str) else ""
