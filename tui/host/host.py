"""All servers of one run: start, stop, restart, shutdown, and one toolbox for the running ones."""

import asyncio
import dataclasses
import logging
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from typing import Any

from tui.core.background import Tasks, first_of
from tui.core.errors import ServerError, UsageError, dotted, with_stop, without_stop
from tui.core.language.translate import message, sentences
from tui.core.secrets.stored_sign_in import SignedOut
from tui.core.server_secrets import provider_spec
from tui.core.servers import ServerSpec, ServerStatus, StopReason
from tui.core.text import quoted_name
from tui.core.tools import Tool
from tui.host.catalog import Walk, build_catalog
from tui.host.definition_review import DefinitionReview
from tui.host.error_sentences import needs_consent, with_sign_in
from tui.host.server.host_context import HostContext
from tui.host.server.server_start import remote_transports
from tui.host.server.supervisor import Supervisor
from tui.host.server.toolbox import RunningToolbox
from tui.host.sign_in.sign_ins import SignIns
from tui.host.workbench import HandWorkbench, ModelResources

SHUTDOWN_SECONDS = 7.0
KILL_SECONDS = 1.0


class Host:
    """Every configured server, by name.

    `revision` grows with every change of anything shown; panes poll it. `on_change` is called with the name
    of the server that changed, and must not raise. `toolbox` has the tools of all RUNNING servers,
    `workbench` works with each server by hand.

    A name that a screen shows may be the name of a server that was removed since. So screens look servers up
    with `find`; for an unknown name, `find` returns None, `stderr` no lines, and `review_changes` and the
    `request_…` methods do nothing. The other methods are for names that a command was given, and raise
    `UsageError` if they are unknown.
    """

    def __init__(self, specs: Sequence[ServerSpec], around: HostContext) -> None:
        """Take the servers, in display order; nothing is started or imported yet."""
        self.revision = 0
        self.on_change: Callable[[str], None] = lambda name: None
        self._around = around
        around.changed = self._changed
        remembered, answerers = around.remembered, around.answerers
        self._review = DefinitionReview(answerers.questioner, around.redaction.value)
        if remembered.tokens is not None:
            around.sign_ins = SignIns(
                remembered.tokens,
                questioner=answerers.questioner,
                redactor=around.redactor,
                changed=self._changed,
                client_metadata_url=remembered.client_metadata_url,
                decisions=answerers.decisions,
            )
        self.sign_ins = around.sign_ins
        if self.sign_ins is not None:
            self.sign_ins.on_provider = self._start_waiting
        self._servers = {spec.name: Supervisor(spec, around) for spec in specs}
        self.toolbox = RunningToolbox(self._servers, around.redaction)
        self.workbench = HandWorkbench(self._servers, self.toolbox, around)
        self.leaving: set[Supervisor] = set()
        """The servers that others have replaced and that still stop."""
        self.model_resources = ModelResources(self._servers, self.workbench)
        self._requests = Tasks()
        self._closing = False

    @property
    def around(self) -> HostContext:
        return self._around

    @property
    def servers(self) -> Mapping[str, Supervisor]:
        """The servers by name, in their order."""
        return self._servers

    def statuses(self) -> tuple[ServerStatus, ...]:
        return tuple(map(self._status, self._servers.values()))

    def find(self, name: str) -> ServerStatus | None:
        """Return the status of a server, or None if it is unknown."""
        server = self._servers.get(name)
        return None if server is None else self._status(server)

    def status(self, name: str) -> ServerStatus:
        """Return the status of a server, or raise `UsageError`."""
        return self._status(self._named(name))

    def _status(self, server: Supervisor) -> ServerStatus:
        spec, found = server.spec, ""
        if self.sign_ins is not None:
            found = self.sign_ins.state(spec.name, has_client=bool(spec.oauth.client_id))
        return with_sign_in(server.status, found)

    async def judged(self, name: str, walk: Walk, introduction: Mapping[str, Any]) -> Sequence[Tool]:
        """Return the tools of a list that was read over another connection; those not accepted are marked.

        `introduction` is the result of its `initialize` or `server/discover`.
        """
        server, protocol = self._named(name), str(introduction.get("protocolVersion", ""))[:40]
        trusted, pins = server.spec.trusted is True, server.spec.pins
        catalog = await asyncio.to_thread(
            build_catalog, name, walk, trusted=trusted, pins=pins, protocol=protocol
        )
        await server.offer.load()
        server.offer.see(catalog, introduction)
        return server.offer.tools(catalog)

    async def closed(self, name: str) -> None:
        """Return once a server is removed or replaced; at once if there is none of this name."""
        if (server := self._servers.get(name)) is not None:
            await server.closed.wait()

    def review_changes(self, name: str, tool: str | None = None) -> None:
        """Ask the user about a tool that is not accepted, or about all such definitions of a server."""
        if (server := self._servers.get(name)) is not None:
            self._review.ask(server, tool)

    async def changes_answered(self) -> None:
        """Return once no question about changed definitions is pending."""
        await self._review.answered()

    def stderr(self, name: str, *, own: bool = False) -> tuple[str, ...]:
        """Cleaned and redacted, oldest first; if `own`, without what it wrote after a signal of mcptui."""
        server = self._servers.get(name)
        return () if server is None else server.stderr(own=own)

    async def start(self, name: str) -> None:
        """Start a server; return once it is RUNNING or STOPPED. A failure is in its status, not raised."""
        await self._named(name).start()

    async def stop(self, name: str) -> None:
        await self._named(name).stop()

    async def restart(self, name: str) -> None:
        """Stop a server if it is running, then start it; return as `start` does."""
        await self._named(name).restart()

    async def revive(self, name: str) -> None:
        """Start a server that died again, as the next call would; return once it is RUNNING or STOPPED."""
        await self._named(name).revive()

    def supersede(self, old: Supervisor, new: Supervisor) -> None:
        """Let a server take the place of another, which stops."""
        self.leaving.add(old)
        self._servers[old.spec.name] = new
        self._review.forget(old)

    def instructions(self) -> Mapping[str, str]:
        """Return the instructions for the model by server, cleaned and without secrets."""
        redact = self._around.redactor.redact
        return {
            name: redact(text)
            for name, server in self._servers.items()
            if (connection := server.running_connection) is not None
            and (server.spec.instructions and server.offered)
            and (text := server.offer.instructions(connection.introduction.said.get("instructions")))
        }

    def reconfigure(self, name: str, **fields: Any) -> None:
        """Replace fields of a server's spec that take effect without a restart, such as `off`."""
        self.adopt(dataclasses.replace(self._named(name).spec, **fields))

    def adopt(self, spec: ServerSpec) -> None:
        """Give a server a spec with the same launch configuration, without a restart."""
        self._named(spec.name).reconfigure(spec)

    async def sign_in(self, name: str) -> str:
        """Sign in to a remote server, whether or not it runs; return where its tokens are kept.

        Raises:
            UsageError: the server has no sign-in.
            ServerError: the sign-in failed, or the server was removed or replaced meanwhile.
        """
        server, sign_ins = self._named(name), self.sign_ins
        spec = server.spec
        if sign_ins is None or spec.url is None:
            raise UsageError(
                message("The server {name} is local.", name=quoted_name(name)),
                next_step=message("Only a server with a URL can require sign-in."),
            )
        if any(header.lower() == "authorization" for header in spec.headers):
            raise UsageError(
                message(
                    "The server {name} already has an Authorization header in its configuration.",
                    name=quoted_name(name),
                ),
                next_step=message(
                    "Remove the header from [{table}] to sign in.",
                    table=dotted(("servers", name, "headers")),
                ),
            )
        if not await self._around.answerers.consent.ask(spec):
            raise ServerError(needs_consent(spec).detail)
        remote = await asyncio.to_thread(remote_transports)
        signing_in = asyncio.ensure_future(remote.sign_in(spec, sign_ins, self._around.sink))
        await first_of(signing_in, server.closed.wait())
        if signing_in.cancelled():
            raise ServerError(
                message(
                    "The sign-in to {name} was cancelled: its configuration changed.", name=quoted_name(name)
                )
            )
        return sign_ins.store.shown_place(signing_in.result())

    async def sign_out(self, name: str) -> SignedOut:
        """Stop a server, delete its tokens, and revoke them if the authorization server supports it.

        A server that is not configured any more can still have tokens. An identity provider, by its account,
        is signed out with the servers that were signed in to through it.
        """
        server, sign_ins = self._servers.get(name), self.sign_ins
        spec, why = self._credentials(name)
        if spec is None and server is None and (sign_ins is None or not await sign_ins.has(name)):
            server = self._named(name)
        if server is not None:
            await server.stop()
        if sign_ins is None:
            return SignedOut(0)
        through = [await self.sign_out(one) for one in await sign_ins.through(name)]
        known = [one for one in await sign_ins.store.of(name) if one.revocable]
        revocable = [one for one in known if one.revocation_endpoint]
        count = await sign_ins.forget(name)
        problem = ""
        if revocable:
            remote = await asyncio.to_thread(remote_transports)
            problem = await remote.revoke(name, revocable, spec, sign_ins, self._around.sink)
        if problem and why:
            unused = message("Its configured credentials were not used: {why}", why=without_stop(why))
            problem = sentences(with_stop(problem), unused)
        if problem:
            logging.getLogger(__name__).warning("tokens of %s were not revoked: %s", name, problem)
        problem = problem or next((one.problem for one in through if one.problem), "")
        provider = spec.oauth.identity_provider if spec is not None else None
        still = provider is not None and provider.account != name and await sign_ins.has(provider.account)
        return SignedOut(
            count + sum(one.count for one in through),
            len(revocable) + sum(one.revocable for one in through),
            problem,
            len(known) - len(revocable) + sum(one.lasting for one in through),
            provider.name if provider is not None and still else "",
        )

    def _credentials(self, name: str) -> tuple[ServerSpec | None, str]:
        """Return the settings with the credentials of a sign-in, and why they are not used, or ""."""
        for server in self._servers.values():
            provider = server.spec.oauth.identity_provider
            is_provider = provider is not None and provider.account == name
            if is_provider or server.spec.name == name:
                spec = provider_spec(provider) if provider is not None and is_provider else server.spec
                if self._around.answerers.consent.allows(server.spec):
                    return spec, server.spec.problem
                return None, message("no consent") if spec.oauth.client_id else server.spec.problem
        return None, ""

    def add(self, spec: ServerSpec) -> None:
        """Add a server after the others; raises UsageError if its name is taken."""
        if spec.name in self._servers:
            raise UsageError(message("server {name} already exists.", name=quoted_name(spec.name)))
        self._servers[spec.name] = Supervisor(spec, self._around)
        self._changed(spec.name)

    async def replace(self, spec: ServerSpec) -> bool:
        """Stop a server permanently and replace it with another one, which is not started.

        Return whether a start was requested that the old one has not begun.
        """
        old = self._named(spec.name)
        self._review.forget(old)
        await old.close()
        if self._servers.get(spec.name) is old:
            if self.sign_ins is not None and old.spec.url != spec.url:
                self.sign_ins.say_nothing(spec.name)
            self._servers[spec.name] = Supervisor(spec, self._around)
            self._changed(spec.name)
        return old.start_is_queued

    async def remove(self, name: str) -> None:
        """Stop a server permanently and forget it."""
        old = self._named(name)
        self._review.forget(old)
        await old.close()
        if self._servers.get(name) is old:
            del self._servers[name]
            if self.sign_ins is not None:
                self.sign_ins.say_nothing(name)
            self._changed(name)

    def request_start(self, name: str) -> None:
        self._request(name, Supervisor.start)

    def request_stop(self, name: str) -> None:
        self._request(name, Supervisor.stop)

    def request_restart(self, name: str) -> None:
        self._request(name, Supervisor.restart)

    async def start_all(
        self,
        names: Iterable[str] | None = None,
        settled: Callable[[str], None] = lambda name: None,
        *,
        quiet: bool = False,
    ) -> None:
        """Start servers (None: those with autostart) concurrently; return once each is RUNNING or STOPPED.

        `settled` is called with the name of each as soon as it is. A server that the user has refused is
        started only if it is named. An unknown name starts none. With `quiet`, a sign-in waits until the user
        starts the server.
        """
        if names is None:
            automatic = [server for server in self._servers.values() if server.spec.autostart]
            names = [server.spec.name for server in automatic if not server.stays_refused()]
        servers = [self._named(name) for name in names]
        self._around.answerers.consent.together([one.spec for one in servers if one.can_start])
        waiting = self.sign_ins.quiet if self.sign_ins is not None and quiet else set[str]()

        async def start(server: Supervisor) -> None:
            name = server.spec.name
            waiting.add(name)
            try:
                await server.start()
            finally:
                waiting.discard(name)
            settled(name)

        await asyncio.gather(*map(start, servers))

    def _start_waiting(self, account: str) -> None:
        """Start the servers that started on their own and wait for a sign-in at this identity provider."""

        def waits(server: Supervisor) -> bool:
            provider = server.spec.oauth.identity_provider
            is_its = provider is not None and provider.account == account and server.spec.autostart
            return is_its and self.status(server.spec.name).reason is StopReason.NEEDS_SIGN_IN

        if names := [server.spec.name for server in self._servers.values() if waits(server)]:
            self._requests.start(self.start_all(names, quiet=True), "starting servers of a provider")

    async def shutdown(self) -> None:
        """Stop all servers concurrently and permanently; after 7 s, or if called again, kill the rest."""
        if self._closing:
            await self._kill_all()
        self._closing = True
        await self._review.close()
        closing = {asyncio.create_task(server.close()) for server in self._all()}
        if closing:
            _, late = await asyncio.wait(closing, timeout=SHUTDOWN_SECONDS)
            if late:
                await self._kill_all()
                _, late = await asyncio.wait(late, timeout=KILL_SECONDS)
            for task in late:
                task.cancel()
            await asyncio.gather(*closing, return_exceptions=True)
        await self.toolbox.close()
        await asyncio.to_thread(self._around.watchdog.close)
        await self._requests.settled(KILL_SECONDS)

    async def _kill_all(self) -> None:
        await asyncio.gather(*(server.kill_now() for server in self._all()), return_exceptions=True)

    def _all(self) -> Sequence[Supervisor]:
        return [*self._servers.values(), *self.leaving]

    def _named(self, name: str) -> Supervisor:
        server = self._servers.get(name)
        if server is None:
            known = ", ".join(self._servers) or "none"
            raise UsageError(
                message("server {name} not found.", name=quoted_name(name)),
                next_step=message("Configured servers: {known}.", known=known),
            )
        return server

    def _request(self, name: str, do: Callable[[Supervisor], Coroutine[Any, Any, None]]) -> None:
        if (server := self._servers.get(name)) is not None:
            self._requests.start(do(server), f"{do.__name__} {name}")

    def _changed(self, name: str) -> None:
        self.revision += 1
        if (server := self._servers.get(name)) is not None:
            self._review.look(server)
        self.on_change(name)
