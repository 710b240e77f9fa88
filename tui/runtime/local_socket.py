"""Local sockets between processes of one user: where they are, who is at the other end, and their lines.

A message is a JSON value in one line of at most `MAX_LINE` bytes. Sockets are private, and each end checks
that the other one is a process of the same user. Loads neither asyncio nor the runtime: a command that only
asks another process starts with this.
"""

import json
import os
import socket
import stat
import struct
import sys
from collections import namedtuple
from contextlib import suppress
from pathlib import Path
from zlib import crc32

from tui.settings.locations import APP, state_dir

TYPE_CHECKING = False  # importing `typing` takes a tenth of the start of a command
if TYPE_CHECKING:
    from asyncio import StreamReader, StreamWriter
    from collections.abc import Mapping, Sequence
    from typing import Any

Peer = namedtuple("Peer", "pid uid")  # the process at the other end
SUFFIX = ".sock"
MAX_LINE = 128 * 1024 * 1024
MAX_PATH = 103
"""Bytes of the path of a socket: 108 with a zero on Linux, 104 on macOS."""

_LONGEST_NAME = 20
_CONNECT_SECONDS = 2.0
_BACKLOG = 64

is_supported = hasattr(socket, "AF_UNIX") and hasattr(os, "geteuid")
"""Whether this system has local sockets whose peers are known."""


def sockets_folder(kind: str, env: "Mapping[str, str]" = os.environ) -> Path:
    """Return the folder of the sockets of a kind: in the runtime folder, else in the state folder.

    Each state folder has its own, so that a process with another home never meets those of this one. If its
    path is too long for a socket, it is a private folder for temporary files.
    """
    runtime = env.get("XDG_RUNTIME_DIR", "")
    if runtime and os.path.isabs(runtime) and _is_private(runtime):
        folder = Path(runtime) / APP / f"{kind}-{_mark(state_dir())}"
    else:
        folder = state_dir() / "run" / kind
    if len(os.fsencode(folder)) + _LONGEST_NAME <= MAX_PATH:
        return folder
    from tempfile import gettempdir

    return Path(gettempdir()) / f"{APP}-{os.geteuid()}-{_mark(folder)}"


def _mark(folder: Path) -> str:
    return f"{crc32(os.fsencode(folder)):08x}"


def _is_private(folder: "str | Path") -> bool:
    """Return whether a folder, and no link, belongs to this user alone."""
    try:
        found = os.lstat(folder)
    except OSError:
        return False
    return (
        stat.S_ISDIR(found.st_mode)
        and found.st_uid == os.geteuid()
        and stat.S_IMODE(found.st_mode) & 0o077 == 0
    )


def socket_files(folder: Path) -> "Sequence[Path]":
    """Return the sockets in a folder of ours, by name; none in one that others can write to."""
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return ()
    return [folder / name for name in names if name.endswith(SUFFIX)] if _is_private(folder) else ()


def listening(path: Path) -> socket.socket:
    """Return a socket that listens at `path`, in place of one left by a dead process. Raises OSError."""
    from tui.core.files import make_folder

    make_folder(path.parent)
    if not _is_private(path.parent):
        raise PermissionError(13, f"others have access to {path.parent}")
    # Named once it listens: a socket that refuses connections is removed by whoever finds it.
    fresh = path.with_suffix(".new")
    fresh.unlink(missing_ok=True)
    made = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        made.bind(os.fspath(fresh))
        os.chmod(fresh, 0o600)
        made.listen(_BACKLOG)
        made.setblocking(False)
        os.replace(fresh, path)
    except BaseException:
        made.close()
        with suppress(OSError):
            fresh.unlink()
        raise
    return made


def removed(path: Path) -> None:
    """Remove a socket, and its folder if that was for temporary files."""
    with suppress(OSError):
        path.unlink()
    if path.parent.name.startswith(f"{APP}-{os.geteuid()}-"):
        with suppress(OSError):
            path.parent.rmdir()


def connected(path: Path) -> socket.socket | None:
    """Return a connection, blocking; None if nobody listens there any more, or another user does.

    Removes the socket of a dead process.
    """
    made = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    made.settimeout(_CONNECT_SECONDS)
    try:
        made.connect(os.fspath(path))
        made.settimeout(None)
        if is_own(peer_of(made)):
            return made
    except ConnectionRefusedError:
        removed(path)
    except OSError:
        pass
    made.close()
    return None


def peer_of(connection: "Any") -> Peer | None:
    """Return the process at the other end of a socket; None if the system does not tell its user."""
    try:
        if hasattr(socket, "SO_PEERCRED"):
            pid, uid, _ = struct.unpack(
                "3i", connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
            )
            return Peer(pid, uid)
        if sys.platform == "darwin":  # LOCAL_PEERCRED gives a `struct xucred`, LOCAL_PEERPID the process
            _, uid = struct.unpack_from("2I", connection.getsockopt(0, 1, 76))
            (pid,) = struct.unpack("i", connection.getsockopt(0, 2, 4))
            return Peer(pid, uid)
    except (OSError, struct.error):
        pass
    return None


def is_own(peer: Peer | None, uid: int | None = None) -> bool:
    """Return whether a peer is a process of this user."""
    return peer is not None and bool(peer.uid == (os.geteuid() if uid is None else uid))


def line_of(value: "Any") -> bytes:
    """Return a message as its line. Raises ValueError if it is nested too deeply, or too long."""
    try:
        line = json.dumps(value, separators=(",", ":"), default=str).encode() + b"\n"
    except RecursionError:
        raise ValueError("nested too deeply") from None
    if len(line) > MAX_LINE:
        raise ValueError("too large")
    return line


def object_of(line: bytes) -> "Mapping[str, Any]":
    """Return the object in a line, or an empty one for anything else."""
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


async def streams_to(path: Path) -> "tuple[StreamReader, StreamWriter] | None":
    """Return a connection as streams; None as `connected`."""
    import asyncio

    if (made := connected(path)) is None:
        return None
    return await asyncio.open_unix_connection(sock=made, limit=MAX_LINE)
