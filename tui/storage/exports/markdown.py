"""Entries as a Markdown report: a section per entry, with its body. Pure.

Bodies are hostile. A fence is always longer than any run of backticks inside it, and no text of a server
is outside a fence or code span without being escaped.
"""

import re
from collections.abc import Iterable, Iterator

from tui.core.late_compiling import late
from tui.core.text import clean_line
from tui.core.traffic import Entry, EntryNote, Outcome
from tui.storage.exports.entry_text import ARROWS, Latencies, body_text, facts, name_of, note_line
from tui.storage.exports.jsonl import NoteOf, no_note

_MARKS = late(
    r"""([\\`*\[<~$@#]
        | (?<![^\W_])_ | _(?![^\W_])      # inside a word, it has no effect
        | &(?=[#\w])                     # an entity
        | :(?=// | (?!\d\d:)[\w+-]+:)    # a URL or an emoji, but not a time of day
        | (?<=www)\.
        )""",
    re.VERBOSE | re.IGNORECASE,
)
"""Characters with a meaning within a line in CommonMark or on GitHub. A line starts with a heading mark or a
time.
"""


def escaped(text: str) -> str:
    """Return text escaped for use within a Markdown line, not at its start."""
    return _MARKS.sub(r"\\\1", text)


def fenced(text: str, language: str = "") -> str:
    """Return text as a code block, safe for any backticks in it."""
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text}\n{fence}"


def markdown(entries: Iterable[Entry], title: str, note_of: NoteOf = no_note) -> Iterator[str]:
    """Yield the report."""
    yield f"# {escaped(clean_line(title, 200))}\n\n"
    latencies, number = Latencies(), 0
    for entry in entries:
        number += 1
        yield _section(entry, latencies.of(entry), note_of(entry.seq))
    yield {0: "No entries.\n", 1: "1 entry.\n"}.get(number, f"{number} entries.\n")


def _section(entry: Entry, took: str, note: EntryNote) -> str:
    source = escaped(clean_line(entry.source, 60))
    head = f"## {entry.seq}. {source} {ARROWS[entry.direction]} {escaped(name_of(entry))}\n\n"
    said = facts(entry, is_marked=note.marked)
    if entry.outcome is not Outcome.NONE:
        said += f", {entry.outcome.name.lower().replace('_', ' ')}"
    if took:
        said += f" after {took}"
    body = body_text(entry)
    block = fenced(body, "json" if body[:1] in ("{", "[") else "text") if body else "_empty_"
    noted = f"{escaped(note_line(note))}\n\n" if note.text else ""
    return f"{head}{escaped(said)}\n\n{noted}{block}\n\n"
