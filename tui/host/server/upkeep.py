"""What mcptui and a running server tell each other of changes: lists, roots, log level, subscriptions.

And which extensions are declared to it: a server may offer other things without one.
"""

import asyncio
import logging
from collections.abc import Coroutine, Mapping
from contextlib import suppress
from functools import partial
from typing import Any

from tui.core.jsonrpc.introduction import Introduction
from tui.core.ports import Clock
from tui.core.servers import ServerSpec
from tui.core.tasks import STATUS_CHANGED
from tui.host import error_sentences as explain
from tui.host.frames.id_gate import PROBE
from tui.host.frames.inbox import LIST_OF, MISSED, RESOURCE_UPDATED, SESSION_REOPENED
from tui.host.frames.link import RequestError
from tui.host.server.calls import ServerCalls
from tui.host.server.host_context import Connected
from tui.host.server.lists import ServerLists
from tui.host.server.start import Start
from tui.host.session.session import Session
from tui.host.session.subscriptions import ChangeStream, keep_subscribed, listen

ASK_SECONDS = 30.0

_log = logging.getLogger(__name__)


class Upkeep:
    """Passes on the changes at a server, and those of its settings, over one connection.

    `is_switching`: the extensions that are declared to it have changed, and it is not asked again yet.
    """

    def __init__(self, server: Connected, lists: ServerLists, calls: ServerCalls, clock: Clock) -> None:
        self._server, self._lists, self._calls, self._clock = server, lists, calls, clock
        self._level_changed, self._roots_changed = asyncio.Event(), asyncio.Event()
        self._switched, self._told = asyncio.Event(), server.spec

    @property
    def is_switching(self) -> bool:
        return self._switched.is_set()

    def work(self, session: Session, start: Start, complete: bool) -> dict[str, Coroutine[Any, Any, Any]]:
        """Return what runs beside a session; `complete` says whether all tools were listed."""
        work: dict[str, Coroutine[Any, Any, Any]] = {**self._lists.keeping(session, complete)}
        work["extensions"] = self._follow_switches(session, start)
        said = start.introduction
        subscriptions = self._server.subscriptions if said.takes_subscriptions else None
        if said.is_modern:
            if said.streamed or subscriptions is not None or said.has_tasks:
                work["changes"] = ChangeStream(
                    partial(listen, session, said.streamed),
                    said.streamed,
                    subscriptions,
                    self._clock,
                    self._lists.relist,
                    self._calls.tasks if said.has_tasks else None,
                ).run()
        else:
            work["roots"] = self._tell_of_roots(session)
            if subscriptions is not None:
                work["subscriptions"] = keep_subscribed(subscriptions, self._ask_about)
            if "logging" in said.offers:  # since 2026-07-28, each request has its own log level
                work["log level"] = self._keep_log_level()
        return work

    def notified(self, method: str, params: Mapping[str, Any]) -> None:
        """Take a notification of the server."""
        if method == RESOURCE_UPDATED:
            self._server.subscriptions.updated(params.get("uri"))
        elif method == STATUS_CHANGED:
            self._calls.tasks.changed_at_server(params)
        elif method == SESSION_REOPENED:
            self._lists.relist()
            self._level_changed.set()
            self._server.subscriptions.begin_session()
        elif method == MISSED:
            self._lists.relist()
            self._server.subscriptions.missed()
        elif (kind := LIST_OF.get(method)) is not None:
            self._lists.relist((kind,))

    def reconfigured(self, before: ServerSpec) -> None:
        """Apply the settings of the server that need no restart and were others `before`."""
        spec = self._server.spec
        if spec.log_level != before.log_level:
            self._level_changed.set()
        if spec.roots != before.roots:
            self._roots_changed.set()
        if spec.extensions != before.extensions:
            self._told = self._told if self.is_switching else before
            self._switched.set()
        if (spec.pins, spec.trusted) != (before.pins, before.trusted) and self._calls.session is not None:
            self._lists.relist(("tools",))

    async def _follow_switches(self, session: Session, start: Start) -> None:
        """Ask for everything again when other extensions are declared; connect again if that is needed.

        Since 2026-07-28, each request says what is declared, and a server may answer each accordingly.
        """
        while True:
            await self._switched.wait()
            said = start.introduction
            if said.is_modern:
                with suppress(RequestError):  # what is known stays
                    said = Introduction(said.version, await session.request(PROBE, {}))
            elif session.our_side.declared != self._told.our_side(session.version, session.profile).declared:
                return self._server.reconnect()
            if said.offers != start.introduction.offers:
                return self._server.reconnect()
            start.introduction = self._lists.introduction = said
            self._calls.tasks.look_again()
            self._server.subscriptions.turned.set()  # the change stream declares what it was opened with
            self._lists.forget()
            self._lists.relist()
            await self._lists.settled(self._calls.left)
            self._switched.clear()
            self._server.changed()

    async def _tell_of_roots(self, session: Session) -> None:
        """Tell the server whenever its roots change; since 2026-07-28 servers ask in each call."""
        while True:
            await self._roots_changed.wait()
            self._roots_changed.clear()
            session.notify("notifications/roots/list_changed")

    async def _keep_log_level(self) -> None:
        """Ask for the configured log level, now and whenever it changes."""
        while True:
            self._level_changed.clear()
            if level := self._server.spec.log_level:
                answer = await self._calls.ask("logging/setLevel", {"level": level}, ASK_SECONDS)
                if explain.problem_of(answer) and not answer.lost:
                    _log.info("%s did not set its log level: %s", self._server.spec.name, answer)
            await self._level_changed.wait()

    async def _ask_about(self, method: str, uri: str) -> str:
        return explain.problem_of(await self._calls.ask(method, {"uri": uri}, ASK_SECONDS))
