"""The status of one server: its changes, and how front ends show it, without secrets."""

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

from tui.core.ports import Clock
from tui.core.secrets.redact import Redactor
from tui.core.secrets.walk import without_secrets
from tui.core.servers import ServerSpec, ServerState, ServerStatus, StopReason
from tui.core.text import clean_line
from tui.host.error_sentences import Ending
from tui.host.server.lifecycle import require_transition
from tui.host.transports import ServerTransport

T = TypeVar("T")
Shown = TypeVar("Shown")


class ShownStatus:
    """Removes secrets from the status of one server, even those that became known since it changed."""

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        self._seen: dict[str, tuple[Any, int, Any]] = {}

    def of(self, status: ServerStatus, transport: "ServerTransport | None") -> ServerStatus:
        """Return what is shown of a status; `transport` is that of the present or last connection."""
        status = replace(
            status,
            launch=self._shown("launch", status.spec, self._launch_of),
            detail=self._shown("detail", status.detail, self._redactor.redact),
        )
        if transport is None:
            return status
        stderr, is_stopped = transport.stderr, status.state is ServerState.STOPPED
        clear = partial(without_secrets, clear=self._redactor.redact)
        return replace(
            status,
            pid=None if is_stopped else transport.pid,
            stderr_last=self._shown("stderr", stderr.reason if is_stopped else stderr.last, self._line),
            noise=transport.messages.noise,
            invalid=transport.messages.invalid_words,
            printed=self._shown("printed", transport.messages.first_noise, self._line),
            fault_rules=tuple(
                rule.text for stage in transport.stages for rule in getattr(stage, "rules", ())
            ),
            injected=sum(getattr(stage, "injected", 0) for stage in transport.stages),
            reach=self._shown("reach", transport.reach, clear),
        )

    def _shown(self, part: str, value: T, clear: Callable[[T], Shown]) -> Shown:
        """Return a part of the status without secrets, cached because it rarely changes."""
        known = self._redactor.known
        if self._seen.get(part, ())[:2] != (value, known):
            self._seen[part] = value, known, clear(value)
        shown: Shown = self._seen[part][2]
        return shown

    def _launch_of(self, spec: ServerSpec) -> str:
        # Each word before it is cut, and all together: a secret may be several words.
        words = (clean_line(self._redactor.redact(word), 400) for word in spec.shown_command)
        return self._redactor.redact(spec.shown_url or " ".join(words))

    def _line(self, line: str) -> str:
        return clean_line(self._redactor.redact_cut(line), 300)


_KEPT = ("start_ms", "title", "version", "restarts")
"""What is shown of the last run until the next one replaces it."""


class StatusBoard:
    """The status of one server, `now`; `told` is called after each change that front ends show."""

    def __init__(self, spec: ServerSpec, clock: Clock, told: Callable[[], None]) -> None:
        self.now = ServerStatus.before_any_start(spec, clock.now_ns())
        self._clock = clock
        self._told = told
        self._pulse = asyncio.Event()

    def begin(self) -> None:
        """Begin another run: STARTING, without what is known of the last one."""
        kept = {name: getattr(self.now, name) for name in _KEPT}
        self.now = ServerStatus(self.now.name, self.now.spec, self.now.state, **kept)
        self.change(ServerState.STARTING, reason=None)

    def end(self, ending: Ending) -> None:
        """End a run: STOPPED, and why."""
        self.leave(ending.reason)
        self.change(
            ServerState.STOPPED,
            reason=ending.reason,
            detail=ending.detail,
            next_step=ending.next_step,
            exit_code=ending.code,
            signal=ending.signal,
            tools=0,
            withheld=0,
            not_offered=(),
            tools_off=0,
        )

    def leave(self, reason: StopReason) -> None:
        """Become STOPPING, unless it is, or is STOPPED."""
        if self.now.state in (ServerState.STARTING, ServerState.RUNNING):
            self.change(ServerState.STOPPING, reason=reason)

    def change(self, state: ServerState, **values: Any) -> None:
        require_transition(self.now.state, state)
        self.set(state=state, since_ns=self._clock.now_ns(), **values)
        self.wake()
        self._told()

    def show(self, **values: Any) -> None:
        self.set(**values)
        self._told()

    def set(self, **values: Any) -> None:
        """Set values that are told with the next change."""
        self.now = replace(self.now, **values)

    def changed(self) -> Coroutine[Any, Any, bool]:
        """Return what to await for the next change of the state from now on, or `wake`."""
        return self._pulse.wait()

    def wake(self) -> None:
        pulse, self._pulse = self._pulse, asyncio.Event()
        pulse.set()
