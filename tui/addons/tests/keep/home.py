"""Where a kept call belongs: how its file names the server, and which file that is.

Paths of the project become relative to the file, so that it also runs in another clone. A folder to start in
is written only if the command needs it. No secret enters it: one in `env`,
`headers` or `url` becomes `${NAME}`, and a command with a secret is not written.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from tui.addons.tests.suite.case import ENDING, SuiteServer
from tui.core.errors import UsageError
from tui.core.files import stamp_of
from tui.core.language.translate import message
from tui.core.secrets.commands_and_urls import masked_arguments
from tui.core.servers import EraChoice, Transport
from tui.core.text import clean_line
from tui.runtime.copies.origin import Origin, has_secret
from tui.settings.locations import is_sample
from tui.settings.names import fitted_name
from tui.settings.references import names_in
from tui.settings.specs import resolved

INSTALLED = frozenset({"node_modules", "site-packages", "dist-packages", ".venv", "venv"})
"""Folders of installed packages, which are nobody's project."""

MOST_FOLDERS = 40


@dataclass(frozen=True, slots=True)
class Written:
    """A server as a file names it; `needs` are the variables to set when it is run."""

    server: SuiteServer
    needs: tuple[str, ...] = ()


def written(origin: Origin, folder: Path, redact: Callable[[str], str]) -> Written:
    """Return the server with its command or URL written out, for a file in `folder`.

    Raises UsageError if a secret is in the command.
    """
    spec = origin.spec
    era = "" if spec.era is EraChoice.AUTO else spec.era.value
    usual = Transport.STDIO if spec.url is None else Transport.HTTP
    server = SuiteServer(transport="" if spec.transport is usual else spec.transport.value, era=era)
    if spec.url is not None:
        headers = {name: origin.value("headers", name, value, redact) for name, value in spec.headers.items()}
        server = replace(server, url=origin.url(redact), headers=headers)
    else:
        command, cwd = _command(origin, folder, redact)
        env = {name: origin.value("env", name, value, redact) for name, value in spec.env.items()}
        server = replace(server, command=command, cwd=cwd, env=env)
    texts = (server.url, *server.headers.values(), *server.env.values())
    return Written(server, tuple(dict.fromkeys(name for text in texts for name in names_in(text)[0])))


def _command(origin: Origin, folder: Path, redact: Callable[[str], str]) -> tuple[tuple[str, ...], str]:
    spec = origin.spec
    words = (spec.command, *spec.args)
    if not spec.command:
        raise UsageError(
            message("How this server was started is unknown."),
            next_step=message("Start it with mcptui, and call again."),
        )
    hidden = [*masked_arguments(words)]
    if hidden != [*words] or any(has_secret(word, redact) for word in words):
        raise UsageError(
            message("The command of this server contains a secret, which must not be in a test file."),
            next_step=message(
                "Pass it in a variable of its environment, or configure the server and use its name."
            ),
        )
    is_own_folder = bool(spec.folder) and not spec.cwd
    base = str(folder) if is_own_folder else origin.base
    return command_in(folder, words, base, is_chosen=bool(spec.cwd))


# ---- the file ----------------------------------------------------------------------------------------------


def folder_for(origin: Origin, current: Path) -> Path:
    """Return the folder for a new file.

    It is the nearest project above the script of the command, if it can be written, else the current folder.
    The samples are nobody's project.
    """
    if is_sample(origin.spec):
        return current
    start = next((path.parent for path in _files(origin)), Path(origin.base))
    start = start if origin.spec.url is None else current
    for folder in (start, *start.parents)[:MOST_FOLDERS]:
        if INSTALLED.isdisjoint(folder.parts) and any((folder / name).exists() for name in ROOTS):
            return folder if os.access(folder, os.W_OK) else current
    return current


def _files(origin: Origin) -> Iterator[Path]:
    """Yield the files of a command: its script first, its program last."""
    for word in (*origin.spec.args, origin.spec.command):
        path = os.path.normpath(os.path.join(origin.base, word))
        if (os.sep in word or "." in word) and "\0" not in word and os.path.isfile(path):
            yield Path(path)


@dataclass(frozen=True, slots=True)
class Changed:
    """A file of a command, and when it last changed, in seconds since the epoch."""

    name: str
    at: float


def last_change(origin: Origin) -> Changed | None:
    """Return the file of a command that changed last, None if it names none."""
    files = _files(origin) if origin.spec.url is None else ()
    found = (Changed(path.name, at) for path in files if (at := _changed_at(path)))
    return max(found, key=lambda one: one.at, default=None)


def _changed_at(path: Path) -> float:
    stamp = stamp_of(path)
    return stamp[3] / 1e9 if stamp is not None else 0.0


def runs_elsewhere(origin: Origin, folder: Path, redact: Callable[[str], str]) -> bool:
    """Return whether a file in `folder` can have the command of a configured server written out.

    Its script is in that folder or below, and it needs no secret: it runs without that configuration.
    """
    script = next(_files(origin), None) if origin.spec.url is None else None
    if script is None or not script.is_relative_to(folder):
        return False
    try:
        return not written(origin, folder, redact).needs
    except UsageError:
        return False


def file_name(server: str) -> str:
    """Return the name of the file for a server."""
    return f"{fitted_name(clean_line(server, 60)) or 'server'}{ENDING}"


def is_same_server(one: SuiteServer, other: SuiteServer, folder: Path) -> bool:
    """Return whether two files in a folder name the same server: its name, its program, or its URL."""
    return _identity(one, folder) == _identity(other, folder)


def _identity(server: SuiteServer, folder: Path) -> tuple[object, ...]:
    program = program_in(folder, server.command, server.cwd) if server.command else ()
    return (server.name, server.url, *program)


def named(origin: Origin) -> Written:
    """Return a configured server by its name."""
    return Written(SuiteServer(name=origin.name))


ROOTS = (".git", "pyproject.toml", "package.json")
"""What the folder of a project has."""

MOST_UP = 2
"""Folders above that of a file outside of a project, from which paths are still written relative to it."""


def command_in(
    folder: Path, words: Sequence[str], base: str, *, is_chosen: bool
) -> tuple[tuple[str, ...], str]:
    """Return a command as a file in `folder` has it, and the folder to start in, "" for that of the file.

    The command ran in `base`. With `is_chosen`, somebody configured that it starts there.
    """
    full = resolved(words, Path(base))
    cwd = os.path.relpath(base, folder) if is_chosen or _needs(full, base, folder) else ""
    cwd = "" if cwd == "." else cwd
    start = os.path.normpath(folder / cwd)
    command = (
        _relative(word, full_word, base, start, folder, is_program=not at)
        for at, (word, full_word) in enumerate(zip(words, full, strict=True))
    )
    return tuple(command), cwd


def program_in(folder: Path, words: Sequence[str], cwd: str) -> Sequence[str]:
    """Return the command of a file in `folder` with absolute paths, to compare it with another one.

    If it has none, the folder in which it starts is part of it.
    """
    start = Path(os.path.normpath(folder / cwd))
    full = resolved(words, start)
    return full if _paths_in(full[1:]) else [*full, str(start)]


def _needs(words: Sequence[str], base: str, folder: Path) -> bool:
    """Return whether a command depends on the folder in which it ran."""
    if found := _paths_in(words[1:]):
        top = _project(folder) or folder
        return Path(base).is_relative_to(top) and any(Path(word).is_relative_to(base) for word in found)
    return _has_files(base)


def _paths_in(words: Sequence[str]) -> list[str]:
    return [word for word in words if os.path.isabs(word) and os.path.lexists(word)]


def _has_files(folder: str) -> bool:
    try:
        with os.scandir(folder) as entries:
            return next(entries, None) is not None
    except OSError:
        return True


def _project(folder: Path) -> Path | None:
    """Return the repository of a folder, or else the nearest project."""
    folders = (folder, *folder.parents)
    for names in ((".git",), ROOTS):
        for one in folders:
            if any((one / name).exists() for name in names):
                return one
    return None


def _relative(word: str, full: str, base: str, start: str, folder: Path, *, is_program: bool) -> str:
    """Return a word of a command; a path is written relative to `start` if it moves along with the file."""
    if not os.path.isabs(full) or not os.path.lexists(full):
        return word
    if not _moves_along(full, folder, is_program=is_program):
        return full if start != os.path.normpath(base) else word
    found = os.path.relpath(full, start)
    return os.path.join(".", found) if is_program and os.sep not in found else found


def _moves_along(path: str, folder: Path, *, is_program: bool) -> bool:
    """Return whether a path is in the project of a file, or near a file that is in none."""
    if (top := _project(folder)) is not None or is_program:
        return Path(path).is_relative_to(top or folder)
    near, common = os.path.relpath(path, folder), os.path.commonpath([path, folder])
    is_shared = Path(common) in (Path.home(), *Path.home().parents)
    return Path(path).is_relative_to(folder) or (near.count("..") <= MOST_UP and not is_shared)
