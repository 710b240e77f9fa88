"""Commands at the door: whether their server is up here with the same launch, and running them on it."""

import argparse
import asyncio
import hashlib
import json
import os
import time
from base64 import b64encode
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tui.addons.up.peer import Peer
from tui.addons.up.questions import Asker
from tui.commands.call.request import unconfigured_in
from tui.commands.streams import writing_to
from tui.core.addons import brought
from tui.core.errors import McptuiError, UsageError
from tui.core.jsonrpc.reader import json_text
from tui.core.ports import acting_by
from tui.core.servers import ServerSpec, ServerState, Transport
from tui.core.text import clean_line, list_in, object_in, quoted_name, text_in
from tui.core.traffic import Captured, Cause, Direction, Kind
from tui.core.units import clock_time
from tui.host.process.process import server_environment
from tui.settings.config_file import ConfigFile
from tui.settings.locations import CONFIG_VARIABLE

if TYPE_CHECKING:
    from tui.runtime.runtime import Runtime

COMMANDS = ("call", "read", "prompt", "list", "skill")

_PIECE = 1024 * 1024
_OF_REMOTE = frozenset("http_proxy https_proxy all_proxy no_proxy ssl_cert_file ssl_cert_dir".split())
_OF_PLACE = ("HOME", "XDG_CONFIG_HOME")


# ---- the same server? ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Caller:
    """The process that asks: what it would start, with which environment, where."""

    named: str | None
    args: Mapping[str, Any]
    env: Mapping[str, str]
    cwd: Path

    @classmethod
    def of(cls, params: Mapping[str, Any]) -> "Caller":
        env = {name: value for name, value in object_in(params, "env").items() if isinstance(value, str)}
        named, cwd = text_in(params, "named") or None, Path(text_in(params, "cwd"))
        return cls(named, object_in(params, "args"), env, cwd)

    def spec(self, runtime: "Runtime") -> tuple[ServerSpec, bool] | None:
        """Return the server that it would start, and whether that is a configured one.

        None if it has another configuration, or would start none.
        """
        args = argparse.Namespace(**self.args)
        with suppress(McptuiError):  # the command says it, with a server of its own
            if (found := unconfigured_in(args, self.named, self.env, self.cwd)) is not None:
                return found[0], False
            if self._has_configuration_of(runtime):
                from tui.settings.specs import server_specs

                file, trust = str(runtime.configuration.file.path), self.args.get("trust_config") is True
                loaded = ConfigFile(file, self.env, trust=trust).read()
                return next(((one, True) for one in server_specs(loaded) if one.name == self.named), None)
        return None

    def _has_configuration_of(self, runtime: "Runtime") -> bool:
        if theirs := self.args.get("config") or self.env.get(CONFIG_VARIABLE):
            ours = os.path.realpath(runtime.configuration.file.path)
            return os.path.realpath(self.cwd / os.path.expanduser(theirs)) == ours
        is_default = not (runtime.options.config or os.environ.get(CONFIG_VARIABLE))
        return is_default and all(self.env.get(name) == os.environ.get(name) for name in _OF_PLACE)


def launch_of(spec: ServerSpec, env: Mapping[str, str], cwd: Path) -> dict[str, Any]:
    """Return what decides what a server is when a process starts it, by name."""
    is_local = spec.transport in (Transport.STDIO, Transport.LINES) and not spec.url
    if is_local:
        given = server_environment(spec.env, "", env)
    else:
        given = {name: value for name, value in env.items() if name.lower() in _OF_REMOTE}
    uses_folder = any("PWD" in one.names for one in spec.references.values())
    return {
        "command": [spec.command, *spec.args],
        "URL": [spec.url, spec.transport.value, spec.sse_fallback, repr(spec.oauth)],
        "headers": sorted(spec.headers.items()),
        "folder": [is_local and os.path.join(cwd, spec.starts_in or ""), uses_folder and str(cwd)],
        "era": spec.era.value,
        "host": [spec.act_as, sorted(spec.extensions.items()), spec.faults],
        **{f"environment ({name})": value for name, value in given.items()},
    }


def difference(ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> str:
    """Return what differs between two launches, in words, or ""."""
    return next((name for name in {**ours, **theirs} if ours.get(name) != theirs.get(name)), "")


def _digest_here(spec: ServerSpec) -> str:
    launch = launch_of(spec, os.environ, Path.cwd())
    return hashlib.sha256(json.dumps(sorted(launch.items())).encode()).hexdigest()


async def find(runtime: "Runtime", params: Mapping[str, Any], peer: Peer) -> dict[str, str]:
    """Return the server of a command if it is up with the same launch, and what is `said`, or {}."""
    host, caller = runtime.host, Caller.of(params)
    if (found := await asyncio.to_thread(caller.spec, runtime)) is None:
        return {}
    (wanted, is_configured), why = found, ""
    theirs = launch_of(wanted, caller.env, caller.cwd)
    for status in host.statuses():
        is_up = status.state is ServerState.RUNNING or status.failed
        if not is_up or (is_configured and status.name != wanted.name):
            continue
        shown = clean_line(status.name, 80)
        if differs := difference(launch_of(status.spec, os.environ, Path.cwd()), theirs):
            why = f"not using {shown}, whose {differs} differs," if is_configured else ""
            continue
        if not await runtime.door.may_attach(peer):
            return {"said": "not using a server that is up, because its user did not allow it,"}
        if status.failed:
            await host.revive(status.name)  # as the next call of the app would
            status = host.status(status.name)
        if status.state is ServerState.RUNNING:
            age = (time.monotonic_ns() - status.since_ns) / 1e9
            said = f"using {shown}, up since {clock_time(time.time() - age, time.time())}"
            return {"said": said, "server": status.name, "launch": _digest_here(status.spec)}
    return {"said": why}


# ---- running it ------------------------------------------------------------------------------------------


async def run(runtime: "Runtime", params: Mapping[str, Any], peer: Peer) -> int:
    """Run a command on a server that `find` returned, and return its exit code. Raises McptuiError."""
    from tui.commands.call.call import Call
    from tui.commands.call.one_server import OneServer
    from tui.commands.call.output import OutputFile, server_log
    from tui.commands.flag_answers import FlagAnswers

    name, args = text_in(params, "server"), argparse.Namespace(**object_in(params, "args"))
    status = runtime.host.find(name)
    if status is None or status.state is not ServerState.RUNNING:
        raise McptuiError("the server stopped before the request.", where=clean_line(name, 80))
    if _digest_here(status.spec) != params.get("launch"):
        raise McptuiError("the server changed before the request.", where=clean_line(name, 80))
    if args.command not in COMMANDS:
        shown = quoted_name(str(args.command), 40)
        raise UsageError(f"{shown} cannot use a server that is up.", next_step="Add --own.")
    words = tuple(str(word) for word in list_in(params, "words"))
    out, err = _Stream(peer.note, "out", params.get("tty") is True), _Stream(peer.note, "err", False)
    with writing_to(out, err), acting_by(peer.by):
        one = OneServer(args, None, runtime, name)
        say = partial(print, file=err)
        asker = Asker(name, FlagAnswers.of(args), args.elicit != "decline", say, peer.words)
        log = server_log(name, runtime.redactor) if args.verbose else None
        with runtime.door.questions.asking(asker), runtime.traffic.heard_by(log):
            if args.command == "skill":
                _record(one, peer, None)
                return int(await brought("service", "skill request")(one, words))
            output = OutputFile(args.output) if vars(args).get("output") else None
            call = Call(one, words, params.get("given"), output, by=peer.by)
            _record(one, peer, Cause(0, 0, call.id))
            return await call.run()


def _record(one: Any, peer: Peer, cause: Cause | None) -> None:
    """Record which process what follows is done for."""
    detail = {"event": "command", "why": f"{peer.command}, pid {peer.pid}", "for": peer.label}
    raw, at = json_text(detail).encode(), (time.monotonic_ns(), time.time_ns())
    one.runtime.traffic(Captured(one.name, Direction.NONE, *at, raw, Kind.EVENT, cause=cause, detail=detail))


class _Stream(StringIO):
    """A stream whose text and bytes are sent to the process that asked."""

    def __init__(self, note: Callable[[Any], None], kind: str, is_terminal: bool) -> None:
        super().__init__()
        self._note, self._kind, self._is_terminal = note, kind, is_terminal

    @property
    def buffer(self) -> "_Stream":  # type: ignore[override]  # all that the commands use of it
        return self

    def write(self, said: str | bytes) -> int:
        if isinstance(said, str):
            self._note({self._kind: said})
            return len(said)
        for at in range(0, len(said), _PIECE):  # in one line, 20 MB would hold up the app three times as long
            self._note({"data": b64encode(said[at : at + _PIECE]).decode()})
        return len(said)

    def isatty(self) -> bool:
        return self._is_terminal


async def stop(runtime: "Runtime", params: Mapping[str, Any], peer: Peer) -> dict[str, Any]:
    """End `mcptui up`, or stop one server of it. Raises UsageError in the app, which the user closes."""
    door = runtime.door
    if door.kind != "up":
        raise UsageError("this is the app.", next_step="Quit it, or stop the server there.")
    up = [one.name for one in runtime.host.statuses() if one.state is ServerState.RUNNING]
    if (name := params.get("server")) is None:
        stopped = up
    elif name in up:
        stopped = [name]
        await runtime.host.stop(name)
    else:
        raise UsageError(f"{quoted_name(str(name), 80)} is not up.")
    if stopped == up:
        door.ending.set()
    return {"stopped": stopped}
