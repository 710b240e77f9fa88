"""A session as one self-contained HTML page: no network, no script, no other file. Pure.

The text is hostile, and a browser opens the page. Markdown is rendered without HTML and without its own
images, everything else is escaped, and a Content-Security-Policy allows only the styles of this module, and
images and sounds inside the page.
"""

import base64
import binascii
from collections.abc import Iterator
from html import escape
from typing import TYPE_CHECKING

from tui.core.conversation.conversation import AssistantMessage, Attachment, Remark, ToolMessage, UserMessage
from tui.core.text import clean_line
from tui.core.turn.prepared_calls import shown_result
from tui.core.turn.turn_endings import words_of
from tui.core.units import duration, size
from tui.storage.exports.html import source_of
from tui.storage.sessions.markdown import bounded, readable_arguments, thinking_words
from tui.storage.sessions.transcript import SessionTranscript, day_and_time

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


def html(shown: SessionTranscript) -> Iterator[str]:
    """Yield the page."""
    policy = (
        f"default-src 'none'; style-src {source_of(STYLE)}; img-src data:; media-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    title = escape(shown.title)
    yield (
        '<!doctype html>\n<html><head><meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width"><meta name="referrer" content="no-referrer">\n'
        f"<title>{title}</title>\n<style>{STYLE}</style></head><body>\n"
        f"<header><h1>{title}</h1><p>{escape(shown.facts)}</p></header>\n<main>\n"
    )
    if shown.meta.system:
        yield _folded("System prompt", bounded(shown.meta.system))
    reader = _reader()
    tools = shown.tools
    for entry, at in shown.entries:
        match entry:
            case Remark():
                if words := words_of(entry):
                    yield f'<p class="remark" dir="auto">{escape(bounded(words))}</p>\n'
            case UserMessage():
                yield (
                    f'<section class="you"><h2>You <time>{day_and_time(at)}</time></h2>'
                    f'<div class="said" dir="auto">{escape(bounded(entry.text))}</div>'
                    f"{_attached(entry.attachments)}</section>\n"
                )
            case AssistantMessage():
                yield _reply(entry, tools, reader)
            case ToolMessage():
                name = tools.get(entry.call_id) or clean_line(entry.name, 120)
                mark = "✗" if entry.is_error else "←"
                text, warning = shown_result(entry)
                yield _folded(f"{mark} {name}", bounded(text), bad=entry.is_error)
                if warning:
                    yield f'<p class="remark" dir="auto">{escape(bounded(warning))}</p>\n'
                yield _attached(entry.attachments)
    yield "</main></body></html>\n"


def _reader() -> "MarkdownIt":
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark", {"html": False}).enable("table").disable("image")


def _reply(message: AssistantMessage, tools: dict[str, str], reader: "MarkdownIt") -> str:
    label = escape(clean_line(message.model, 80)) or "Model"
    took = f" <time>{duration(message.seconds * 1000)}</time>" if message.seconds else ""
    parts = [f"<section><h2>{label}{' · truncated' if message.partial else ''}{took}</h2>"]
    if message.reasoning:
        parts.append(_folded(thinking_words(message), bounded(message.reasoning)))
    if message.text:
        text = bounded(message.text)
        plain = len(text) > RENDERED
        shown = f"<pre>{escape(text)}</pre>" if plain else reader.render(text)
        parts.append(f'<div class="said" dir="auto">{shown}</div>')
    for call in message.calls:
        name = tools.get(call.id) or clean_line(call.name, 120)
        parts.append(_folded(f"→ {name}", readable_arguments(call)))
    return "".join([*parts, "</section>\n"])


def _folded(title: str, text: str, *, bad: bool = False) -> str:
    mark = ' class="bad"' if bad else ""
    return (
        f'<details{mark}><summary>{escape(title)}</summary><pre dir="auto">{escape(text)}</pre></details>\n'
    )


def _attached(attachments: tuple[Attachment, ...]) -> str:
    return "".join(map(_figure, attachments))


def _figure(one: Attachment) -> str:
    name = clean_line(one.name, 120) or "attachment"
    caption = escape(f"{name} ({clean_line(one.mime, 60)}, {size(one.size)})")
    media = ""
    if one.mime in SHOWN_MEDIA.get(one.kind, ()) and (data := _base64(one.data)):
        source = f"data:{one.mime};base64,{data}"
        alt = escape(name)
        media = (
            f'<img alt="{alt}" src="{source}">' if one.kind == "image" else f'<audio controls src="{source}">'
        )
        media += "" if one.kind == "image" else "</audio>"
    return f"<figure>{media}<figcaption>{caption}</figcaption></figure>\n"


def _base64(data: str) -> str:
    try:
        return base64.b64encode(base64.b64decode(data, validate=True)).decode()
    except (binascii.Error, ValueError):
        return ""
