"""The status of one server as front ends show it: without secrets, with what its transport tells."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

from tui.core.secrets.redact import Redactor
from tui.core.secrets.walk import without_secrets
from tui.core.servers import ServerSpec, ServerState, ServerStatus
from tui.core.text import clean_line
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
            fault_rules=sum(len(getattr(stage, "rules", ())) for stage in transport.stages),
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
