"""Entries as one self-contained HTML page: no network, no other file. Pure.

Bodies are hostile, and a browser opens the page. All text is escaped, and a Content-Security-Policy allows
only the script and the styles of this module, by their SHA-256, and loads nothing.
"""

import base64
import hashlib
from collections.abc import Iterable, Iterator
from html import escape

from tui.core.text import clean_line
from tui.core.traffic import Entry, EntryNote, Outcome
from tui.storage.exports.entry_text import ARROWS, Latencies, body_text, facts, name_of, note_line
from tui.storage.exports.jsonl import NoteOf, no_note

STYLE = """
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

_BAD = frozenset({Outcome.ERROR, Outcome.TOOL_ERROR, Outcome.LOST})


def source_of(text: str) -> str:
    """Return the source expression for inline text in a Content-Security-Policy (CSP Level 3, 2.3.1)."""
    return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"


def html(entries: Iterable[Entry], title: str, note_of: NoteOf = no_note) -> Iterator[str]:
    """Yield the page."""
    known = f"style-src {source_of(STYLE)}; script-src {source_of(SCRIPT)}"
    policy = f"default-src 'none'; {known}; base-uri 'none'; form-action 'none'"
    yield (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width"><meta name="referrer" content="no-referrer">\n'
        f"<title>{escape(title)}</title>\n<style>{STYLE}</style></head><body>\n"
        f"<header><h1>{escape(title)}</h1>\n"
        '<input type="search" placeholder="Search" aria-label="Search" autofocus> <output></output>'
        "</header>\n<main>\n"
    )
    latencies = Latencies()
    for entry in entries:
        yield _row(entry, latencies.of(entry), note_of(entry.seq))
    yield f"</main>\n<script>{SCRIPT}</script></body></html>\n"


def _row(entry: Entry, took: str, note: EntryNote) -> str:
    outcome = entry.outcome.name.lower().replace("_", " ") if entry.outcome else ""
    mark = ' class="bad"' if entry.outcome in _BAD else ""
    about = f"<p>{escape(facts(entry, is_marked=note.marked))}</p>"
    about += f"<p>{escape(note_line(note))}</p>" if note.text else ""
    return (
        f'<details><summary><span class="n">{entry.seq}</span>'
        f"<span>{escape(clean_line(entry.source, 60))}</span><span>{ARROWS[entry.direction]}</span>"
        f'<span>{escape(name_of(entry))}</span><span class="t">{took}</span>'
        f"<span{mark}>{outcome}</span></summary>"
        f"{about}<pre>{escape(body_text(entry))}</pre></details>\n"
    )
