"""Reads, unpacks and converts a bundle (.mcpb).

A bundle is a zip file that is validated first and limited in size. The whole bundle is rejected if an entry
points outside the folder, is not a regular file, is encrypted, or would overwrite another entry. Nothing in
it is run. Its manifest is untrusted text of its publisher: only the variables of the format are replaced, and
anything else that looks like a reference stays literal.
"""

import hashlib
import json
import os
import re
import stat
import struct
import sys
import zipfile
import zlib
from collections.abc import Container, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from tui.addons.packages.server_inputs import ServerInput, Values, checked_text, fill_template
from tui.core.errors import UsageError, reason_of
from tui.core.files import IrregularError, NotText, make_folder, open_file, text_of
from tui.core.text import clean_line, mapping, object_in, quoted_name, text_in
from tui.core.units import number_limit, size
from tui.settings.references import escaped
from tui.storage.files.archives import collision, name_fault, new_folder

MIB = 1024 * 1024
MAX_FILE = 512 * MIB
MAX_UNPACKED = 2048 * MIB
MAX_ENTRIES = 50_000
MAX_MANIFEST = MIB
CHUNK = 256 * 1024
MANIFEST = "manifest.json"
_AGAIN = "Download it again."
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_DAMAGES = (zipfile.BadZipFile, OSError, RuntimeError, ValueError, EOFError, zlib.error, struct.error)
"""Exceptions that reading a damaged zip raises."""


class BundleFile:
    """An open bundle, with its SHA-256 in hexadecimal, its parsed manifest.json and the paths of its files.

    `unpacked` is their total size in bytes, as declared.
    """

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
        except _DAMAGES as error:
            raise UsageError(f"not a valid zip file: {reason_of(error)}.", next_step=_AGAIN) from error
        self.names = frozenset(entry.filename for entry in self._entries if not entry.is_dir())
        self.unpacked = sum(entry.file_size for entry in self._entries)

    def unpack(self, folder: Path, program: str = "") -> None:
        """Unpack all files into a new folder that replaces an older one. If that fails, nothing is unpacked.

        `program` becomes executable, whatever its mode in the zip. Raises UsageError.
        """
        try:
            with new_folder(folder) as fresh:
                for entry in self._entries:
                    self._unpack_entry(entry, fresh, is_program=entry.filename == program)
                if self._digest() != self.digest:
                    raise UsageError("it changed while it was read.")
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


@contextmanager
def open_bundle(path: Path, expected: str = "") -> Iterator[BundleFile]:
    """Open a bundle. Raises UsageError with its path if it is invalid."""
    where = clean_line(str(path), 400)
    try:
        file = open_file(path)
    except IrregularError:
        raise UsageError("not a file.", where=where) from None
    except OSError as error:
        raise UsageError(f"cannot read it: {reason_of(error)}.", where=where) from None
    with file:
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
    for entry in entries:
        if problem := _problem(entry):
            raise UsageError(f"unsafe bundle: {quoted_name(entry.orig_filename, 120)} {problem}.")
    if problem := collision((entry.filename, entry.is_dir()) for entry in entries):
        raise UsageError(f"unsafe bundle: {problem}")
    return entries


def _problem(entry: zipfile.ZipInfo) -> str:
    """Return why an entry must not be unpacked, or ""."""
    name = entry.orig_filename
    if name != entry.filename:
        return "has an invalid name"
    if fault := name_fault(name):
        return fault
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


KINDS = frozenset({"string", "number", "boolean", "directory", "file"})
MAX_ITEMS = 200
_VARIABLE = re.compile(r"\$\{([^{}]{1,200})\}")
_NAME = re.compile(r"[A-Za-z0-9][\w.-]{0,63}", re.ASCII)
_ENV_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_INPUT = "user_config."


@dataclass(frozen=True, slots=True)
class Bundle:
    """A validated manifest. `inputs` are the values that it requires from the user.

    `command`, `args` and `env` start it on this platform, as written. `is_binary`: it contains its own
    program. `entry_point` is the file that it declares as its entry point, or "".
    """

    name: str
    version: str
    title: str
    description: str
    author: str
    inputs: tuple[ServerInput, ...]
    command: str
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    is_binary: bool = False
    entry_point: str = ""

    def table(self, folder: Path, values: Values) -> dict[str, Any]:
        """Return the server as a table of the configuration, with its files in `folder`.

        Raises UsageError for a value that cannot be used.
        """

        def filled(text: str) -> str:
            def value(name: str) -> str | None:
                texts = values.get(name.removeprefix(_INPUT), ()) if name.startswith(_INPUT) else None
                if texts is not None and len(texts) > 1:
                    what = clean_line(name.removeprefix(_INPUT), 60)
                    raise UsageError(
                        f"{what} can only have one value: it is part of {quoted_name(text, 80)}."
                    )
                return None if texts is None else "".join(texts)

            return fill_template(_VARIABLE, text, value, lambda part: _with_places(part, folder))

        def words(text: str) -> Sequence[str]:
            """Return the arguments for one text: several if its value has several."""
            alone = _VARIABLE.fullmatch(text)
            if alone is not None and alone[1].startswith(_INPUT):
                return values.get(alone[1].removeprefix(_INPUT), ())
            return [filled(text)]

        command = filled(self.command)
        own = folder / self.command
        if not os.path.isabs(command) and "/" in self.command:
            command = escaped(str(own))
        table: dict[str, Any] = {"command": command}
        args = [word for text in self.args for word in words(text)]
        env = {name: text for name, said in self.env.items() if (text := filled(said))}
        table |= {"args": args} if args else {}
        table |= {"env": env} if env else {}
        return table | {"cwd": escaped(str(folder))}

    def program(self) -> str:
        """Return the path of the program in the bundle, or "" if it is installed on this machine."""
        path = _own_path(self.command)
        return path if "/" in self.command and "${" not in path else ""

    def missing(self, names: Container[str]) -> str:
        """Return the file that it starts if that is missing from the bundle, otherwise ""."""
        needed = (_own_path(self.entry_point), self.program() if self.is_binary else "")
        lost = (
            path
            for path in needed
            if path and not path.startswith("/") and path not in names and f"{path}.exe" not in names
        )
        return next(lost, "")


def bundle_of(manifest: Any, platform: str = sys.platform) -> Bundle:
    """Return the bundle that a manifest describes for a platform. Raises UsageError if it is unusable."""
    if not isinstance(manifest, Mapping):
        raise _unusable("is not a JSON object")
    if not (text_in(manifest, "manifest_version") or text_in(manifest, "dxt_version")):
        raise _unusable("has no manifest_version")
    name, version = text_in(manifest, "name"), text_in(manifest, "version")
    if not name or not version:
        raise _unusable(f"has no {'name' if not name else 'version'}")
    platforms = object_in(manifest, "compatibility").get("platforms")
    if isinstance(platforms, list) and platforms and platform not in platforms:
        shown = ", ".join(clean_line(str(one), 20) for one in platforms[:5])
        raise UsageError(f"the bundle requires {shown}. This is {platform}.")
    server = object_in(manifest, "server")
    config = object_in(server, "mcp_config")
    config = {**config, **object_in(object_in(config, "platform_overrides"), platform)}
    command, args, env = _launch(config)
    inputs = tuple(_inputs(manifest.get("user_config", {})))
    known = {one.name for one in inputs}
    for found in (found for text in (command, *args, *env.values()) for found in _VARIABLE.findall(text)):
        if found.startswith(_INPUT) and found.removeprefix(_INPUT) not in known:
            raise _unusable(f"uses ${{{clean_line(found, 80)}}}, which its user_config does not define")
    return Bundle(
        name=name,
        version=version,
        title=text_in(manifest, "display_name"),
        description=text_in(manifest, "description"),
        author=text_in(object_in(manifest, "author"), "name"),
        inputs=inputs,
        command=command,
        args=tuple(args),
        env=env,
        is_binary=text_in(server, "type") == "binary",
        entry_point=text_in(server, "entry_point"),
    )


def _launch(config: Mapping[str, Any]) -> tuple[str, list[str], dict[str, str]]:
    """Return command, args and env of a manifest as written. Raises UsageError if they are unusable."""
    command = text_in(config, "command")
    if not command:
        raise _unusable("has no command (server.mcp_config.command)")
    args, env = config.get("args", []), config.get("env", {})
    if not isinstance(args, list) or not all(isinstance(one, str) for one in args):
        raise _unusable("has args that are not an array of strings (server.mcp_config.args)")
    if not isinstance(env, Mapping) or not all(
        _ENV_NAME.fullmatch(k) and isinstance(v, str) for k, v in env.items()
    ):
        raise _unusable("has an env that is not an object of strings (server.mcp_config.env)")
    if max(len(args), len(env)) > MAX_ITEMS:
        raise _unusable(f"has more than {MAX_ITEMS} args or variables (server.mcp_config)")
    for text in (command, *args, *env.values()):
        checked_text(text, "the manifest")
    return command, args, dict(env)


def _own_path(path: str) -> str:
    return path.removeprefix("${__dirname}/").removeprefix("./")


def folder_name(bundle: Bundle, digest: str) -> str:
    """Return the name of the folder for its files, unique for each bundle."""
    kept = re.sub(r"[^A-Za-z0-9._-]+", "-", f"{bundle.name}-{bundle.version}").strip(".-")[:80] or "bundle"
    return f"{kept}-{digest[:12]}"


def _inputs(said: Any) -> Iterator[ServerInput]:
    if not isinstance(said, Mapping):
        raise _unusable("has a user_config that is not an object")
    for name, one in list(said.items())[:MAX_ITEMS]:
        kind = text_in(mapping(one), "type")
        if not _NAME.fullmatch(name) or kind not in KINDS:
            raise _unusable(f"requires {quoted_name(name, 60)} in an unsupported way (user_config)")
        yield ServerInput(
            name,
            description=text_in(one, "description") or text_in(one, "title"),
            kind=kind,
            required=one.get("required") is True,
            secret=one.get("sensitive") is True,
            default=_default(one.get("default")),
            several=one.get("multiple") is True,
            minimum=number_limit(one.get("min")),
            maximum=number_limit(one.get("max")),
        )


def _default(said: Any) -> tuple[str, ...] | None:
    """Return a default as texts that contain only variables of the format."""
    listed = said if isinstance(said, list) else [said]
    texts = []
    for one in listed[:MAX_ITEMS]:
        if isinstance(one, bool):
            texts.append(str(one).lower())
        elif isinstance(one, int | float):
            texts.append(f"{one:g}" if isinstance(one, float) else str(one))
        elif isinstance(one, str) and one and one.isprintable():
            texts.append(_with_places(one))
    return tuple(texts) or None


def _with_places(text: str, folder: Path | None = None) -> str:
    """Return a text of the manifest, escaped, with this machine's paths and the folder filled in."""
    home = Path.home()
    places = {
        "HOME": str(home),
        "DESKTOP": str(home / "Desktop"),
        "DOCUMENTS": str(home / "Documents"),
        "DOWNLOADS": str(home / "Downloads"),
        "pathSeparator": os.sep,
        "/": os.sep,
        **({} if folder is None else {"__dirname": str(folder)}),
    }
    filled = _VARIABLE.sub(lambda found: places.get(found[1], found[0]), text)
    return escaped(filled)


def _unusable(problem: str) -> UsageError:
    return UsageError(f"manifest.json {problem}.")
