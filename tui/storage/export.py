"""Exports: a selection of entries in a format that other programs, or other people, can read."""

import contextlib
import os
import tempfile
from collections.abc import Iterable, Iterator
from enum import StrEnum
from pathlib import Path

from tui.core.errors import StorageError
from tui.core.traffic import Entry
from tui.storage.export_har import har
from tui.storage.export_html import html
from tui.storage.export_jsonl import jsonl
from tui.storage.export_markdown import markdown


class Format(StrEnum):
    """What an export can be."""

    JSONL = "jsonl"
    MARKDOWN = "md"
    HAR = "har"
    HTML = "html"


def exported(form: Format, entries: Iterable[Entry], title: str) -> Iterator[str]:
    """Yield an export piece by piece; secrets are as redacted as they are in the recording.

    Args:
        form: which format.
        entries: with their bodies, in order.
        title: what the export is called, cleaned.
    """
    match form:
        case Format.JSONL:
            yield from jsonl(entries)
        case Format.MARKDOWN:
            yield from markdown(entries, title)
        case Format.HAR:
            yield from har(entries)
        case Format.HTML:
            yield from html(entries, title)


def write_whole(target: Path, pieces: Iterable[str]) -> None:
    """Write a file for this person only, which appears whole or not at all.

    Raises:
        StorageError: it cannot be written; what was there before is still there.
    """
    temporary = ""
    try:
        descriptor, temporary = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
        with open(descriptor, "w", encoding="utf-8", errors="backslashreplace", newline="") as file:
            file.writelines(pieces)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, target)
    except BaseException as error:
        if temporary:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
        if isinstance(error, OSError):
            raise StorageError(f"it cannot be written ({error.strerror})", where=str(target)) from error
        raise
