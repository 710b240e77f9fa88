"""Reads files that a person wrote, and survives what may be there instead."""

import os
import stat
from pathlib import Path

MAX_CONFIG_BYTES = 4 * 1024 * 1024
"""A configuration larger than this is a mistake; reading it would only cost memory."""


class Unreadable(Exception):
    """The file is there, or should be, but cannot be used; the text says why, without its name."""


def read_bounded(path: Path, limit: int = MAX_CONFIG_BYTES) -> str:
    """Return the text of a regular file of at most `limit` bytes, without its byte order mark.

    Never waits: a FIFO or a device is refused, not read.

    Raises:
        FileNotFoundError: there is nothing at `path`.
        Unreadable: anything else that keeps it from being text.
    """
    try:
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0))
    except FileNotFoundError:
        raise
    except (OSError, ValueError) as error:
        raise Unreadable(f"cannot be opened: {getattr(error, 'strerror', None) or error}") from error
    try:
        mode = os.fstat(handle).st_mode
        if not stat.S_ISREG(mode):
            raise Unreadable("is a directory, not a file" if stat.S_ISDIR(mode) else "is not a regular file")
        with open(handle, "rb", closefd=False) as file:
            raw = file.read(limit + 1)
    except OSError as error:
        raise Unreadable(f"cannot be read: {error.strerror}") from error
    finally:
        os.close(handle)
    return _decoded(raw, limit)


def _decoded(raw: bytes, limit: int) -> str:
    if len(raw) > limit:
        raise Unreadable(f"is larger than {limit // 1024} KiB and was not read")
    if b"\0" in raw:
        line = raw.count(b"\n", 0, raw.index(b"\0")) + 1
        raise Unreadable(f"is not text: there is a null byte in line {line}")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise Unreadable(f"is not UTF-8 text: byte 0x{raw[error.start]:02x} in line {line}") from error
