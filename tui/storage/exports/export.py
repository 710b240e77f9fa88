"""Exports of recordings: selected entries in a format for other programs or to read."""

from collections.abc import Callable, Iterable, Iterator
from enum import StrEnum
from pathlib import Path
from threading import Event

from tui.core.errors import StorageError
from tui.core.files import atomic_write
from tui.core.traffic import Entry, EntryNote
from tui.storage.exports.entries import entry_document
from tui.storage.exports.har import har
from tui.storage.exports.html import html
from tui.storage.exports.jsonl import NoteOf, jsonl, no_note
from tui.storage.exports.markdown import markdown
from tui.storage.exports.placeholders import ExportContents as ExportContents
from tui.storage.exports.placeholders import shaped_note, with_shapes


class Format(StrEnum):
    """The format of an export."""

    JSONL = "jsonl"
    MARKDOWN = "md"
    HAR = "har"
    HTML = "html"


def exported(
    form: Format,
    columns: Iterable[Entry],
    whole: Callable[[int], Entry | None],
    title: str,
    note_of: NoteOf = no_note,
    *,
    shapes: bool = False,
) -> Iterator[str]:
    """Yield an export piece by piece: the entries of `columns`, in order, with their bodies from `whole`.

    Secrets stay redacted. With `shapes`, values are replaced with placeholders.
    """

    def shown(seq: int) -> Entry | None:
        entry = whole(seq)
        return with_shapes(entry) if shapes and entry is not None else entry

    def noted(seq: int) -> EntryNote:
        return shaped_note(note_of(seq)) if shapes else note_of(seq)

    entries = (entry for one in columns if (entry := shown(one.seq)) is not None)
    match form:
        case Format.JSONL:
            return jsonl(entries, noted)
        case Format.MARKDOWN:
            return markdown(entry_document(entries, title, noted))
        case Format.HAR:
            return har(columns, shown, noted)
        case Format.HTML:
            return html(entry_document(entries, title, noted))


def write_whole(
    target: Path,
    pieces: Iterable[str],
    *,
    wait: bool = True,
    stop: Event | None = None,
    links: bool = True,
) -> int:
    """Write a private file as `atomic_write` does, or raise `StorageError`. Return its size in bytes."""
    try:
        return atomic_write(target, pieces, wait=wait, stop=stop, links=links)
    except OSError as error:
        raise StorageError(f"cannot write the file ({error.strerror})", where=str(target)) from error
