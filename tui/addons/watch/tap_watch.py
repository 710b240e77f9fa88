"""`mcptui tap --watch`: another host's server starts again when its files change, and the host does not notice.

The new process has shaken hands before the old one goes. What fails leaves the old one.
"""

import argparse
import asyncio
import os
import signal
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from time import monotonic
from typing import Any

from tui.addons.watch.kept_session import INITIALIZED, LEVEL, LISTS, SUBSCRIBE, Courier, KeptSession
from tui.core.background import cancel_all, first_of
from tui.core.jsonrpc.messages import write_line
from tui.host.process.crash import last_words
from tui.host.server.handover import is_in_use
from tui.host.transports.message_tap import MessageTap, ServerSide

START_SECONDS = 30.0
"""How long a new process may take to shake hands."""

ASK_SECONDS = 10.0
STOP_SECONDS = 2.0
"""How long an old process may take to exit, after each of: the end of its stdin, SIGTERM."""

MOST_PAGES = 100


class WatchedTap:
    """Replaces the server of a tap; a `Keeper`. `patterns` are globs of the files to watch."""

    def __init__(
        self,
        tap: MessageTap,
        session: KeptSession,
        command: Sequence[str],
        environment: Mapping[str, str],
        patterns: Sequence[str],
    ) -> None:
        self._tap = tap
        self._session = session
        self._command, self._environment, self._patterns = command, environment, patterns
        self._has_new = asyncio.Event()
        self._stopping: set[asyncio.Task[None]] = set()

    async def watch(self) -> None:
        """Restart the server after each change, until this is cancelled."""
        from tui.addons.watch.files import changes

        async for files in changes(self._patterns):
            await self.restart(files)

    async def close(self) -> None:
        """Wait for the processes that still stop."""
        if self._stopping:
            await asyncio.wait(self._stopping)

    async def ended(self, code: int) -> None:
        """Tell the host that its server has exited, and wait for the next one."""
        server = self._tap.server
        await server.heard_all.wait()
        why = f"The server exited with code {code}: {_reason(server)}. It starts again when its files change."
        self._session.down = why
        self._tap.event("server ended", failed=self._session.lose(why), why=why)
        _say(why)
        await self._has_new.wait()

    async def restart(self, files: Sequence[str]) -> None:
        """Start another process in place of the server, and say how that went."""
        began, old = monotonic(), self._tap.server
        self._session.hold()
        try:
            server, problem = await self._opened(old)
            if server is None:
                self._tap.event("restart failed", files=list(files), why=problem)
                _say(f"not restarted: {problem}")
                return
            failed = self._replace(old, server, files)
            changed = await self._told(server)
        finally:
            self._session.resume()
        seconds = round(monotonic() - began, 3)
        self._tap.event("restarted", files=list(files), seconds=seconds, changed=changed, failed=failed)
        what = f" · changed: {', '.join(changed)}" if changed else ""
        lost = f" · {failed} unfinished requests failed" if failed else ""
        _say(f"restarted in {seconds:.1f} s{what}{lost}")

    async def _opened(self, old: ServerSide) -> tuple[ServerSide | None, str]:
        """Return a process that has shaken hands, or why there is none."""
        server, problem = await self._started()
        if server is None and is_in_use(problem) and old.process.exit is None:
            await self._stop(old)
            server, problem = await self._started()
        return server, problem

    async def _started(self) -> tuple[ServerSide | None, str]:
        try:
            server = self._tap.connect(self._command, self._environment)
        except OSError as error:
            return None, f"cannot start {self._command[0]}: {error.strerror}"
        server.courier = Courier()
        server.hear = server.courier.take
        shaken = asyncio.create_task(self._shake_hands(server))
        await first_of(shaken, server.process.exited.wait(), seconds=START_SECONDS)
        if shaken.done() and not shaken.cancelled() and shaken.result():
            return server, ""
        await cancel_all((shaken,))
        problem = f"it did not answer the handshake within {START_SECONDS:g} s"
        if server.process.exit is not None:
            await first_of(server.heard_all.wait(), seconds=STOP_SECONDS)
            problem = _reason(server)
        elif shaken.done() and not shaken.cancelled():
            problem = "it rejected the handshake"
        await self._stop(server)
        return None, problem

    async def _shake_hands(self, server: ServerSide) -> bool:
        """Repeat the host's handshake; a modern server proves by a first request that it is there."""
        session = self._session
        if session.introduction is None:
            meta = {"_meta": dict(session.meta)} if session.meta else {}
            await self._ask(server, "server/discover", meta, START_SECONDS)
            return server.process.exit is None
        if not session.is_initialized:
            return True  # the host's own handshake goes to it
        if await self._ask(server, "initialize", session.introduction, START_SECONDS) is None:
            return False
        server.stdin.write(write_line({"jsonrpc": "2.0", "method": INITIALIZED}) + b"\n")
        return True

    async def _ask(
        self, server: ServerSide, method: str, params: Mapping[str, Any], seconds: float = ASK_SECONDS
    ) -> Mapping[str, Any] | None:
        line, answer = server.courier.request(method, params)
        server.stdin.write(line + b"\n")
        await first_of(answer, server.process.exited.wait(), seconds=seconds)
        return answer.result() if answer.done() else None

    def _replace(self, old: ServerSide, server: ServerSide, files: Sequence[str]) -> int:
        """Let the new process serve; return the number of requests that the old one has not answered."""
        session, shown = self._session, ", ".join(os.path.basename(file) for file in files[:3])
        why = f"The server was restarted because {shown} changed, and this request was not completed. Repeat it."
        failed = session.lose(why)
        session.down = ""
        self._tap.adopt(server)
        self._has_new.set()
        self._has_new = asyncio.Event()
        task = asyncio.create_task(self._stop(old))
        self._stopping.add(task)
        task.add_done_callback(self._stopping.discard)
        return failed

    async def _told(self, server: ServerSide) -> list[str]:
        """Tell the new process what the old one knew, and the host which lists have changed; return these."""
        session, changed = self._session, []
        for raw in session.repeated():
            server.stdin.write(raw + b"\n")
        if session.level is not None:
            await self._ask(server, LEVEL, session.level)
        for params in session.subscribed.values():
            await self._ask(server, SUBSCRIBE, params)
        for method in list(session.lists):
            items = await self._listed(server, method)
            if items is not None and session.changed(method, items):
                changed.append(LISTS[method])
        return changed

    async def _listed(self, server: ServerSide, method: str) -> list[Any] | None:
        items: list[Any] = []
        more: dict[str, Any] = {"_meta": dict(self._session.meta)} if self._session.introduction is None else {}
        for _ in range(MOST_PAGES):
            page = await self._ask(server, method, more)
            found = None if page is None else page.get(LISTS[method])
            if page is None or not isinstance(found, list):
                return None
            items += found
            if not page.get("nextCursor"):
                return items
            more = more | {"cursor": page["nextCursor"]}
        return None

    async def _stop(self, server: ServerSide) -> None:
        server.stdin.close()
        for number in (signal.SIGTERM, signal.SIGKILL):
            await first_of(server.process.exited.wait(), seconds=STOP_SECONDS)
            server.signal(number)
        await server.process.exited.wait()
        server.popen.wait()
        server.process.destroy()


def _reason(server: ServerSide) -> str:
    words = last_words(bytes(server.errors_tail).decode("utf-8", "replace").splitlines())
    return " ".join(words[:2]) or f"it exited with code {server.popen.returncode}"


def _say(text: str) -> None:
    """Write a line for the log of the host."""
    with suppress(OSError):
        os.write(2, f"mcptui tap: {text}\n".encode("utf-8", "backslashreplace"))


def tap_watch(args: argparse.Namespace) -> int:
    """Run `mcptui tap --watch`."""
    from tui.commands.tap import tap_messages

    command = args.server_command[1:] if args.server_command[:1] == ["--"] else args.server_command
    if not command:
        print("mcptui tap: a command is required: mcptui tap --watch GLOB -- COMMAND ARG ...", file=sys.stderr)
        return 2
    session = KeptSession()

    def watched(tap: MessageTap, environment: Mapping[str, str]) -> WatchedTap:
        return WatchedTap(tap, session, command, environment, args.watch)

    return tap_messages(args.name or "", command, [session], watched)
