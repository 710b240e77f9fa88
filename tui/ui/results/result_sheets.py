"""Results as sheets: texts, trees, pictures, links; or two of them side by side. Pure."""

import json
from base64 import b64decode
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby, zip_longest
from threading import Event
from typing import Any
from urllib.parse import unquote

from tui.core import units
from tui.core.attachments import PICTURES, base64_type, described, extension
from tui.core.comparison.values import LinePair, parts_that_differ
from tui.core.jsonrpc.reader import json_within
from tui.core.language.restored import restored_lines
from tui.core.language.translate import N_, _, localized, n_
from tui.core.secrets.encodings import plain_base64
from tui.core.text import clean, clean_line, preview
from tui.core.tools import (
    BinaryContent,
    CallFailure,
    Content,
    LinkContent,
    ResourceContent,
    TextContent,
    ToolResult,
)
from tui.core.workbench import PromptResult
from tui.ui.widgets.bar import Bar
from tui.ui.widgets.code import GROUND, highlighted
from tui.ui.widgets.markdown import Markdown
from tui.ui.widgets.page import Lines, Place, Sheet, Work
from tui.ui.widgets.pictures import Image
from tui.ui.widgets.rows import EMPTY, Row, pad, wrap
from tui.ui.widgets.symbols import ASCII, symbols_for
from tui.ui.widgets.tree import FIRST, Tree

HTML_CHARS = 50_000
"""Longer sources are not highlighted."""

TEXT_CHARS = 64 * 1024
"""Maximum characters of a text to show; the saved file and the traffic have all of it."""

TEXT_LINES = 2_000
MARKDOWN_CHARS = 32 * 1024
"""Longer Markdown is shown as plain text: its layout would block the screen."""

WIDEST = 100
"""Maximum columns of Markdown."""

MOST_ITEMS = 200
JSON_BYTES = 16 * 1024 * 1024
"""Maximum bytes of a JSON text that is shown as a tree."""

_FAILURES = {  # other failures have their own explanation
    CallFailure.TIMEOUT: N_("Timed out."),
    CallFailure.TOO_LARGE: N_("The response is too large."),
}


class ImageLines(Lines):
    """Lines about an image, and its picture, which can be folded."""

    def __init__(self, content: BinaryContent, lines: Sequence[Row]) -> None:
        super().__init__(lines)
        self._width = 80
        self._shown: list[Row] = []
        self._is_open = False
        self._image = Image(lambda: content.data, self._lay_out)
        self.is_picture = base64_type(content.data) in PICTURES

    def images(self, *, begin: bool = False) -> Sequence[Image]:
        if begin:
            self._is_open = self.is_picture
            self._lay_out()
        return (self._image,) if self._is_open else ()

    def count(self) -> int:
        return super().count() + len(self._shown)

    def row(self, index: int, width: int) -> Row:
        at = index - super().count()
        return super().row(index, width) if at < 0 else self._shown[at]

    def toggle(self, index: int, width: int) -> Work | None:
        self._is_open = self.is_picture and not self._is_open
        self._lay_out()
        return None

    def value(self, index: int) -> str:
        """Return a row as text; "" for rows of the picture."""
        return super().value(index) if index < super().count() else ""

    def fit(self, width: int) -> None:
        super().fit(width)
        self._width = width
        self._lay_out()

    def _lay_out(self) -> None:
        self._shown = self._image.rows(self._width) if self._is_open else []


Part = tuple[Sheet, Content | None]
"""A sheet, and the content of a result that it shows."""


class Stack(Sheet):
    """Sheets one below another, each with its content."""

    def __init__(self, parts: Sequence[Part]) -> None:
        self._parts, self.size = parts, sum(sheet.size for sheet, _ in parts)
        self._has_begun = False

    def images(self, *, begin: bool = False) -> Sequence[Image]:
        """Return the unfolded images of all parts; at first, those of the first `FIRST` images are."""
        begins, self._has_begun = begin and not self._has_begun, self._has_begun or begin
        found: list[Image] = []
        number = 0
        for sheet, _content in self._parts:
            is_image = isinstance(sheet, ImageLines) and sheet.is_picture
            number += is_image
            found += sheet.images(begin=begins and not (is_image and number > FIRST))
        return found

    def places(self, folded: str, stop: Event) -> Sequence[Place]:
        parts = enumerate(self._parts)
        return [(part, at) for part, (sheet, _) in parts for _, at in sheet.places(folded, stop)]

    def place(self, row: int) -> Place:
        for part, (sheet, _content) in enumerate(self._parts):
            if row < sheet.count():
                return part, sheet.place(row)[1]
            row -= sheet.count()
        return len(self._parts), 0

    def reveal(self, place: Place) -> int:
        part, at = place
        return sum(sheet.count() for sheet, _ in self._parts[:part]) + self._parts[part][0].reveal((0, at))

    def _at(self, index: int) -> tuple[Sheet, Content | None, int]:
        for sheet, content in self._parts:
            count = sheet.count()
            if index < count:
                return sheet, content, index
            index -= count
        raise IndexError(index)

    def count(self) -> int:
        return sum(sheet.count() for sheet, _ in self._parts)

    def row(self, index: int, width: int) -> Row:
        sheet, _, at = self._at(index)
        return sheet.row(at, width)

    def toggle(self, index: int, width: int) -> Work | None:
        sheet, _, at = self._at(index)
        return sheet.toggle(at, width)

    def value(self, index: int) -> str:
        """Return the value in a row; for a text, the whole text."""
        sheet, content, at = self._at(index)
        if not isinstance(sheet, Tree):
            match content:
                case TextContent(text) | ResourceContent(text=text):
                    return text
                case LinkContent(uri=uri):
                    return uri
        return sheet.value(at)

    def fit(self, width: int) -> None:
        for sheet, _content in self._parts:
            sheet.fit(width)

    def content(self, index: int) -> Content | None:
        return self._at(index)[1] if index < self.count() else None

    def saved(self, index: int) -> tuple[bytes, str] | None:
        """Return the bytes of the image or text in a row, and their file suffix, or None."""
        if not self.count():
            return None
        sheet, content, at = self._at(index)
        found = sheet.binary(at) if isinstance(sheet, Tree) else None
        if isinstance(content, BinaryContent):
            found = decoded(content)
        if found is None and content is not None:
            return self.value(index).encode("utf-8", "replace"), text_ending(content)
        return found


def decoded(content: BinaryContent) -> tuple[bytes, str]:
    """Return the bytes of an image, audio or blob, and their file suffix; its text if it is not base64."""
    data = plain_base64(content.data)
    if data is None:
        return content.data.encode("utf-8", "replace"), "txt"
    subtype = content.mime.partition("/")[2].partition(";")[0]
    plain = subtype if subtype.isalnum() and len(subtype) <= 5 else "bin"
    return b64decode(data), extension(base64_type(data)) or extension(content.mime) or plain


def text_ending(content: Content) -> str:
    """Return the file suffix for a text; "txt" for a text that a program would run."""
    ending = extension(content.mime) if isinstance(content, ResourceContent) else ""
    return ending if ending in ("md", "json", "csv", "xml") else "txt"


def file_name(uri: str, ending: str) -> str:
    """Return a file name for the content of a resource: the last part of its URI, or ""."""
    last = unquote(uri.split("?", 1)[0].split("#", 1)[0].rstrip("/").rpartition("/")[2])
    name = "".join(char if char.isalnum() or char in "._-" else "-" for char in clean_line(last, 80))
    name = name.strip(".-")
    return name if not name or "." in name else f"{name}.{ending}"


def sheet_of_result(result: ToolResult | PromptResult, promised: Mapping[str, Any] | None = None) -> Stack:
    """Return the sheet of a result, with whether it matches its output schema.

    Slow if the result is large: then do not run it on the event loop.
    """
    return Stack(list(_prompt(result) if isinstance(result, PromptResult) else _tool(result, promised)))


def _line(words: str, style: str) -> Part:
    return Lines([((words, style),)]), None


def _tool(result: ToolResult, promised: Mapping[str, Any] | None) -> Iterator[Part]:
    if result.failure is not CallFailure.NONE:
        if words := _FAILURES.get(result.failure):
            yield _line(_(words), "bad")
    elif result.is_error:
        yield _line(_("The tool reported an error."), "bad")
    if result.structured is not None or promised is not None:
        yield from _structured(result, promised)
    elif result.warning:
        yield _line(f"! {clean_line(localized(result.warning), 600)}", "warn")
    items = result.content
    alone = len(items) == 1 and result.structured is None and not any(_annotations(items[0]))
    for number, content in enumerate(items[:MOST_ITEMS], 1):
        if not alone:
            yield Lines([_heading(number, content)]), content
        yield from _content(content, is_ours=result.failure is not CallFailure.NONE)
        if number < len(items):
            yield Lines([EMPTY]), None
    if len(items) > MOST_ITEMS:
        words = n_("and {n} more item", "and {n} more items", len(items) - MOST_ITEMS)
        yield _line(words, "dim")
    if not items and result.structured is None:
        yield _line(_("Empty result"), "dim")


def _structured(result: ToolResult, promised: Mapping[str, Any] | None) -> Iterator[Part]:
    """Yield structured content, preceded by a line on whether it matches the output schema."""
    if result.warning:
        verdict: Row = ((f"! {clean_line(localized(result.warning), 600)}", "warn"),)
    elif promised is None:
        verdict = ((_("no output schema"), "dim"),)
    elif result.structured is None:
        missing = _("missing, although the tool has an output schema")
        verdict = ((missing, "dim" if result.is_error else "warn"),)
    else:
        sign = "" if symbols_for() is ASCII else "✓ "
        verdict = ((f"{sign}{_('matches its output schema')}", "ok"),)
    yield Lines([((f"{_('structured')}  ", "dim bold"), *verdict)]), None
    if result.structured is not None:
        yield _tree(result.structured), None
        yield Lines([EMPTY]), None


def _heading(number: int, content: Content) -> Row:
    match content:
        case TextContent(text):
            count = units.count(len(text))
            what = n_("text, {count} character", "text, {count} characters", len(text), count=count)
        case BinaryContent(kind=kind):
            what = _(str(kind))
        case LinkContent():
            what = _("link")
        case ResourceContent(mime=mime):
            what = _("resource, {type}", type=clean_line(mime, 60) or _("text"))
    return ((f"{number}  ", "dim"), (what, "dim bold"), *_annotations(content))


def _annotations(content: Content) -> Iterator[tuple[str, str]]:
    """Yield an item's audience and priority, according to the server."""
    said = content.annotations
    if len(said.audience) == 1:
        yield (
            f"   {_('for the {audience} only', audience=said.audience[0])}",
            "dim" if said.for_model else "warn",
        )
    if said.priority is not None:
        yield f"   {_('priority {n}', n=format(said.priority, 'g'))}", "dim"


def _content(content: Content, *, is_ours: bool = False) -> Iterator[Part]:
    match content:
        case TextContent(text):
            yield _text(restored_lines(text) if is_ours else text), content
        case ResourceContent(uri, mime, text):
            shown = f"  {clean_line(mime, 80)}" if mime else ""
            if is_app(uri):
                shown += f"  {_('its source (mcptui does not run apps)')}"
            yield Lines([((clean_line(uri, 400), "tool"), (shown, "dim"))]), content
            yield (MarkdownLines(text) if is_markdown(content) else _text(text, mime)), content
        case BinaryContent():
            yield ImageLines(content, list(_binary(content))), content
        case LinkContent(uri, name, description):
            rows: list[Row] = [((clean_line(name, 120), "text"), ("  ", ""), (clean_line(uri, 400), "tool"))]
            if description:
                rows.append(((clean_line(description, 600), "dim"),))
            yield Lines(rows), content


def is_app(uri: str) -> bool:
    """Return whether a URI is that of a user interface (MCP Apps), of which only the source is shown."""
    return uri[:3].lower() == "ui:"


def is_markdown(content: ResourceContent) -> bool:
    """Return whether to show a text as Markdown: by its type or name, and if it is not too long."""
    mime = content.mime.partition(";")[0].strip().lower()
    by_name = mime in ("", "text/plain") and content.uri.lower().endswith((".md", ".markdown"))
    is_short = len(content.text) <= MARKDOWN_CHARS and content.text.count("\n") <= TEXT_LINES
    return is_short and (mime == "text/markdown" or by_name)


class MarkdownLines(Lines):
    """A text rendered as Markdown; folding it shows the source."""

    def __init__(self, text: str) -> None:
        super().__init__(list(_paragraphs(text)))
        self._text = clean(text)
        self._is_source = False

    def toggle(self, index: int, width: int) -> Work | None:
        self._is_source = not self._is_source
        self.fit(width)
        return None

    def fit(self, width: int) -> None:
        if self._is_source:
            super().fit(width)
        else:
            self._rows = Markdown().rows(self._text, max(10, min(width, WIDEST))) or [EMPTY]


def _binary(content: BinaryContent) -> Iterator[Row]:
    words = f"{described(content.data) or content.kind}, {units.size(content.size)}"
    yield (("▣ ", "tool"), (words, "text"), (f"  {clean_line(content.mime, 80)}", "dim"))
    if content.uri:
        yield ((clean_line(content.uri, 400), "tool"),)


def _text(text: str, mime: str = "") -> Sheet:
    if mime.partition(";")[0].strip().lower() == "text/html" and len(text) <= HTML_CHARS:
        seen = preview(text, TEXT_CHARS, TEXT_LINES)
        if not seen.omitted:
            rows = highlighted(seen.text.rstrip("\n").split("\n"), "html")
            return Lines(
                [tuple((words, style.removesuffix(f" {GROUND}")) for words, style in row) for row in rows]
            )
    if (value := json_within(text, JSON_BYTES)) is not None:
        return _tree(value, text)
    return Lines(list(_paragraphs(text)))


def _paragraphs(text: str) -> Iterator[Row]:
    seen = preview(text, TEXT_CHARS, TEXT_LINES)
    for line in seen.text.rstrip("\n").split("\n"):
        yield ((line.expandtabs(4).rstrip(), "text"),)
    if seen.omitted:
        omitted = units.count(seen.omitted)
        more = _("… {count} more characters. Save the text to get all of it", count=omitted)
        yield ((more, "warn"),)


def _tree(value: Any, text: str | None = None) -> Sheet:
    data = text if text is not None else json.dumps(value, ensure_ascii=False, default=str)
    tree = Tree(data.encode("utf-8", "replace")) if value else None
    return tree if tree is not None and tree.is_json else Lines([((clean_line(data, 2000), "text"),)])


def _prompt(result: PromptResult) -> Iterator[Part]:
    if result.problem:
        yield _line(clean_line(localized(result.problem), 1000), "bad")
    if result.description:
        yield Lines([((clean_line(result.description, 1000), "dim"),), EMPTY]), None
    for message in result.messages[:MOST_ITEMS]:
        yield _line(_(message.role), "user bold" if message.role == "user" else "model bold")
        yield from _content(message.content)
        yield Lines([EMPTY]), None
    if not result.messages and not result.problem:
        yield _line(_("No messages"), "dim")


AROUND = 3
"""Equal lines to show before and after a difference."""


def side_by_side_rows(pairs: Sequence[LinePair], width: int) -> list[Row]:
    """Return the pairs as rows of a width; equal lines far from a difference are only counted."""
    return [row for row, _ in _placed_rows(pairs, width)]


def _placed_rows(pairs: Sequence[LinePair], width: int, *, whole: bool = False) -> list[tuple[Row, int]]:
    """Return each row with the place of its pair, or of the first pair that it counts."""
    cells = max(8, (width - 5) // 2)
    rows: list[tuple[Row, int]] = []
    shown = bytearray(b"\x01" if whole else b"\x00") * len(pairs)
    for place, pair in enumerate(pairs):
        if not pair.same:
            start, stop = max(0, place - AROUND), min(len(pairs), place + AROUND + 1)
            shown[start:stop] = b"\x01" * (stop - start)
    for is_shown, group in groupby(range(len(pairs)), key=shown.__getitem__):
        places = list(group)
        if is_shown:
            rows += [(row, place) for place in places for row in _pair_rows(pairs[place], cells)]
        else:
            words = n_("{n} equal line", "{n} equal lines", len(places))
            rows.append((((f"  ┄┄┄ {words}", "dim"),), places[0]))
    return rows


def _pair_rows(pair: LinePair, cells: int) -> list[Row]:
    old, new = pair.before, pair.after
    sign, style = (" ", "") if pair.same else ("-", "bad") if new is None else ("+", "ok")
    if pair.same or old is None or new is None:
        left: Row = ((old or "", "dim" if pair.same else "bad"),)
        right: Row = ((new or "", "dim" if pair.same else "ok"),)
    else:
        sign, style = "~", "warn"
        mine, other = parts_that_differ(old, new)
        left, right = _marked(old, mine, "bad bold"), _marked(new, other, "ok bold")
    rows: list[Row] = []
    for one, two in zip_longest(wrap(left, cells), wrap(right, cells), fillvalue=EMPTY):
        lead = ((f"{sign} ", style),) if not rows else (("  ", ""),)
        rows.append((*lead, *pad(one, cells), (" │ ", "rule"), *two))
    return rows


def _marked(line: str, part: tuple[int, int], style: str) -> Row:
    start, end = part
    spans = ((line[:start], "text"), (line[start:end], style), (line[end:], "text"))
    return tuple(span for span in spans if span[0]) or EMPTY


class SideBySide(Lines):
    """A sheet with two values side by side, followed by `notes`; `whole` shows all equal lines."""

    def __init__(self, pairs: Sequence[LinePair], notes: Sequence[Row] = (), *, whole: bool = False) -> None:
        super().__init__(())
        self._pairs, self._notes, self._whole = pairs, notes, whole
        self._places: list[int] = []

    def fit(self, width: int) -> None:
        placed = _placed_rows(self._pairs, max(20, width), whole=self._whole)
        self._rows, self._places = [row for row, _ in placed], [place for _, place in placed]
        notes = [row for note in self._notes for row in wrap(note, max(20, width))]
        self._rows += [EMPTY, *notes] if notes else []

    @property
    def first_difference(self) -> int:
        """The place of the first pair that differs, or 0."""
        return next((place for place, pair in enumerate(self._pairs) if not pair.same), 0)

    def pair_at(self, row: int) -> int:
        """Return the place of the pair in a row, or -1."""
        return self._places[row] if 0 <= row < len(self._places) else -1

    def row_of(self, pair: int) -> int:
        """Return the first row of the pair at a place, or 0."""
        return self._places.index(pair) if pair in self._places else 0


SCROLL_BAR = 1
"""Columns of the page for its scroll bar."""


class SideHeads(Bar):
    """The headings over a `SideBySide`."""

    def __init__(self) -> None:
        super().__init__(id="side-heads")
        self._heads = ("", "")

    def show(self, left: str, right: str) -> None:
        self._heads = left, right
        self.refresh()

    def row(self, width: int) -> Row:
        """Return the headings where `side_by_side_rows` has the values, in a page with its padding."""
        left, right = self._heads
        cells = max(8, (width - SCROLL_BAR - 5) // 2)
        start: Row = pad((("  ", ""), (left, "dim bold")), cells + 2)
        return (*start, (" │ ", "rule"), (right, "dim bold"))
