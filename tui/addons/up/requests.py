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
from tui.core.servers import ServerSpec, ServerState, ServerStatus, Transport
from tui.core.text import clean_line, list_in, object_in, quoted_name, text_in
from tui.core.traffic import Captured, Cause, Direction, Kind
from tui.core.units import clock_time
from tui.host.process.process import server_environment
from tui.settings.config_file import ConfigFile
from tui.settings.locations import CONFIG_VARIABLE

if TYPE_CHECKING:
    from tui.runtime.runtime import Runtime

COMMANDS = ("call", "read", "prompt", "list", "skill")
_OF_REMOTE = frozenset("http_proxy https_proxy all_proxy no_proxy ssl_cert_file ssl_cert_dir".split())
_OF_PLACE = ("HOME", "XDG_CONFIG_HOME")
_EMPTY: Mapping[str, Any] = dict.fromkeys(
    ("verbose", "json", "unchecked", "output", "seconds", "force", "verify")
)


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
        named = params.get("named")
        env = {name: value for name, value in object_in(params, "env").items() if isinstance(value, str)}
        return cls(
            named if isinstance(named, str) else None,
            object_in(params, "args"),
            env,
            Path(text_in(params, "cwd")),
        )

    @property
    def config(self) -> Path | None:
        """The configuration file that it names; None for the default one."""
        named = self.args.get("config") or self.env.get(CONFIG_VARIABLE)
        return self.cwd / os.path.expanduser(named) if isinstance(named, str) and named else None


def launch_of(spec: ServerSpec, env: Mapping[str, str], cwd: Path) -> dict[str, str]:
    """Return what decides what a server is when a process starts it, as hashes by name."""
    is_local = spec.transport in (Transport.STDIO, Transport.LINES) and not spec.url
    if is_local:
        given = server_environment(spec.env, "", env)
    else:
        given = {name: value for name, value in env.items() if name.lower() in _OF_REMOTE}
    uses_folder = any("PWD" in one.names for one in spec.references.values())
    facts = {
        "command": [spec.command, spec.args],
        "URL": [spec.url, spec.transport.value, spec.sse_fallback, repr(spec.oauth)],
        "headers": sorted(spec.headers.items()),
        "folder": [
            os.path.join(cwd, spec.starts_in or "") if is_local else "",
            str(cwd) if uses_folder else "",
        ],
        "era": spec.era.value,
        "host": [spec.act_as, sorted(spec.extensions.items()), spec.faults],
        **{f"environment ({name})": value for name, value in given.items()},
    }
    return {
        name: hashlib.sha256(json.dumps(fact).encode("utf-8", "replace")).hexdigest()
        for name, fact in facts.items()
    }


def difference(ours: Mapping[str, str], theirs: Mapping[str, str]) -> str:
    """Return what differs between two launches, in words, or ""."""
    for name in {**ours, **theirs}:
        if ours.get(name) != theirs.get(name):
            return name
    return ""


def digest_of(launch: Mapping[str, str]) -> str:
    """Return a hash of a launch."""
    return hashlib.sha256(json.dumps(sorted(launch.items())).encode()).hexdigest()


def _spec(caller: Caller, runtime: "Runtime") -> tuple[ServerSpec, bool] | None:
    """Return the server that a process would start, and whether it is a configured one.

    None if it has another configuration, or would start none.
    """
    given = {"header": [], "env": [], "transport": None, "era": None, "live_command": [], **caller.args}
    with suppress(McptuiError):  # the command says it, with a server of its own
        if (
            found := unconfigured_in(argparse.Namespace(**given), caller.named, caller.env, caller.cwd)
        ) is not None:
            return found[0], False
        if (file := _same_file(caller, runtime)) is not None:
            from tui.settings.specs import server_specs

            loaded = ConfigFile(str(file), caller.env, trust=caller.args.get("trust_config") is True).read()
            return next(((one, True) for one in server_specs(loaded) if one.name == caller.named), None)
    return None


def _same_file(caller: Caller, runtime: "Runtime") -> Path | None:
    ours = runtime.configuration.file.path
    if (theirs := caller.config) is not None:
        return ours if os.path.realpath(theirs) == os.path.realpath(ours) else None
    is_default = not (runtime.options.config or os.environ.get(CONFIG_VARIABLE))
    return (
        ours
        if is_default and all(caller.env.get(name) == os.environ.get(name) for name in _OF_PLACE)
        else None
    )


async def find(runtime: "Runtime", params: Mapping[str, Any], peer: Peer) -> dict[str, Any]:
    """Return the server of a command if it is up with the same launch, or why it is not."""
    host, caller = runtime.host, Caller.of(params)
    if (found := await asyncio.to_thread(_spec, caller, runtime)) is None:
        return {}
    wanted, is_configured = found
    theirs, why = launch_of(wanted, caller.env, caller.cwd), ""
    for status in host.statuses():
        if (is_configured and status.name != wanted.name) or not _is_up(status):
            continue
        ours, shown = launch_of(status.spec, os.environ, Path.cwd()), clean_line(status.name, 80)
        if differs := difference(ours, theirs):
            why = f"{shown}, whose {differs} differs," if is_configured else ""
            continue
        if not await runtime.door.may_attach(peer):
            return {"why": "a server that is up, because its user did not allow it,"}
        if status.failed:
            await host.revive(status.name)  # as the next call of the app would
            status = host.status(status.name)
        if status.state is ServerState.RUNNING:
            since = clock_time(time.time() - _age(status), time.time())
            return {"server": status.name, "shown": shown, "since": since, "launch": digest_of(ours)}
    return {"why": why} if why else {}


def _is_up(status: ServerStatus) -> bool:
    return status.state is ServerState.RUNNING or status.failed


def _age(status: ServerStatus) -> float:
    return (time.monotonic_ns() - status.since_ns) / 1e9


# ---- running it ------------------------------------------------------------------------------------------


async def run(runtime: "Runtime", params: Mapping[str, Any], peer: Peer) -> int:
    """Run a command on a server that `find` returned, and return its exit code. Raises McptuiError."""
    from tui.commands.call.one_server import OneServer
    from tui.commands.call.output import server_log
    from tui.commands.flag_answers import FlagAnswers

    name, door = text_in(params, "server"), runtime.door
    status = runtime.host.find(name)
    if status is None or status.state is not ServerState.RUNNING:
        raise McptuiError("the server stopped before the request.", where=clean_line(name, 80))
    if digest_of(launch_of(status.spec, os.environ, Path.cwd())) != params.get("launch"):
        raise McptuiError("the server changed before the request.", where=clean_line(name, 80))
    args = argparse.Namespace(**{**_EMPTY, "root": [], "elicit": "decline", **object_in(params, "args")})
    args.accept_changes = args.accept_suspicious = False
    if args.command not in COMMANDS:
        raise UsageError(
            f"{quoted_name(str(args.command), 40)} cannot use a server that is up.", next_step="Add --own."
        )
    words = tuple(str(word) for word in list_in(params, "words"))
    given = params.get("given")
    out, err = _Stream(peer.note, "out", params.get("tty") is True), _Stream(peer.note, "err", False)
    with writing_to(out, err), acting_by(peer.by):
        one = OneServer(args, None, runtime, name)
        asker = Asker(name, FlagAnswers.of(args), args.elicit != "decline", partial(print, file=err))
        log = server_log(name, runtime.redactor) if args.verbose else None
        with door.questions.asking(asker), runtime.traffic.heard_by(log):
            return await _run(one, words, given if isinstance(given, str) else None, peer)


async def _run(one: Any, words: tuple[str, ...], given: str | None, peer: Peer) -> int:
    from tui.commands.call.call import Call
    from tui.commands.call.output import OutputFile

    if one.args.command == "skill":
        _record(one, peer, None)
        return int(await brought("service", "skill request")(one, words))
    output = OutputFile(one.args.output) if one.args.output else None
    call = Call(one, words, given, output, by=peer.by)
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
        self._bytes = _Bytes(note)

    @property
    def buffer(self) -> "_Bytes":  # type: ignore[override]  # all that the commands use of it
        return self._bytes

    def write(self, text: str) -> int:
        self._note({self._kind: text})
        return len(text)

    def isatty(self) -> bool:
        return self._is_terminal


@dataclass(slots=True)
class _Bytes:
    _note: Callable[[Any], None]

    def write(self, data: bytes) -> int:
        self._note({"data": b64encode(data).decode()})
        return len(data)


async def stop(runtime: "Runtime", params: Mapping[str, Any], peer: Peer) -> dict[str, Any]:
    """End `mcptui up`, or stop one server of it. Raises UsageError in the app, which the user closes."""
    door = runtime.door
    if door.kind != "up":
        raise UsageError("this is the app.", next_step="Quit it, or stop the server there.")
    name = params.get("server")
    if not isinstance(name, str):
        door.ending.set()
        return {"stopped": [one.name for one in runtime.host.statuses() if one.state is ServerState.RUNNING]}
    status = runtime.host.find(name)
    if status is None or status.state is not ServerState.RUNNING:
        raise UsageError(f"{quoted_name(name, 80)} is not up.")
    await runtime.host.stop(name)
    if all(one.state is not ServerState.RUNNING for one in runtime.host.statuses()):
        door.ending.set()
    return {"stopped": [name]}
