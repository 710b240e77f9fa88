"""The events of one running server: its event types, its requests, and what its events must match."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tui.addons.events import wire
from tui.addons.events.wire import MAX_TYPES, EventType, Occurrence, event_types
from tui.core.jsonrpc.extensions import EVENTS
from tui.core.language.translate import message
from tui.core.secrets.walk import without_secrets
from tui.core.text import clean_line, mapping, quoted_name
from tui.core.tools import Heard
from tui.core.workbench import RawAnswer
from tui.host.error_sentences import problem_of

if TYPE_CHECKING:
    from tui.runtime.runtime import Runtime

LIST_SECONDS = 30.0
MAX_PAGES = 50


class RunningServer:
    """Sends its requests. Without the extension, it is asked nothing."""

    def __init__(self, runtime: "Runtime", name: str) -> None:
        self._runtime, self._name = runtime, name

    async def request(self, method: str, params: Mapping[str, Any], seconds: float) -> RawAnswer:
        """Send a request and return the answer, unredacted: a cursor is sent back."""
        if (refusal := self._refusal()) is not None:
            return refusal
        workbench = self._runtime.workbench
        answer = await workbench.request(self._name, method, params, call="", seconds=seconds, as_is=True)
        return replace(answer, error=self._cleared(answer.error))

    async def stream(self, method: str, params: Mapping[str, Any], heard: Heard) -> RawAnswer:
        """Send a request that stays open, and return how it ended."""
        if (refusal := self._refusal()) is not None:
            return refusal

        def hear(method: str, params: Mapping[str, Any]) -> None:
            is_event = method == wire.EVENT  # whose data is cleared once it is validated
            heard(method, params if is_event else {**params, "error": self._cleared(params.get("error"))})

        answer = await self._runtime.workbench.stream(self._name, method, params, hear)
        return replace(answer, error=self._cleared(answer.error))

    def _refusal(self) -> RawAnswer | None:
        if self._runtime.workbench.extension(self._name, EVENTS) is not None:
            return None
        return RawAnswer(
            problem=message("The server {name} does not offer events.", name=quoted_name(self._name))
        )

    def _cleared(self, value: Any) -> Any:
        return without_secrets(value, self._runtime.redactor.redact_spoken)

    async def types(self) -> tuple[Sequence[EventType], str]:
        """Ask for the event types, without secrets; return them and a problem, or ""."""
        found: dict[str, EventType] = {}
        cursor: str | None = None
        for _ in range(MAX_PAGES):
            params = {} if cursor is None else {"cursor": cursor}
            answer = await self.request(wire.LIST, params, LIST_SECONDS)
            if problem := problem_of(answer):
                return tuple(found.values()), problem
            page = mapping(answer.result)
            listed, problem = event_types(self._cleared(page))
            for one in listed:
                found.setdefault(one.name, one)
            cursor = page.get("nextCursor") if isinstance(page.get("nextCursor"), str) else None
            if problem or cursor is None:
                return tuple(found.values())[:MAX_TYPES], problem
            if len(found) >= MAX_TYPES:
                break
        return tuple(found.values())[:MAX_TYPES], message(
            "Only the first {n} event types are listed.", n=len(found)
        )


async def validated(runtime: "Runtime", event: Occurrence, kind: EventType | None) -> Occurrence:
    """Return an event without secrets, and with what its data violates in the schema of its type."""
    problem = event.problem
    if event.data is not None and kind is not None and kind.payload_schema is not None:
        fault = await runtime.host.toolbox.problem(kind.payload_schema, event.data)
        if fault:
            problem = f"{problem} It does not match its schema: {clean_line(fault, 300)}.".strip()
    return without_secrets(replace(event, problem=problem), runtime.redactor.redact_spoken)
