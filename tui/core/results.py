"""Tool results as models can read them: all of a result as text and attachments, cut to what fits. Pure."""

import json
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

from tui.core.conversation import Attachment
from tui.core.media import (
    PICTURES,
    SOUNDS,
    decoded_size,
    dimensions,
    extension,
    head_of,
    media_type,
    plain_base64,
)
from tui.core.text import clean_line
from tui.core.tools import BinaryContent, Content, LinkContent, ResourceContent, TextContent, ToolResult
from tui.core.units import size as in_bytes

MAX_ATTACHMENTS = 20
"""Pictures and sounds of one result that the model may be shown."""

MAX_ATTACHED_BYTES = 10 * 1024 * 1024
"""The largest picture or sound that a model is shown, decoded."""

MAX_PIXELS = 8_000
"""The longest side of a picture; Anthropic refuses a request with a longer one."""

EMPTY = "(empty result)"
ATTACHED = "attached below"
"""What is said of a picture that goes with the request; see `as_sent`."""

_TAGS = dict.fromkeys(range(0xE0000, 0xE0080))
_BACKTICKS = re.compile("`{3,}")
_LONE_KEY = "result"
"""Where the official SDKs put a result that is no object, since structured content must be one."""


@dataclass(frozen=True, slots=True)
class Observation:
    """What the model is told of a result.

    Attributes:
        text: bounded.
        attachments: pictures and sounds that a model can take; `text` has a line for each.
        kept: under which name all of the text is kept, or "" if `text` is all or nobody keeps it.
    """

    text: str
    attachments: tuple[Attachment, ...] = ()
    kept: str = ""

    @property
    def mark(self) -> str:
        """A text that is the same for the same result, in this run of the program."""
        return "\0".join([self.kept or self.text, *(str(hash(one.data)) for one in self.attachments)])


def observation(result: ToolResult, limit: int, keep: Callable[[str], str] = lambda whole: "") -> Observation:
    """Return what the model is told of a result.

    Args:
        result: the result.
        limit: bytes of text, about.
        keep: given the whole text if it is cut; returns the name under which it can be read.
    """
    teller = _Teller()
    text = teller.text_of(result)
    if result.warning:
        text = f"[warning: {result.warning}]\n{text}"
    if result.is_error:
        text = f"ERROR: {text}"
    if not text.isascii():
        text = text.translate(_TAGS).encode("utf-8", "replace").decode("utf-8")
    if not is_cut(text, limit):
        return Observation(text, tuple(teller.attachments))
    kept = keep(text)
    return Observation(cut(text, limit, kept), tuple(teller.attachments), kept)


def result_text(result: ToolResult) -> str:
    """Return the whole of a result as text.

    Structured content is added only where no text item says the same already. Unicode tag characters,
    invisible to a person but not to a model, are taken out; lone surrogates become U+FFFD.
    """
    text = _Teller().text_of(result)
    return text if text.isascii() else text.translate(_TAGS).encode("utf-8", "replace").decode("utf-8")


def label(attachment: Attachment) -> str:
    """Return how a picture or sound is named in what a model reads: "image 1: image/png 640x480"."""
    size = dimensions(head_of(attachment.data)) if attachment.kind == "image" else None
    shape = f"{size[0]}x{size[1]}" if size else in_bytes(attachment.size)
    return f"{attachment.name}: {attachment.mime} {shape}"


def as_sent(text: str, attachments: tuple[Attachment, ...], why_not: Callable[[Attachment], str]) -> str:
    """Return the text of an observation, honest about what is attached to the request.

    Args:
        text: of the observation.
        attachments: of the observation.
        why_not: says why one of them is not sent ("not shown to you"), or "" if it is.
    """
    for attachment in attachments:
        if why := why_not(attachment):
            text = text.replace(f"[{label(attachment)}, {ATTACHED}]", f"[{label(attachment)}, {why}]", 1)
    return text


def previews(result: ToolResult) -> tuple[Attachment, ...]:
    """Return what a person can look at, open or save of a result besides its texts, as the server gave it."""
    found: list[Attachment] = []
    numbers: Counter[str] = Counter()
    for content in result.content:
        match content:
            case BinaryContent(kind, mime, size, data, uri):
                numbers[kind] += 1
                known = media_type(head_of(data[:64])) or clean_line(mime, 80)
                name = _file_name(uri) or f"{kind} {numbers[kind]}{extension(known)}"
                found.append(Attachment(kind, known or "application/octet-stream", name, size, data))
            case ResourceContent(uri, mime, text):
                numbers["text"] += 1
                name = _file_name(uri) or f"text {numbers['text']}.txt"
                found.append(
                    Attachment("text", clean_line(mime, 80) or "text/plain", name, _octets(text), text)
                )
    return tuple(found)


def _file_name(uri: str) -> str:
    """Return the last part of an address as a name that a file may have, or ""."""
    last = unquote(uri.partition("#")[0].partition("?")[0]).replace("\\", "/").rstrip("/").rpartition("/")[2]
    return clean_line(last.replace(":", " "), 80).lstrip(". ")


def fenced(text: str) -> str:
    """Return `text` between fences that nothing in it can close."""
    longest = max((len(found.group()) for found in _BACKTICKS.finditer(text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}\n{text}\n{fence}"


class _Teller:
    """Tells one result; counts what it attaches."""

    def __init__(self) -> None:
        self.attachments: list[Attachment] = []
        self._numbers: Counter[str] = Counter()

    def text_of(self, result: ToolResult) -> str:
        parts = [self._item(content) for content in result.content]
        if result.structured is not None and not _is_said(result, parts):
            parts.append(_as_json(result.structured))
        return "\n".join(part for part in parts if part) or EMPTY

    def _item(self, content: Content) -> str:
        match content:
            case TextContent(text):
                return text
            case BinaryContent():
                return self._binary(content)
            case LinkContent(uri, name, description):
                said = f" — {clean_line(description, 300)}" if description else ""
                return f"[resource {_word(name or uri, 120)}: {_word(uri, 1000)}{said}]"
            case ResourceContent(uri, mime, text):
                return f"[resource {_word(uri, 1000)}, {_word(mime, 80) or 'text'}]\n{fenced(text)}"

    def _binary(self, content: BinaryContent) -> str:
        found = media_type(head_of(content.data[:64]))
        kind = content.kind
        if kind == "blob" and found.partition("/")[0] in ("image", "audio"):
            kind = "image" if found.startswith("image") else "audio"  # a resource that is a picture
        self._numbers[kind] += 1
        name = f"{kind} {self._numbers[kind]}"
        attachment, why = _attachable(kind, name, content)
        if attachment is None:
            mime = found or _word(content.mime, 80) or "unknown type"
            where = f", {_word(content.uri, 1000)}" if content.uri else ""
            return f"[{name}: {mime}, {in_bytes(content.size)}{where}, {why}]"
        if len(self.attachments) >= MAX_ATTACHMENTS:
            return f"[{label(attachment)}, not shown to you: more than {MAX_ATTACHMENTS} in one result]"
        self.attachments.append(attachment)
        return f"[{label(attachment)}, {ATTACHED}]"


def _attachable(kind: str, name: str, content: BinaryContent) -> tuple[Attachment | None, str]:
    """Return what a model can be sent of binary content, else None and why not."""
    if kind == "blob":
        return None, "only the person can open it"
    if content.size > MAX_ATTACHED_BYTES:
        return None, "not shown to you: too large"
    data = plain_base64(content.data)
    if not data:
        return None, "not shown to you: it is not valid base64"
    head = head_of(data)
    mime, size = media_type(head), decoded_size(data)
    if kind == "audio":
        if mime not in SOUNDS:
            return None, "not shown to you: no format that models take"
        return Attachment("audio", mime, name, size, data), ""
    shape = dimensions(head)
    if mime not in PICTURES or shape is None:
        return None, "not shown to you: no format that models take"
    if max(shape) > MAX_PIXELS:
        return None, f"not shown to you: a side is longer than {MAX_PIXELS} pixels"
    return Attachment("image", mime, name, size, data), ""


def _word(text: str, limit: int) -> str:
    """Return a server's word for a place where a bracket or a line break would end what it stands in."""
    return clean_line(text, limit).replace("[", "(").replace("]", ")")


def _as_json(value: Any) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)
    except (ValueError, RecursionError):
        return "[structured content that is nested too deeply to be written]"


def _is_said(result: ToolResult, parts: list[str]) -> bool:
    """Whether the text items say what the structured content says."""
    texts = [part for part, item in zip(parts, result.content, strict=True) if isinstance(item, TextContent)]
    values = [result.structured]
    if isinstance(result.structured, dict) and result.structured.keys() == {_LONE_KEY}:
        values.append(result.structured[_LONE_KEY])
    for value in values:
        if any(_says(text, value) for text in texts):
            return True
        if isinstance(value, list) and value and len(value) == len(texts) and all(map(_says, texts, value)):
            return True
    return False


def _says(text: str, value: Any) -> bool:
    if isinstance(value, str) and text == value:
        return True
    try:
        return bool(json.loads(text) == value)
    except (ValueError, RecursionError):
        return False


# ---- what fits ---------------------------------------------------------------------------------------


def _octets(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "replace"))


def is_cut(text: str, limit: int) -> bool:
    """Whether `text` has more than `limit` bytes."""
    return len(text) > limit or (len(text) * 4 > limit and _octets(text) > limit)


def cut(text: str, limit: int, kept: str = "") -> str:
    """Return `text` in at most about `limit` bytes: 70 % head, 30 % tail, and a note on what is missing.

    The cuts are at ends of lines where there are some near.

    Args:
        text: whole.
        limit: bytes; the note comes on top of it if it is very small.
        kept: the name by which `read_result` knows the whole, or "".
    """
    if not is_cut(text, limit):
        return text
    octets = text.encode("utf-8", "replace")
    room = max(limit - 200, 64)
    head = _decoded(octets[: room * 7 // 10])
    tail = _decoded(octets[len(octets) - room * 3 // 10 :])
    if (end := head.rfind("\n", len(head) * 3 // 4)) >= 0:
        head = head[:end]
    if (start := tail.find("\n", 0, len(tail) // 4)) >= 0:
        tail = tail[start + 1 :]
    missing = len(octets) - _octets(head) - _octets(tail)
    figures = f"{missing:,} of {len(octets):,} bytes are left out here"
    where = (
        f'all of it is kept as "{kept}": call read_result with this name and offset {len(head)}, or grep'
        if kept
        else "ask for less to see the rest"
    )
    return f"{head}\n[… {figures}; {where} …]\n{tail}"


def _decoded(octets: bytes) -> str:
    """Return the text of bytes that were cut anywhere."""
    return octets.decode("utf-8", "ignore")
