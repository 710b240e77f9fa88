"""A document as one self-contained HTML page: no network, no other file. Pure.

Texts are hostile, and a browser opens the page. Markdown is rendered without HTML and without its own images,
everything else is escaped. A Content-Security-Policy allows only the script and the styles of this module, by
their SHA-256, and images and sounds inside the page.
"""

import base64
import hashlib
from collections.abc import Iterator
from contextlib import suppress
from html import escape
from typing import TYPE_CHECKING

from tui.core.conversation.conversation import Attachment
from tui.core.text import clean_line
from tui.core.units import size
from tui.storage.exports.document import Aside, Block, Document, Files, Heading, Part, Prose, Row

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

RENDERED = 64 * 1024
"""Maximum characters of a text to render as Markdown. A longer text is shown as plain text."""

SHOWN_MEDIA = {
    "image": frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"}),
    "audio": frozenset({"audio/mpeg", "audio/wav", "audio/ogg", "audio/mp4", "audio/webm"}),
}
"""Media types that a browser shows without running their content. Not SVG."""

STYLE = """
:root{color-scheme:light dark;font:16px/1.55 system-ui,sans-serif}
body{margin:0 auto;max-width:48rem;padding:1rem 1.2rem 5rem}
h1{font-size:1.3rem;margin:1rem 0 .2rem}
header p,time,figcaption,.remark{color:GrayText;font-size:.85rem}
section{margin:1.6rem 0}
section>h2{font-size:.85rem;margin:0 0 .3rem;color:GrayText;font-weight:600}
.you{border-left:3px solid #d08a2e;padding-left:.9rem}
.you .said{white-space:pre-wrap;overflow-wrap:anywhere}
details{border:1px solid color-mix(in srgb,GrayText 35%,transparent);border-radius:6px;margin:.5rem 0}
summary{cursor:pointer;padding:.3rem .7rem;font-size:.9rem;overflow-wrap:anywhere}
details>*:not(summary){margin:.3rem .7rem .7rem}
pre{white-space:pre-wrap;overflow-wrap:anywhere;font:13px/1.45 ui-monospace,monospace}
.said :is(h1,h2,h3){font-size:1.08rem;margin:1rem 0 .3rem}
.said pre{background:color-mix(in srgb,GrayText 12%,transparent);padding:.6rem;border-radius:6px}
table{border-collapse:collapse}td,th{border:1px solid GrayText;padding:.2rem .5rem}
img{max-width:100%;border-radius:6px}figure{margin:.6rem 0}
.bad summary{color:#d33}
"""

LIST_STYLE = """
:root{color-scheme:light dark;font:14px/1.45 system-ui,sans-serif}
body{margin:0 auto;max-width:76rem;padding:0 1rem 4rem}
header{position:sticky;top:0;background:Canvas;padding:.8rem 0;border-bottom:1px solid GrayText}
h1{font-size:1.1rem;margin:0 0 .5rem}
input{font:inherit;width:min(30rem,60%);padding:.3rem .5rem}
details{border-bottom:1px solid color-mix(in srgb,GrayText 30%,transparent)}
summary{display:grid;grid-template-columns:4rem 9rem 1.5rem 1fr 6rem 7rem;gap:.6rem}
summary{padding:.25rem 0;cursor:pointer}
summary *{overflow:hidden;text-overflow:ellipsis;white-space:nowrap}
.n,.t{text-align:right;color:GrayText;font-variant-numeric:tabular-nums}
.bad{color:#d33}
pre{white-space:pre-wrap;overflow-wrap:anywhere;font:12px/1.4 ui-monospace,monospace}
pre{margin:.3rem 0 1rem 4.6rem}
p{margin:.2rem 0 .2rem 4.6rem;color:GrayText}
"""

SCRIPT = """
const box=document.querySelector("input"),rows=[...document.querySelectorAll("details")],
said=document.querySelector("output");let timer=0;
const texts=rows.map(row=>row.textContent.toLowerCase());
function find(){const words=box.value.toLowerCase().split(/\\s+/).filter(Boolean);let shown=0;
rows.forEach((row,i)=>{const fits=words.every(word=>texts[i].includes(word));row.hidden=!fits;shown+=fits});
said.textContent=shown+" of "+rows.length}
box.addEventListener("input",()=>{clearTimeout(timer);timer=setTimeout(find,120)});find();
"""


def html(document: Document) -> Iterator[str]:
    """Yield the page."""
    style, title = LIST_STYLE if document.is_list else STYLE, escape(document.title)
    allowed = f"script-src {_source_of(SCRIPT)}" if document.is_list else "img-src data:; media-src data:"
    policy = (
        f"default-src 'none'; style-src {_source_of(style)}; {allowed}; base-uri 'none'; form-action 'none'"
    )
    facts = f"<p>{escape(document.facts)}</p>" if document.facts else ""
    search = '\n<input type="search" placeholder="Search" aria-label="Search" autofocus> <output></output>'
    yield (
        '<!doctype html>\n<html><head><meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width"><meta name="referrer" content="no-referrer">\n'
        f"<title>{title}</title>\n<style>{style}</style></head><body>\n"
        f"<header><h1>{title}</h1>{facts}{search if document.is_list else ''}</header>\n<main>\n"
    )
    reader, is_open = None, False
    if not document.is_list:
        from markdown_it import MarkdownIt

        reader = MarkdownIt("commonmark", {"html": False}).enable("table").disable("image")
    for part in document.parts:
        if isinstance(part, Heading):
            yield "</section>\n" if is_open else ""
            is_open = True
        yield _text_of(part, reader)
    yield "</section>\n" if is_open else ""
    yield f"</main>\n<script>{SCRIPT}</script>" if document.is_list else "</main>"
    yield "</body></html>\n"


def _source_of(text: str) -> str:
    """Return the source expression for inline text in a Content-Security-Policy (CSP Level 3, 2.3.1)."""
    return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"


def _text_of(part: Part, reader: "MarkdownIt | None") -> str:
    match part:
        case Heading(title, time, mine):
            when = f" <time>{time}</time>" if time else ""
            mark = ' class="you"' if mine else ""
            return f"<section{mark}><h2>{escape(title)}{when}</h2>"
        case Aside(text):
            return f'<p class="remark" dir="auto">{escape(text)}</p>\n'
        case Prose(text, is_markdown):
            plain = f"<pre>{escape(text)}</pre>" if is_markdown else escape(text)
            if is_markdown and reader is not None and len(text) <= RENDERED:
                plain = reader.render(text)
            return f'<div class="said" dir="auto">{plain}</div>'
        case Block(title, text, _, is_bad, note):
            shown = f'<pre dir="auto">{escape(text)}</pre>'
            if title:
                mark = ' class="bad"' if is_bad else ""
                shown = f"<details{mark}><summary>{escape(title)}</summary>{shown}</details>\n"
            return shown + (_text_of(Aside(note), reader) if note else "")
        case Files(attachments):
            return "".join(map(_figure, attachments))
        case Row():
            return _row(part)


def _row(row: Row) -> str:
    mark = ' class="bad"' if row.is_bad else ""
    note = f"<p>{escape(row.note)}</p>" if row.note else ""
    return (
        f'<details><summary><span class="n">{row.number}</span>'
        f"<span>{escape(row.source)}</span><span>{row.arrow}</span>"
        f'<span>{escape(row.name)}</span><span class="t">{row.took}</span>'
        f"<span{mark}>{row.outcome}</span></summary>"
        f"<p>{escape(row.facts)}</p>{note}<pre>{escape(row.body)}</pre></details>\n"
    )


def _figure(one: Attachment) -> str:
    name = clean_line(one.name, 120) or "attachment"
    caption = escape(f"{name} ({clean_line(one.mime, 60)}, {size(one.size)})")
    media = ""
    if one.data and one.mime in SHOWN_MEDIA.get(one.kind, ()):
        with suppress(ValueError):  # not Base64
            data = base64.b64encode(base64.b64decode(one.data, validate=True)).decode()
            source = f"data:{one.mime};base64,{data}"
            media = f'<audio controls src="{source}"></audio>'
            if one.kind == "image":
                media = f'<img alt="{escape(name)}" src="{source}">'
    return f"<figure>{media}<figcaption>{caption}</figcaption></figure>\n"
