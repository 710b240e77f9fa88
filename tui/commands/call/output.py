"""Output of `mcptui call`, `read` and `prompt`: writes results to stdout or a file.

Text is cleaned, also in a file, because it may be shown on a terminal. JSON escapes unsafe characters. Images
and files are written as their bytes.
"""

import base64
import binascii
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tui.commands.run import write_problem
from tui.core.atomic_write import atomic_write, is_replaceable
from tui.core.errors import UsageError
from tui.core.text import clean, clean_line
from tui.core.tools import BinaryContent, Content, LinkContent, ResourceContent, TextContent, ToolResult
from tui.core.units import size
from tui.core.workbench import PromptResult


class OutputFile:
    """The file of `-o`, checked before the call and written once there is a result."""

    def __init__(self, path: str) -> None:
        """Raises UsageError if it cannot be written."""
        self._path = Path(os.path.expanduser(path))
        if why := write_problem(self._path):
            raise UsageError(f"cannot write the result: {why}.", where=clean_line(path, 4096))

    def write(self, result: ToolResult) -> None:
        """Write the images and files, or the text if there are none. Raises UsageError if that fails."""
        files = [_decoded(item) for item in result.content if isinstance(item, BinaryContent)]
        if not files:
            files = [clean(result_text(result)).encode()]
        elif said := _joined([text for item in result.content if (text := text_of(item)) is not None]):
            write_text(said + "\n")
        for number, data in enumerate(files, 1):
            path = self._path if number == 1 else self._path.with_stem(f"{self._path.stem}-{number}")
            self._write(path, data)
            print(f"· wrote {clean_line(str(path), 4096)} ({size(len(data))})", file=sys.stderr)

    def _write(self, path: Path, data: bytes) -> None:
        try:
            if path != self._path and not is_replaceable(path):
                raise OSError(0, "not a file")
            pieces = [data.decode("utf-8", "surrogateescape")]
            atomic_write(path, pieces, errors="surrogateescape")
        except OSError as error:
            raise UsageError(
                f"cannot write the result: {error.strerror}.", where=clean_line(str(path), 4096)
            ) from None


def write_json(value: Any) -> None:
    """Write JSON as ASCII, which is safe from escape sequences, lone surrogates and narrow locales."""
    sys.stdout.write(json.dumps(value, ensure_ascii=True, indent=2, default=str) + "\n")


def write_text(text: str) -> None:
    """Write cleaned text. On a terminal, end its last line."""
    shown = clean(text)
    if shown and not shown.endswith("\n") and sys.stdout.isatty():
        shown += "\n"
    sys.stdout.flush()
    sys.stdout.buffer.write(shown.encode())


def write_result(result: ToolResult) -> None:
    """Write the result of a tool. Raises UsageError if it is binary and stdout is a terminal."""
    alone = result.content[0] if len(result.content) == 1 else None
    if isinstance(alone, BinaryContent):
        _write_binary(alone)
        return
    text = result_text(result)
    write_text(text if text.endswith("\n") or not text else text + "\n")
    if any(isinstance(item, BinaryContent) for item in result.content):
        print("· save images and files of the result with -o FILE", file=sys.stderr)


def write_contents(result: ToolResult) -> None:
    """Write the content of a resource. Raises UsageError if only files can hold it."""
    files = [item for item in result.content if isinstance(item, BinaryContent)]
    if len(files) > 1 or (files and len(result.content) > 1):
        raise UsageError(
            f"the resource has {len(result.content)} parts, and some are binary.",
            next_step="Write them to files with -o FILE, or print everything with --json.",
        )
    if files:
        _write_binary(files[0])
        return
    write_text(_joined([text_of(item) or "" for item in result.content], mark=""))


def write_prompt(result: PromptResult) -> None:
    """Write the messages of a prompt, each with its role unless it is the only one."""
    texts = [text_of(one.content) or _placeholder(one.content) for one in result.messages]
    if len(texts) != 1:
        texts = [f"{one.role}: {text}" for one, text in zip(result.messages, texts, strict=True)]
    if text := "\n\n".join(one.rstrip("\n") for one in texts):
        write_text(text + "\n")


def result_text(result: ToolResult) -> str:
    """Return the text of a result. Structured content is used only if there is no other content."""
    parts = [text_of(item) if text_of(item) is not None else _placeholder(item) for item in result.content]
    if not parts and result.structured is not None:
        return json.dumps(result.structured, ensure_ascii=False, indent=2)
    return _joined([part for part in parts if part is not None])


def text_of(content: Content) -> str | None:
    """Return the text of a content item, or None for an image, a sound or a file."""
    match content:
        case TextContent(text) | ResourceContent(_, _, text):
            return text
        case LinkContent(uri, name):
            return f"[{name or 'resource'}: {uri}]"
        case _:
            return None


def _placeholder(content: Content) -> str:
    if not isinstance(content, BinaryContent):
        return ""
    return f"[{' '.join(filter(None, (content.kind, content.mime, content.uri)))}, {size(content.size)}]"


def _joined(parts: Sequence[str], mark: str = "\n") -> str:
    return mark.join(part.removesuffix("\n") if mark and part is not parts[-1] else part for part in parts)


def _write_binary(content: BinaryContent) -> None:
    if sys.stdout.isatty():
        kind = clean_line(content.mime, 80) or content.kind
        raise UsageError(
            f"the result is binary ({kind}, {size(content.size)}), and stdout is a terminal.",
            next_step="Write it to a file with -o FILE.",
        )
    sys.stdout.flush()
    sys.stdout.buffer.write(_decoded(content))


def _decoded(content: BinaryContent) -> bytes:
    try:
        return base64.b64decode(content.data, validate=True)
    except (binascii.Error, ValueError):
        raise UsageError(
            f"the {content.kind} from the server is not valid base64.",
            next_step="Use --json to print the raw response.",
        ) from None
