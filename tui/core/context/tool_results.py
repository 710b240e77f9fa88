"""Tool results as models read them: text and attachments, truncated to what fits. Pure."""

import json
import re
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

from tui.core.attachments import (
    ATTACHED,
    attachment_of_binary,
    base64_type,
    fenced,
    kind_of,
    label,
    word,
)
from tui.core.context.context_meter import bytes_within, estimate, estimate_attachment
from tui.core.conversation.conversation import Attachment
from tui.core.jsonrpc.reader import json_text
from tui.core.secrets.walk import texts_in
from tui.core.text import UNSEEN, clean_line, visible
from tui.core.tools import BinaryContent, Content, LinkContent, ResourceContent, TextContent, ToolResult
from tui.core.units import octets, plural
from tui.core.units import size as in_bytes

MAX_ATTACHMENTS = 20
"""Maximum images and sounds of one result for the model."""

USUAL_PRIORITY = 0.5
"""Priority of an item without one, if other items have one."""

NOTE_BYTES = 80
END_CHARS = 200
"""Characters by which the end of a truncated text is found in the complete one."""

EMPTY = "(empty result)"
_FAILED, _WARNING = "ERROR: ", "[warning: "
INVISIBLE = rf"(?![\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]){UNSEEN}"
"""Matches characters that models do not get. Control characters are replaced by visible ones instead."""

MAX_KINDS = 4
"""Maximum kinds of removed characters that are listed."""

_LONE_KEY = "result"
"""The key under which the official SDKs put a result that is not an object."""


@dataclass(frozen=True, slots=True)
class Observation:
    """A result as the model reads it; `text` has a line for each of the `attachments`.

    `kept` is the name under which the complete text is stored, or "".
    """

    text: str
    attachments: tuple[Attachment, ...] = ()
    kept: str = ""

    @property
    def mark(self) -> str:
        """Equal for equal results, within this run of the program."""
        return "\0".join([self.kept or self.text, *(str(hash(one.data)) for one in self.attachments)])


LONG = 16 * 1024
"""Results with more characters are prepared in a thread, so that keys keep working."""


def is_long(result: ToolResult) -> bool:
    """Return whether preparing a result for the model would block the screen."""
    texts = (one.text for one in result.content if isinstance(one, TextContent | ResourceContent))
    left = LONG
    for text in chain(texts, texts_in(result.structured)):
        left -= 1 + len(text)
        if left < 0:
            return True
    return False


def observation(
    result: ToolResult, limit_of: Callable[[str], int], keep: Callable[[str], str] | None = None
) -> Observation:
    """Return a result as the model reads it: about as many bytes of its text as `limit_of` that text.

    `keep` stores the complete text if it is truncated; it returns the name under which it can be read. Items
    for the user only are omitted. If a text is too long, the items that its server marks as least important
    are omitted first.
    """
    seen = _for_model(result)
    text, attachments = _rendered(seen)
    limit = limit_of(text)
    if not is_cut(text, limit):
        return Observation(text, attachments)
    whole, kept = text, keep(text) if keep else ""
    if omitted := _least_important(seen, limit):
        text, attachments = _rendered(seen, omitted)
    return Observation(cut(text, limit_of(text), kept, whole), attachments, kept)


def _rendered(result: ToolResult, omitted: Collection[int] = ()) -> tuple[str, tuple[Attachment, ...]]:
    renderer = _Renderer()
    text = "\n".join(renderer.parts_of(result, omitted).values())
    shown, warning = visible(text), result.warning
    if missing := _missing(text, shown):
        warning = f"{warning.removesuffix('.')}. {missing}" if warning else missing
    head = f"{_WARNING}{visible(warning)}]\n" if warning else ""
    return (_FAILED if result.is_error else "") + head + shown, tuple(renderer.attachments)


def _missing(text: str, shown: str) -> str:
    """Return which invisible characters of a text were removed, or "".

    A model that edits a file must know that the file contains more than it got.
    """
    if text == shown:
        return ""
    # One by one: other threads run meanwhile.
    lost = Counter(one.group() for one in re.finditer(INVISIBLE, text))
    lost -= Counter(one.group() for one in re.finditer(INVISIBLE, shown))
    if not lost:
        return ""
    kinds = [f"U+{ord(char):04X}" + (f" ×{many}" if many > 1 else "") for char, many in lost.most_common()]
    more = f", {len(kinds) - MAX_KINDS} more kinds" if len(kinds) > MAX_KINDS else ""
    number = plural(lost.total(), "invisible character")
    return f"{number} left out, so this is not the exact text: {', '.join(kinds[:MAX_KINDS])}{more}"


def _for_model(result: ToolResult) -> ToolResult:
    """Return a result without the items that are for the user only, with a note about them."""
    told = tuple(item for item in result.content if item.annotations.for_model)
    if not (hidden := len(result.content) - len(told)):
        return result
    items = "1 item of the result is" if hidden == 1 else f"{hidden} items of the result are"
    note = TextContent(f"[{items} shown only to the user]")
    return replace(result, content=(*told, note))


def _least_important(result: ToolResult, limit: int) -> Collection[int]:
    """Return the numbers of the items to omit, so that the others fit into `limit` bytes if they can."""
    said = {number: item.annotations.priority for number, item in enumerate(result.content)}
    if all(priority is None for priority in said.values()):
        return ()
    sizes = [octets(_Renderer().text_of(ToolResult((item,)))) + 1 for item in result.content]
    over = sum(sizes) + NOTE_BYTES - limit
    dropped: set[int] = set()
    for number in sorted(said, key=lambda number: (_weight(said[number]), -number)):
        if over <= 0 or _weight(said[number]) >= 1:
            break
        dropped.add(number)
        over -= sizes[number]
    return dropped


def _weight(priority: float | None) -> float:
    return USUAL_PRIORITY if priority is None else priority


def as_given(told: str, is_error: bool) -> tuple[str, str]:
    """Split a text that the model was sent into the server's text and the added warning, or ""."""
    text = told.removeprefix(_FAILED) if is_error else told
    if not text.startswith(_WARNING) or "]\n" not in text:
        return text, ""
    warning, _, text = text.removeprefix(_WARNING).partition("]\n")
    return text, warning


def result_text(result: ToolResult) -> str:
    """Return the complete text of a result, with structured content unless a text item says the same."""
    return visible(_Renderer().text_of(result))


class _Renderer:
    def __init__(self) -> None:
        self.attachments: list[Attachment] = []
        self._numbers: Counter[str] = Counter()

    def text_of(self, result: ToolResult) -> str:
        return "\n".join(self.parts_of(result).values())

    def parts_of(self, result: ToolResult, omitted: Collection[int] = ()) -> Mapping[int, str]:
        """Return the texts of a result by the number of their item, without empty ones and `omitted` items.

        The structured content has the number after the last item, a note on omitted items the one after that.
        """
        items = {number: item for number, item in enumerate(result.content) if number not in omitted}
        parts = {number: self._item(item) for number, item in items.items()}
        if omitted:
            parts[len(result.content) + 1] = f"[{plural(len(omitted), 'item')} of lower priority omitted]"
        if result.structured is not None and not _is_repeated(result.structured, items, parts):
            parts[len(result.content)] = json_text(result.structured)
        return {number: part for number, part in parts.items() if part} or {0: EMPTY}

    def _item(self, content: Content) -> str:
        match content:
            case TextContent(text):
                return text
            case BinaryContent():
                return self._binary(content)
            case LinkContent(uri, name, description):
                said = f" — {clean_line(description, 300)}" if description else ""
                return f"[resource {word(name or uri, 120)}: {word(uri, 1000)}{said}]"
            case ResourceContent(uri, mime, text):
                return f"[resource {word(uri, 1000)}, {word(mime, 80) or 'text'}]\n{fenced(text)}"

    def _binary(self, content: BinaryContent) -> str:
        kind, found = kind_of(content), base64_type(content.data)
        self._numbers[kind] += 1
        name = f"{kind} {self._numbers[kind]}"
        try:
            attachment = attachment_of_binary(name, content)
        except ValueError as error:
            why = "only the user can open it" if kind == "blob" else f"not shown to you: {error}"
            mime = found or word(content.mime, 80) or "unknown type"
            where = f", {word(content.uri, 1000)}" if content.uri else ""
            return f"[{name}: {mime}, {in_bytes(content.size)}{where}, {why}]"
        if len(self.attachments) >= MAX_ATTACHMENTS:
            return f"[{label(attachment)}, not shown to you: more than {MAX_ATTACHMENTS} in one result]"
        self.attachments.append(attachment)
        return f"[{label(attachment)}, {ATTACHED}]"


def _is_repeated(structured: Any, items: Mapping[int, Content], parts: Mapping[int, str]) -> bool:
    texts = [parts[number] for number, item in items.items() if isinstance(item, TextContent)]
    values = [structured]
    if isinstance(structured, dict) and structured.keys() == {_LONE_KEY}:
        values.append(structured[_LONE_KEY])
    for value in values:
        if any(_equals(text, value) for text in texts):
            return True
        if isinstance(value, list) and value and len(value) == len(texts) and all(map(_equals, texts, value)):
            return True
    return False


def _equals(text: str, value: Any) -> bool:
    from tui.core.comparison.placeholders import same  # not needed for the first frame

    if isinstance(value, str) and text == value:
        return True
    try:
        return same(json.loads(text), value)
    except (ValueError, RecursionError):
        return False


def is_cut(text: str, limit: int) -> bool:
    """Return whether `text` has more than `limit` bytes."""
    return len(text) > limit or (len(text) * 4 > limit and octets(text) > limit)


def cut(text: str, limit: int, kept: str = "", whole: str = "") -> str:
    """Return `text` in at most about `limit` bytes: 70 % head, 30 % tail, and a note on what is missing.

    It is cut at line ends if there are any nearby. The note may exceed a very small limit. `kept` is the
    name by which `read_result` finds the complete text, or "". It is `whole`, by default `text`.
    """
    if not is_cut(text, limit):
        return text
    encoded = text.encode("utf-8", "replace")
    room = max(limit - 200, 64)
    head = _decoded(encoded[: room * 7 // 10])
    tail = _decoded(encoded[len(encoded) - room * 3 // 10 :])
    if (end := head.rfind("\n", len(head) * 3 // 4)) >= 0:
        head = head[:end]
    if (start := tail.find("\n", 0, len(tail) // 4)) >= 0:
        tail = tail[start + 1 :]
    missing = len(encoded) - octets(head) - octets(tail)
    figures = f"{missing:,} of {len(encoded):,} bytes omitted"
    where = _REQUEST_LESS
    if kept:
        last = head[-END_CHARS:]  # items may be missing before it
        place = (whole or text).find(last, len(head) - len(last))
        offset = place + len(last) if place >= 0 else 0
        how = f"call read_result with this name and offset {offset}, or grep"
        where = f'full text stored as "{kept}": {how}'
    return f"{head}\n[… {figures}; {where} …]\n{tail}"


_REQUEST_LESS = "request less data to see the rest"
_MISSING = re.compile(
    r"\n\[… ([0-9,]{1,20} of [0-9,]{1,20} bytes omitted); (?:full text stored as \"result-[0-9]{1,9}\": call "
    rf"read_result with this name and offset [0-9]{{1,20}}, or grep|{re.escape(_REQUEST_LESS)}) …\]\n"
)


def cut_as_shown(text: str) -> str:
    """Return a text that `cut` may have shortened, for the user: without the advice for the model."""
    return _MISSING.sub(r"\n[… shortened: \1 …]\n", text, count=1)


def _decoded(encoded: bytes) -> str:
    return encoded.decode("utf-8", "ignore")


RESULT_SHARE = 0.1
"""The share of the model's window that one result may take."""

BATCH_SHARE = 0.6
"""The share that all results of one reply may take together."""

UNKNOWN_WINDOW = 128_000
"""Tokens that a model is assumed to accept if its window is unknown."""

MIN_BYTES = 256


class ResultBudget:
    """Divides the window among the results of one reply.

    Each result may take an equal share of the tokens that are left. The tokens that it does not need are left
    for later results, so no result gets too little because its call ended late.
    """

    def __init__(self, result_bytes: int, window: int | None, calls: int) -> None:
        tokens = window or UNKNOWN_WINDOW
        self._bytes = result_bytes
        self._each = int(tokens * RESULT_SHARE)
        self._left = int(tokens * BATCH_SHARE)
        self._calls = calls

    def limit(self, text: str) -> int:
        """Return how many bytes of `text` the next result may take."""
        tokens = max(0, min(self._each, self._left // max(1, self._calls)))
        return max(MIN_BYTES, min(self._bytes, bytes_within(text, tokens)))

    def take(self, text: str, attachments: Sequence[Attachment] = ()) -> None:
        self._left -= estimate(text) + sum(map(estimate_attachment, attachments))
        self._calls -= 1
