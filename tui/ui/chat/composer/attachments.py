"""Attachments of a message: files are read in a thread, resources from their servers."""

import asyncio
import os
import re
import stat
from collections.abc import Callable, Collection
from dataclasses import replace
from pathlib import Path

from tui.core.attachments import MAX_BYTES, attachment_of, attachments_of
from tui.core.context.tool_results import result_text
from tui.core.conversation.conversation import Attachment
from tui.core.errors import McptuiError, reason_of
from tui.core.text import clean_line
from tui.core.tools import CallFailure
from tui.core.workbench import Workbench
from tui.ui.chat.composer.token_area import BEHIND, Reference, Written

_NAMED = re.compile(r"""(?:^|(?<=[\s("']))@(?:"([^"\n]+)"|(\S+))""")


RESOURCE_SECONDS = 30.0

_AGAIN = "The message is back in the input."


class AttachmentReader:
    """Reads attachments: files in a thread, resources from their servers."""

    def __init__(self, workbench: Callable[[], Workbench], folder: Path) -> None:
        self._workbench = workbench
        self._folder = folder
        self._count = 0

    async def read(self, written: Written) -> tuple[Attachment, ...]:
        """Return the attachments of a message, in order; raises `McptuiError` if one cannot be read."""
        found: list[Attachment] = []
        for reference in written.references:
            if reference.attachment is not None:
                found.append(reference.attachment)
            elif reference.path:
                found.append(await asyncio.to_thread(self._file, reference))
            else:
                found += await self._resource(reference)
        return tuple(found)

    def _file(self, reference: Reference) -> Attachment:
        path = self._folder / os.path.expanduser(reference.path)
        try:
            return attachment_of(reference.name, bytes_of(path))
        except (OSError, ValueError) as error:
            reason = reason_of(error)
            raise McptuiError(f"not attached: {reason}", where=reference.name, next_step=_AGAIN) from error

    async def _resource(self, reference: Reference) -> list[Attachment]:
        self._count += 1
        result = await self._workbench().read_resource(
            reference.server, reference.uri, call=f"hand-attach-{self._count}", seconds=RESOURCE_SECONDS
        )
        if result.is_error or result.failure is not CallFailure.NONE:
            reason = result_text(result).strip() or str(result.failure)
            raise McptuiError(f"not attached: {reason}", where=reference.name, next_step=_AGAIN)
        try:
            found = attachments_of(result.content, reference.name)
        except ValueError as error:
            raise McptuiError(f"not attached: {error}", where=reference.name, next_step=_AGAIN) from error
        return [replace(one, server=reference.server) for one in found]


def bytes_of(path: Path) -> bytes:
    """Return the content of a regular file, without waiting for a pipe; raises `OSError` or `ValueError`."""
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0))
    try:
        mode = os.fstat(handle).st_mode
        if not stat.S_ISREG(mode):
            raise ValueError("is a directory" if stat.S_ISDIR(mode) else "not a regular file")
        with open(handle, "rb", closefd=False) as file:
            data = file.read(MAX_BYTES + 1)
    finally:
        os.close(handle)
    if len(data) > MAX_BYTES:
        raise ValueError(f"larger than {MAX_BYTES // 2**20} MiB")
    return data


def not_attached(text: str, folder: Path, servers: Collection[str] = ()) -> str:
    """Return a warning about names that look like attachments but are not, or "".

    Only existing or possible paths and resources of `servers` count, not `@person` and `@app.route("/")`.
    """
    found: dict[str, str] = {}
    for match in _NAMED.finditer(text):
        name = match.group(1) or match.group(2).rstrip(BEHIND)
        server, _, uri = name.partition(":")
        if uri and server in servers:
            found[name] = "only the name was typed: press tab to attach the resource"
        elif why := _why_not(name, folder):
            found[name] = why
    told = ", ".join(f"@{clean_line(name, 80)} ({why})" for name, why in list(found.items())[:3])
    return f"Not attached: {told}." if told else ""


def _why_not(written: str, folder: Path) -> str:
    try:
        path = folder / os.path.expanduser(written)
        if path.is_dir():
            return "a directory"
        if path.is_file():
            return "only the name was pasted: press tab to attach the file"
        if os.path.lexists(path):
            return "not a readable file"
        return "file not found" if "/" in written and path.parent.is_dir() else ""
    except (OSError, ValueError, RuntimeError):
        return ""
