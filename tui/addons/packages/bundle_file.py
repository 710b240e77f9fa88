"""Reads and unpacks a bundle (.mcpb).

A bundle is a zip file that is validated first and limited in size. The whole bundle is rejected if an entry
points outside the folder, is not a regular file, is encrypted, or would overwrite another entry. Nothing in
it is run.
"""

import hashlib
import json
import os
import shutil
import stat
import struct
import tempfile
import unicodedata
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from tui.core.errors import UsageError, reason_of
from tui.core.files.private_files import FOLDER_MODE, make_folder
from tui.core.files.text_files import NotText, text_of
from tui.core.text import clean_line, quoted_name
from tui.core.units import size

MIB = 1024 * 1024
MAX_FILE = 512 * MIB
MAX_UNPACKED = 2048 * MIB
MAX_ENTRIES = 50_000
MAX_MANIFEST = MIB
MAX_PATH = 1024
MAX_PART = 255
CHUNK = 256 * 1024
MANIFEST = "manifest.json"
_AGAIN = "Download it again."
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_DAMAGES = (
    zipfile.BadZipFile,
    NotImplementedError,
    OSError,
    RuntimeError,
    ValueError,
    EOFError,
    zlib.error,
    struct.error,
)
"""Exceptions that reading a damaged zip raises."""


class BundleFile:
    """An open bundle. `digest` is its SHA-256 in hexadecimal; `manifest` the parsed manifest.json."""

    def __init__(self, file: IO[bytes], expected: str = "") -> None:
        """Validate the whole bundle. `expected` is its SHA-256, or "". Raises UsageError if a check fails."""
        self._file = file
        self.digest = self._digest()
        if expected and expected.strip().lower().removeprefix("sha256:") != self.digest:
            raise UsageError(
                f"its SHA-256 is {self.digest}, which is not the expected one.",
                next_step="This is not the published file. Do not use it.",
            )
        try:
            self._zip = zipfile.ZipFile(file)
            self._entries = _checked(self._zip)
            self.manifest = self._read_manifest()
        except (
            zipfile.BadZipFile,
            NotImplementedError,
            OSError,
            RuntimeError,
            ValueError,
            EOFError,
        ) as error:
            raise UsageError(f"not a valid zip file: {reason_of(error)}.", next_step=_AGAIN) from error
        except zipfile.zlib.error as error:  # type: ignore[attr-defined]
            raise UsageError(f"damaged: {reason_of(error)}.", next_step=_AGAIN) from error

    @property
    def files(self) -> int:
        return sum(not entry.is_dir() for entry in self._entries)

    @property
    def names(self) -> frozenset[str]:
        """The paths of its files."""
        return frozenset(entry.filename for entry in self._entries if not entry.is_dir())

    @property
    def unpacked(self) -> int:
        """Total size of its files in bytes, as declared."""
        return sum(entry.file_size for entry in self._entries)

    def unpack(self, folder: Path, program: str = "") -> None:
        """Unpack all files into a new folder that replaces an older one. If that fails, nothing is unpacked.

        `program` becomes executable, whatever its mode in the zip. Raises UsageError.
        """
        try:
            make_folder(folder.parent)
            fresh = Path(tempfile.mkdtemp(prefix=".unpacking-", dir=folder.parent))
            fresh.chmod(FOLDER_MODE)
            try:
                for entry in self._entries:
                    self._unpack_entry(entry, fresh, is_program=entry.filename == program)
                if self._digest() != self.digest:
                    raise UsageError("it changed while it was read.")
                if folder.exists():
                    shutil.rmtree(folder)
                fresh.rename(folder)
            except BaseException:
                shutil.rmtree(fresh, ignore_errors=True)
                raise
        except _DAMAGES as error:
            raise UsageError(f"cannot unpack it: {reason_of(error)}.") from error

    def _unpack_entry(self, entry: zipfile.ZipInfo, folder: Path, *, is_program: bool) -> None:
        path = folder.joinpath(*_parts(entry.filename))
        if entry.is_dir():
            make_folder(path)
            return
        make_folder(path.parent)
        runs = is_program or bool(entry.external_attr >> 16 & stat.S_IXUSR)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)
        left = entry.file_size
        with os.fdopen(os.open(path, flags, 0o700 if runs else 0o600), "wb") as target:
            with self._zip.open(entry) as source:
                while block := source.read(CHUNK):
                    left -= len(block)
                    if left < 0:
                        raise zipfile.BadZipFile(f"{entry.filename} is larger than declared")
                    target.write(block)

    def _digest(self) -> str:
        self._file.seek(0)
        found, total = hashlib.sha256(), 0
        while block := self._file.read(CHUNK):
            total += len(block)
            if total > MAX_FILE:
                raise UsageError(f"larger than {size(MAX_FILE)}.")
            found.update(block)
        return found.hexdigest()

    def _read_manifest(self) -> Any:
        entry = next((one for one in self._entries if one.filename == MANIFEST), None)
        if entry is None:
            raise UsageError(f"not a bundle: no {MANIFEST}.")
        with self._zip.open(entry) as source:
            text = source.read(MAX_MANIFEST + 1)
        if len(text) > MAX_MANIFEST:
            raise UsageError(f"its {MANIFEST} is larger than {size(MAX_MANIFEST)}.")
        try:
            return json.loads(text_of(text))
        except NotText as error:
            raise UsageError(f"its {MANIFEST} {error}.") from None
        except (ValueError, RecursionError) as error:
            raise UsageError(f"its {MANIFEST} is not JSON: {reason_of(error)}.") from None


def _at_once(name: str, flags: int) -> int:
    """Open a file without blocking: a FIFO without a writer would block forever."""
    return os.open(name, flags | getattr(os, "O_NONBLOCK", 0))


@contextmanager
def open_bundle(path: Path, expected: str = "") -> Iterator[BundleFile]:
    """Open a bundle. Raises UsageError with its path if it is invalid."""
    where = clean_line(str(path), 400)
    try:
        file = open(path, "rb", opener=_at_once)
    except OSError as error:
        raise UsageError(f"cannot read it: {error.strerror}.", where=where) from None
    with file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise UsageError("not a file.", where=where)
        try:
            yield BundleFile(file, expected)
        except UsageError as error:
            raise (
                error if error.where else UsageError(error.message, where=where, next_step=error.next_step)
            ) from None


def _checked(found: zipfile.ZipFile) -> list[zipfile.ZipInfo]:
    """Return the entries; raises UsageError if one must not be unpacked."""
    entries = found.infolist()
    if len(entries) > MAX_ENTRIES:
        raise UsageError(f"it contains more than {MAX_ENTRIES:,} files.")
    if sum(entry.file_size for entry in entries) > MAX_UNPACKED:
        raise UsageError(f"it unpacks to more than {size(MAX_UNPACKED)}.")
    kinds: dict[str, tuple[str, bool]] = {}
    written: set[str] = set()
    for entry in entries:
        if problem := _problem(entry):
            raise UsageError(f"unsafe bundle: {quoted_name(entry.orig_filename, 120)} {problem}.")
        parts = _parts(entry.filename)
        for depth in range(1, len(parts) + 1):
            is_file = depth == len(parts) and not entry.is_dir()
            path = "/".join(parts[:depth])
            # Some file systems ignore case or Unicode form, so different names may be the same file.
            key = unicodedata.normalize("NFC", unicodedata.normalize("NFC", path).casefold())
            other, was_file = kinds.setdefault(key, (path, is_file))
            if other != path or was_file != is_file or (is_file and key in written):
                raise UsageError(
                    f"unsafe bundle: {quoted_name(path, 120)} and {quoted_name(other, 120)} would "
                    "overwrite each other."
                )
            if is_file:
                written.add(key)
    return entries


def _problem(entry: zipfile.ZipInfo) -> str:
    """Return why an entry must not be unpacked, or ""."""
    name = entry.orig_filename
    if name != entry.filename or not name or "\0" in name:
        return "has an invalid name"
    if "\\" in name or not name.isprintable():
        return "has a name with a backslash or a control character"
    if name.startswith("/") or ":" in name.partition("/")[0]:
        return "is an absolute path"
    parts = _parts(name)
    if any(part in ("", ".", "..") for part in parts):
        return "points outside its folder"
    if len(name) > MAX_PATH or any(len(part.encode("utf-8", "replace")) > MAX_PART for part in parts):
        return "has a name that is too long"
    kind = stat.S_IFMT(entry.external_attr >> 16)
    if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
        return "is a link" if kind == stat.S_IFLNK else "is not a file"
    if entry.flag_bits & 1:
        return "is encrypted"
    if entry.compress_type not in _METHODS:
        return "uses an unsupported compression"
    return ""


def _parts(name: str) -> list[str]:
    return name.removesuffix("/").split("/")
