"""A document as one self-contained HTML page to share: no network, no other file. Pure.

Texts are hostile, and a browser opens the page. Markdown is rendered without HTML and without its own images,
everything else is escaped. A Content-Security-Policy allows only the script and the styles beside this module
(`page.js`, `page.css`), by their SHA-256, and images and sounds inside the page. Without the script, all of
it can still be read and folded.
"""

import base64
import hashlib
from collections.abc import Iterator, Sequence
from contextlib import suppress
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from tui import __version__
from tui.core.conversation.conversation import Attachment
from tui.core.text import clean_line
from tui.core.units import plural, size
from tui.storage.exports.document import (
    MOST_ROWS,
    Aside,
    Block,
    Document,
    Files,
    Heading,
    Part,
    Prose,
    Row,
    Rows,
    Timeline,
)
from tui.storage.exports.html_entries import EntryLists, entry, foreign, heads, tag, timeline

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

RENDERED = 64 * 1024
"""Maximum characters of a text to render as Markdown. A longer text is shown as plain text."""

MOST_CHARS = 64_000_000
"""Maximum characters of the texts of a page."""

PREVIEW = 120
"""Maximum characters of a folded text that are shown beside its title."""

SHOWN_MEDIA = {
    "image": frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"}),
    "audio": frozenset({"audio/mpeg", "audio/wav", "audio/ogg", "audio/mp4", "audio/webm"}),
}
"""Media types that a browser shows without running their content. Not SVG."""

_STARTS = {
    "image/png": b"\x89PNG",
    "image/jpeg": b"\xff\xd8\xff",
    "image/gif": b"GIF8",
    "image/webp": b"RIFF",
}
"""What the bytes of an image begin with."""

_TOOLS = """<div class="tools" role="search" hidden>
<input id="search" type="search" placeholder="Search (/)" aria-label="Search this page" spellcheck="false">
<output id="hits" for="search" aria-live="polite"></output>
<button type="button" id="previous" aria-keyshortcuts="Shift+N">Previous</button>
<button type="button" id="next" aria-keyshortcuts="N">Next</button>
<label><input type="checkbox" id="only"> Matches only</label>
<span class="gap"></span>
<button type="button" id="unfold">Unfold all</button>
<button type="button" id="fold">Fold all</button>
<button type="button" id="theme" aria-pressed="false">Dark</button>
</div>
"""


def html(document: Document) -> Iterator[str]:
    """Yield the page."""
    here = Path(__file__)
    style, script = (here.with_name(f"page.{kind}").read_text("utf-8") for kind in ("css", "js"))
    policy = (
        f"default-src 'none'; style-src {_source_of(style)}; script-src {_source_of(script)}; "
        "img-src data:; media-src data:; base-uri 'none'; form-action 'none'; "
        "require-trusted-types-for 'script'; trusted-types 'none'"
    )
    title = escape(document.title)
    facts = " · ".join(filter(None, (document.facts, f"exported by mcptui {__version__}")))
    yield (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="referrer" content="no-referrer">\n'
        '<meta http-equiv="x-dns-prefetch-control" content="off">\n'
        f'<meta name="generator" content="mcptui {__version__}">\n'
        f"<title>{title}</title>\n<style>{style}</style></head>\n"
        f'<body class="{"list" if document.is_list else "talk"}">\n'
        '<a class="skip" href="#main">Skip to the content</a>\n'
        f'<header>\n<div class="head"><h1 dir="auto">{title}</h1>\n<p class="dim">{escape(facts)}</p></div>\n'
        f"{_TOOLS}</header>\n"
        '<nav aria-label="Contents" hidden><ol></ol></nav>\n<main id="main" tabindex="-1">\n'
    )
    yield from _Page(document).pieces()
    yield f"</main>\n<script>{script}</script>\n</body></html>\n"


def _source_of(text: str) -> str:
    """Return the source expression for inline text in a Content-Security-Policy (CSP Level 3, 2.3.1)."""
    return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"


class _Page:
    """Writes the parts of a document, and what it has to leave out."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._level, self._in_turn = 2, False
        self._rows, self._lost_rows = 0, 0
        self._room, self._lost_chars = MOST_CHARS, 0
        self._found = EntryLists()
        self._reader: MarkdownIt | None = None

    def pieces(self) -> Iterator[str]:
        is_open = False
        if self._document.is_list:
            yield f'<section id="entries"><h2>Entries</h2>\n{heads()}'
            is_open = True
        for part in self._document.parts:
            if isinstance(part, Heading):
                yield "</section>\n" if is_open else ""
                yield self._heading(part)
                is_open = True
            elif isinstance(part, Rows):
                yield from self._wire(part)
            else:
                yield self._text_of(part)
        yield "</section>\n" if is_open else ""
        yield self._end()

    def _heading(self, part: Heading) -> str:
        """Return the start of a section: of a turn as h2, of a reply in it as h3."""
        self._in_turn = self._in_turn or part.turn > 0
        self._level = 3 if self._in_turn and not part.turn else 2
        when = f' <span class="dim">{escape(part.time)}</span>' if part.time else ""
        mark = f' class="you" id="t{part.turn}"' if part.turn else ""
        number = f'<span class="n">{part.turn}</span> ' if part.turn else ""
        return f"<section{mark}><h{self._level}>{number}{escape(part.title)}{when}</h{self._level}>\n"

    def _text_of(self, part: Part) -> str:
        match part:
            case Aside(text):
                return f'<p class="remark" dir="auto">{escape(self._fit(text))}</p>\n'
            case Prose(text, is_markdown):
                return self._prose(self._fit(text), is_markdown)
            case Block(title, text, _, is_bad, note, _, anchor):
                shown = f'<pre dir="auto">{escape(self._fit(text))}</pre>\n'
                if title:
                    begin = foreign("span", clean_line(text[: PREVIEW * 4], PREVIEW), "dim")
                    summary = tag("summary", f"{foreign('bdi', title)} {begin}")
                    if anchor:
                        shown += tag("p", tag("a", "Show the message", href=f"#{anchor}"), "from")
                    shown = tag("details", f"{summary}\n{shown}", "bad" if is_bad else "") + "\n"
                return shown + (self._text_of(Aside(note)) if note else "")
            case Files(attachments=attachments):
                return "".join(map(self._figure, attachments))
            case Timeline():
                return timeline(part)
            case Row():
                return self._row(part)
        return ""

    def _fit(self, text: str) -> str:
        """Return as much of a text as the page has room for."""
        shown = text[: self._room]
        self._room -= len(shown)
        self._lost_chars += len(text) - len(shown)
        return shown if len(shown) == len(text) else f"{shown}…"

    def _prose(self, text: str, is_markdown: bool) -> str:
        if not is_markdown or len(text) > RENDERED:
            return f'<div class="said plain" dir="auto">{escape(text)}</div>\n'
        if self._reader is None:
            from markdown_it import MarkdownIt

            self._reader = MarkdownIt("commonmark", {"html": False}).enable("table").disable("image")
            self._reader.validateLink = _is_web  # type: ignore[method-assign]
        tokens = self._reader.parse(text)
        _settle(tokens, min(6, self._level + 1))
        rendered = self._reader.renderer.render(tokens, self._reader.options, {})
        return f'<div class="said" dir="auto">{rendered}</div>\n'

    def _figure(self, one: Attachment) -> str:
        name = clean_line(one.name, 120) or "attachment"
        caption = escape(f"{name} ({clean_line(one.mime, 60)}, {size(one.size)})")
        media = ""
        is_media = bool(one.data) and one.mime in SHOWN_MEDIA.get(one.kind, ())
        if is_media and len(one.data) > self._room:
            self._lost_chars += len(one.data)
        elif is_media:
            with suppress(ValueError):  # not Base64, or not what it says: only its name is shown
                octets = base64.b64decode(one.data, validate=True)
                if one.kind == "image" and not octets.startswith(_STARTS[one.mime]):
                    raise ValueError("not an image of this type")
                data = base64.b64encode(octets).decode()
                self._room -= len(data)
                source = f"data:{one.mime};base64,{data}"
                media = f'<audio controls aria-label="{escape(name)}" src="{source}"></audio>'
                if one.kind == "image":
                    media = f'<img alt="{escape(name)}" src="{source}">'
        return f"<figure>{media}<figcaption>{caption}</figcaption></figure>\n"

    def _wire(self, part: Rows) -> Iterator[str]:
        start = f'<details class="wire"><summary>{escape(part.title)}</summary>\n{heads()}'
        for row in part.rows:
            if shown := self._row(row):
                yield start + shown
                start = ""
        yield "" if start else "</details>\n"

    def _row(self, row: Row) -> str:
        if self._rows >= MOST_ROWS:
            self._lost_rows += 1
            return ""
        self._rows += 1
        self._found.see(row)
        return entry(row, self._fit(row.body))

    def _end(self) -> str:
        """Return the lists of findings and notes, and what was left out."""
        lost = [plural(self._lost_rows, "entry")] if self._lost_rows else []
        lost += [f"{size(self._lost_chars)} of texts and files"] if self._lost_chars else []
        words = f"{' and '.join(lost)}: the page would be too large for a browser. JSON contains everything."
        rest = tag("h2", "Left out") + tag("p", words)
        return self._found.sections() + (tag("section", rest, id="rest") if lost else "")


def _is_web(url: str) -> bool:
    """Return whether a link leaves this computer: others open its files, shares of a network or programs."""
    return url.lower().startswith(("http://", "https://", "mailto:"))


def _settle(tokens: "Sequence[Token]", level: int) -> None:
    """Put headings below those of the page, and let no link tell its target where it was followed.

    The policy of the page blocks the style of an aligned column, so that it becomes a class.
    """
    for token in tokens:
        if style := token.attrs.pop("style", ""):
            token.attrSet("class", str(style).rpartition(":")[2])
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{level}"
        elif token.type == "link_open":
            token.attrSet("rel", "noopener noreferrer nofollow")
        _settle(token.children or (), level)
