"""`mcptui call` and the like on a server that is up: asks the running mcptui, and passes on what it writes.

Nothing is sent to the server before the request `up.run` is sent, and that is never repeated.
"""

import argparse
import os
import stat
import sys

import tui
from tui.addons.up.running import Door, doors, gone, result_of

TYPE_CHECKING = False  # importing `typing` takes a tenth of the start of a command
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

ANSWER_SECONDS = 10.0
"""How long a running mcptui may take to say whether the server is up there."""

_OWN = ("own", "root", "sampling", "accept_changes", "accept_suspicious")
"""Options of a command that starts its server."""


def attached(
    args: argparse.Namespace, named: str | None, words: "Sequence[str]", given: str | None
) -> int | None:
    """Have it done where the server is up, and return the exit code; None if it is up nowhere.

    Raises McptuiError, also if the other mcptui ends meanwhile.
    """
    options = vars(args)
    if any(options.get(name) for name in _OWN) or not _is_file(options.get("output")):
        return None
    for door in doors():
        if (found := _found(door, options, named)) is not None:
            params = {"args": _absolute(options), "words": list(words), "given": given, **found}
            said = _asked(door, "up.run", {**params, "tty": sys.stdout.isatty()}, args.command, None)
            if said is None:
                raise gone(door.words)
            if isinstance(code := result_of(said), int):
                return code
            raise gone(door.words)
    return None


def _is_file(output: "Any") -> bool:
    """Return whether the other process can write `-o`: a link or a pipe, as /dev/stdout, is another there."""
    try:
        mode = os.lstat(os.path.expanduser(output or "")).st_mode
    except OSError:
        return True
    return stat.S_ISREG(mode) or stat.S_ISDIR(mode)


def _absolute(options: "Mapping[str, Any]") -> "dict[str, Any]":
    """Return the options with the paths of files as another process finds them."""
    found = dict(options)
    if found.get("output"):
        found["output"] = os.path.abspath(os.path.expanduser(found["output"]))
    if str(found.get("elicit", "")).startswith("@"):
        found["elicit"] = "@" + os.path.abspath(os.path.expanduser(found["elicit"][1:]))
    return found


def _found(door: Door, options: "Mapping[str, Any]", named: str | None) -> "Mapping[str, Any] | None":
    """Return the server if it is up there, after saying so."""
    if door.refused:
        print(f"· not using {door.words}: {door.refused}", file=sys.stderr)
        return None
    if door.about.get("version") != tui.__version__:
        return None
    params = {"named": named, "args": options, "env": dict(os.environ), "cwd": os.getcwd()}
    said = _asked(door, "up.find", params, str(options["command"]), ANSWER_SECONDS)
    found = said.get("result") if said is not None else None
    if not isinstance(found, dict):
        return None
    if words := found.get("said"):
        print(f"· {words} in {door.words}", file=sys.stderr, flush=True)
    return found if "server" in found else None


def _asked(
    door: Door, method: str, params: "Mapping[str, Any]", command: str, seconds: float | None
) -> "Mapping[str, Any] | None":
    """Ask, and write what comes before the answer."""

    def write(note: "Any") -> None:
        match note:
            case {"err": str(text)}:
                sys.stderr.write(text)
                sys.stderr.flush()
            case {"out": str(text)}:
                sys.stdout.write(text)
            case {"data": str(text)}:
                from base64 import b64decode

                sys.stdout.flush()
                sys.stdout.buffer.write(b64decode(text))
            case {"wait": True}:
                door.wait()
                print(f"· waiting for your answer in {door.words}", file=sys.stderr, flush=True)

    return door.ask(method, params, f"mcptui {command}", write, seconds)
