"""The input of `mcptui run`: the question, stdin, attached files, the system text."""

import json
import os
import select
import stat
import sys
from collections.abc import Sequence
from contextlib import suppress
from io import BytesIO
from pathlib import Path
from typing import Any

from tui.core.attachments import MAX_BYTES, attachment_of
from tui.core.conversation.conversation import Attachment
from tui.core.errors import UsageError, encoding_of, reason_of
from tui.core.files import NotText, open_file, read_limited, text_of
from tui.core.language.translate import message
from tui.core.text import clean_line

MAX_STDIN = 4 * 1024 * 1024
MAX_SYSTEM = 1024 * 1024
PATIENCE = 1.0
"""Seconds to wait for the first bytes of a pipe. Parent processes often leave one open."""

SILENCE = 10.0
"""Seconds without data after which reading an attached pipe fails."""


def question(given: str | None, *, wait: bool = False) -> str:
    """Return the question: from the command line, from stdin, or both.

    Stdin is read if there is no question, if it is "-", or if something is piped or redirected. With `wait`,
    it is read to its end without a timeout. Raises UsageError if the question is empty or too large.
    """
    if given is None and sys.stdin.isatty():
        raise UsageError(
            "a question is required", next_step='Use mcptui run "your question", or - to read it from stdin.'
        )
    parts = [given] if given not in (None, "-") else []
    if given in (None, "-") or wait or _has_input():
        parts.append(_stdin())
    text = "\n\n".join(part.strip() for part in parts if part and part.strip())
    if not text:
        raise UsageError("the question is empty")
    return text


def _has_input() -> bool:
    """Return whether stdin is a pipe or file, not a terminal, /dev/null or a socket."""
    mode = os.fstat(sys.stdin.fileno()).st_mode
    if not stat.S_ISFIFO(mode):
        return stat.S_ISREG(mode)
    ready, _, _ = select.select([sys.stdin], [], [], PATIENCE)
    if not ready:
        print("· stdin is open but empty, ignoring it (use --stdin to wait for it)", file=sys.stderr)
    return bool(ready)


def _stdin() -> str:
    with suppress(OSError, ValueError):
        os.set_blocking(sys.stdin.fileno(), True)  # another program that shares it may have changed this
    try:
        raw = sys.stdin.buffer.read(MAX_STDIN + 1)
    except OSError as error:  # open for writing only, or its terminal is gone
        raise UsageError(f"cannot read stdin: {reason_of(error)}") from None
    if len(raw) > MAX_STDIN:
        raise UsageError(f"the question on stdin is larger than {MAX_STDIN} bytes")
    if name := encoding_of(raw):
        raise UsageError(f"the question on stdin is {name} text, not UTF-8")
    return raw.decode("utf-8", "replace")


def attachments(paths: Sequence[str]) -> tuple[Attachment, ...]:
    """Return the files of `--file`. Raises UsageError if one cannot be read or attached."""
    found = []
    for path in paths:
        try:
            found.append(attachment_of(Path(path).name, read_bounded(path, MAX_BYTES)))
        except (OSError, ValueError) as error:
            why = message("cannot attach it: {why}", why=reason_of(error))
            raise UsageError(why, where=path) from None
    return tuple(found)


def system_text(given: str | None) -> str | None:
    """Return the text of `--system TEXT` or `--system @FILE`.

    Raises UsageError if the file cannot be read, or is too large.
    """
    if given is None or not given.startswith("@"):
        return given
    return read_text(given[1:], MAX_SYSTEM, given[1:])


def read_text(path: str, most: int, where: str) -> str:
    """Return the text of a file or pipe. Raises UsageError, with `where`, if it cannot be read."""
    try:
        return text_of(read_bounded(path, most))
    except NotText as error:
        raise UsageError(f"the file {error}", where=where) from None
    except (OSError, ValueError) as error:
        raise UsageError(f"cannot read the file: {reason_of(error)}", where=where) from None


def read_json(path: str, most: int, where: str) -> Any:
    """Return the value in a JSON file. Raises UsageError, with the line if it is not JSON."""
    try:
        return json.loads(read_text(path, most, where))
    except (ValueError, RecursionError) as error:
        raise UsageError(f"the file is not JSON: {reason_of(error)}", where=where) from None


def read_bounded(path: str, most: int) -> bytes:
    """Return the content of a file or pipe (`--file <(command)`).

    Raises OSError, or ValueError if it is larger than `most` bytes or a pipe without data.
    """
    with open_file(os.path.expanduser(path), pipes=True) as file:
        is_pipe = stat.S_ISFIFO(os.fstat(file.fileno()).st_mode)
        return read_limited(BytesIO(_piped(file.fileno(), most)) if is_pipe else file, most)


def _piped(handle: int, most: int) -> bytes:
    data = bytearray()
    while len(data) <= most:
        if not select.select([handle], [], [], SILENCE)[0]:
            raise ValueError(f"no data from this pipe for {SILENCE:g} s")
        piece = os.read(handle, 65536)
        if not piece:
            break
        data += piece
    if not data:
        raise ValueError("no data from this pipe")
    return bytes(data)


MAX_SCHEMA = 1024 * 1024


class AnswerSchema:
    """The JSON Schema of `--schema FILE`. Loads the validation libraries. Close it after use."""

    def __init__(self, path: str, schema: dict[str, Any]) -> None:
        from tui.core.turn.model_step import AnswerFormat
        from tui.host.schemas.validation import SchemaChecker

        self._path = path
        self._schema = schema
        self._checker = SchemaChecker()
        self.format = AnswerFormat(schema, self._mismatch)
        self.unchecked = ""
        """Why the last answer could not be checked, or ""."""

    @classmethod
    async def read(cls, path: str) -> "AnswerSchema":
        """Read the file. Raises UsageError if it contains no usable JSON Schema."""
        from tui.host.schemas.judge import ModelJudge

        schema = read_json(path, MAX_SCHEMA, path)
        if not isinstance(schema, dict):
            raise UsageError("is not a JSON Schema: it must be an object", where=path)
        if fault := ModelJudge().schema_problem(schema):
            raise UsageError(fault, where=path)
        found = cls(path, schema)
        await found._problem(None)
        if found.unchecked:
            await found.close()
            raise UsageError(f"cannot be used: {found.unchecked}", where=path)
        return found

    async def close(self) -> None:
        await self._checker.close()

    async def answer(self, text: str) -> tuple[Any, str]:
        """Return the JSON value of an answer, and why it does not match the schema, or ""."""
        from tui.model.dialects.argument_repair import answers_in

        problems: list[str] = []
        for value in answers_in(text):
            problems.append(await self._problem(value))
            if not problems[-1]:
                return value, ""
        return None, problems[0] if problems else "not JSON"

    async def _mismatch(self, text: str) -> str:
        return (await self.answer(text))[1]

    async def _problem(self, value: Any) -> str:
        verdict = await self._checker.check(self._schema, value)
        self.unchecked = verdict.unchecked
        return clean_line(verdict.problem, 300)
