"""`mcptui call` and the like on a server that is up: asks the running mcptui, and passes on what it writes.

Nothing is sent to the server before the request `up.run` is sent, and that is never repeated. Loads neither
asyncio nor the runtime, and errors only if there is one: a call takes 100 ms, of which Python takes half.
"""

import argparse
import os
import sys

import tui
from tui.runtime.local_socket import (
    MAX_LINE,
    connected,
    is_supported,
    line_of,
    object_of,
    socket_files,
    sockets_folder,
)

TYPE_CHECKING = False  # importing `typing` takes a tenth of the start of a command
if TYPE_CHECKING:
    import socket
    from collections.abc import Mapping, Sequence
    from typing import Any

KIND = "up"
ABOUT_SECONDS, ANSWER_SECONDS = 1.0, 10.0
"""How long a running mcptui may take to greet, and to say whether the server is up there."""

_OWN = ("own", "root", "sampling", "accept_changes", "accept_suspicious")
"""Options of a command that starts its server."""


def attached(
    args: argparse.Namespace, named: str | None, words: "Sequence[str]", given: str | None
) -> int | None:
    """Have it done where the server is up, and return the exit code; None if it is up nowhere.

    Raises McptuiError, also if the other mcptui ends meanwhile.
    """
    options = {name: value for name, value in vars(args).items() if _is_plain(value)}
    if not is_supported or any(options.get(name) for name in _OWN):
        return None
    for path in socket_files(sockets_folder(KIND)):
        if (made := connected(path)) is None:
            continue
        with made, made.makefile("rb") as file:
            line = _Line(made, file, args.command)
            if (found := line.found(options, named)) is not None:
                return line.run(found, options, words, given)
    return None


def _is_plain(value: "Any") -> bool:
    if isinstance(value, list):
        return all(isinstance(one, str) for one in value)
    return value is None or isinstance(value, str | int | float)


def _absolute(options: "Mapping[str, Any]") -> "dict[str, Any]":
    """Return the options with the paths of files as another process finds them."""
    found = dict(options)
    if found.get("output"):
        found["output"] = os.path.abspath(os.path.expanduser(found["output"]))
    if str(found.get("elicit", "")).startswith("@"):
        found["elicit"] = "@" + os.path.abspath(os.path.expanduser(found["elicit"][1:]))
    return found


class _Line:
    def __init__(self, made: "socket.socket", file: "Any", command: str) -> None:
        self._socket, self._file, self._command = made, file, command
        self._who = ""

    def found(self, options: "Mapping[str, Any]", named: str | None) -> "Mapping[str, Any] | None":
        """Return the server if it is up there, after saying so."""
        self._socket.settimeout(ABOUT_SECONDS)
        try:
            about = object_of(self._file.readline(MAX_LINE))
            self._socket.settimeout(ANSWER_SECONDS)
            self._who = f"{'mcptui' if about.get('kind') == 'app' else 'mcptui up'} (pid {about.get('pid')})"
            if refused := about.get("refused"):
                print(f"· not using a running mcptui: {refused}", file=sys.stderr)
                return None
            if about.get("version") != tui.__version__:
                return None
            asked = {"named": named, "args": options, "env": dict(os.environ), "cwd": os.getcwd()}
            said = self._answer("up.find", asked)
        except OSError:
            return None
        found = said.get("result") if said is not None else None
        if not isinstance(found, dict):
            return None
        if "server" not in found:
            if why := found.get("why"):
                print(f"· not using {why} in {self._who}", file=sys.stderr)
            return None
        print(
            f"· using {found['shown']}, up since {found['since']} in {self._who}", file=sys.stderr, flush=True
        )
        return found

    def run(
        self,
        found: "Mapping[str, Any]",
        options: "Mapping[str, Any]",
        words: "Sequence[str]",
        given: str | None,
    ) -> int:
        self._socket.settimeout(None)
        params = {
            "args": _absolute(options),
            "words": list(words),
            "given": given,
            "tty": sys.stdout.isatty(),
        }
        try:
            said = self._answer("up.run", {**params, "server": found["server"], "launch": found["launch"]})
        except (OSError, ValueError):
            said = None
        if said is not None and isinstance(code := said.get("result"), int):
            return code
        from tui.addons.up.running import gone, result_of

        result_of(said or {})
        raise gone(self._who)

    def _answer(self, method: str, params: "Mapping[str, Any]") -> "Mapping[str, Any] | None":
        """Return the answer to a request, after passing on what is written before it; None if it ended."""
        request = {"id": method, "method": method, "params": params, "command": f"mcptui {self._command}"}
        self._socket.sendall(line_of(request))
        while line := self._file.readline(MAX_LINE):
            said = object_of(line)
            if "note" not in said:
                return said
            self._pass_on(said["note"])
        return None

    def _pass_on(self, note: "Any") -> None:
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
                self._socket.settimeout(None)
                print(f"· waiting for your answer in {self._who}", file=sys.stderr, flush=True)
