"""What a connection has shown so far, from the traffic of one server."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from tui.core.jsonrpc.reader import json_mapping
from tui.core.text import clean_line, list_in, object_in, text_in
from tui.core.traffic import Captured, Direction
from tui.core.web import header_in

MOST = 1_000
_BYTES = 4 * 1024 * 1024
LIST = "tools/list"
_SESSION = "mcp-session-id"


@dataclass(slots=True)
class Sent:
    """A request of ours, and its HTTP exchange, if it has one. `status` is 0 before there is a response."""

    verb: str = ""
    method: str = ""
    url: str = ""
    session: str = ""
    at_ns: int = 0
    status: int = 0
    kind: str = ""
    problem: str = ""
    answered_ns: int = 0
    opened: str = ""
    challenge: str = ""

    @property
    def ms(self) -> float:
        return (self.answered_ns - self.at_ns) / 1e6 if self.answered_ns else 0.0


@dataclass(slots=True)
class Observed:
    """Sees the traffic of one server; its `take` is a sink. Times are monotonic nanoseconds, 0 for never.

    `waits` is called with the step that is waited for, as the start gets on. `listed` are the names of the
    tools of the last listing, as often as they are in it. `late` is the first line that was no message and
    came after the stop, cleaned.
    """

    server: str
    waits: Callable[[str], object] = lambda step: None
    spawned_ns: int = 0
    pid: int = 0
    first_ns: int = 0
    stopped_ns: int = 0
    answers: int = 0
    signals: list[str] = field(default_factory=list)
    sign_in: list[Mapping[str, Any]] = field(default_factory=list)
    sent: list[Sent] = field(default_factory=list)
    listed: list[str] = field(default_factory=list)
    late: str = ""
    _by_id: dict[str, Sent] = field(default_factory=dict)
    _by_exchange: dict[int, Sent] = field(default_factory=dict)

    def take(self, captured: Captured) -> None:
        if captured.source != self.server or len(self.sent) > MOST:
            return
        detail, is_in = captured.detail, captured.direction is Direction.IN
        event = str(detail.get("event", ""))
        if event == "spawn":
            # The start may be tried in the other era, with another process.
            self.spawned_ns, self.pid = captured.mono_ns, int(detail.get("pid") or 0)
            self.first_ns = self.stopped_ns = self.answers = 0
            self.late = ""
            self.signals.clear()
            self.waits("first byte")
        elif event == "stop":
            self.stopped_ns = self.stopped_ns or captured.mono_ns
        elif event == "signal":
            self.signals.append(str(detail.get("signal")))
        elif event == "sign-in":
            self.sign_in.append(detail)
        elif "exchange" in detail and captured.direction is not Direction.NONE:
            self._http(captured, is_in=is_in)
        elif captured.kind is None:
            if is_in:
                if not self.first_ns:
                    self.first_ns = captured.mono_ns
                    self.waits("handshake")
                if self.stopped_ns and not self.late and not captured.raw.lstrip().startswith(b"{"):
                    self.late = clean_line(captured.raw[:200].decode("utf-8", "replace"))
            self._message(captured, self._by_id, Sent(at_ns=captured.mono_ns))

    def _http(self, captured: Captured, *, is_in: bool) -> None:
        detail = captured.detail
        number, headers = detail["exchange"], detail.get("headers") or ()
        if not is_in:
            made = Sent(
                str(detail.get("http", "")),
                url=str(detail.get("url", "")),
                session=header_in(headers, _SESSION),
                at_ns=captured.mono_ns,
            )
            self._by_exchange[number] = made
            if not self._message(captured, self._by_id, made):
                self.sent.append(made)
            return
        if (one := self._by_exchange.get(number)) is None:
            return
        one.status = int(detail.get("status") or one.status)
        one.answered_ns = one.answered_ns or captured.mono_ns
        one.kind = header_in(headers, "content-type") or one.kind
        one.opened = header_in(headers, _SESSION) or one.opened
        one.challenge = header_in(headers, "www-authenticate") or one.challenge
        one.problem = str(detail.get("why", one.problem))
        self._message(captured, self._by_id, one)

    def _message(self, captured: Captured, by_id: dict[str, Sent], made: Sent) -> bool:
        """Note a request with `made`, or its answer; return whether it is one of them."""
        if not captured.raw[:1] == b"{" or len(captured.raw) > _BYTES:
            return False
        found = json_mapping(captured.raw)
        key = json.dumps(found.get("id"))
        if captured.direction is Direction.OUT and "method" in found and "id" in found:
            made.method = str(found["method"])[:60]
            by_id[key] = made
            if made.method == LIST and not text_in(object_in(found, "params"), "cursor"):
                self.listed.clear()
            self.sent.append(made)
            return True
        if captured.direction is Direction.IN and (one := by_id.get(key)) is not None:
            self.answers += 1
            one.answered_ns = one.answered_ns or captured.mono_ns
            if one.method == LIST:
                tools = list_in(object_in(found, "result"), "tools")
                self.listed += [text_in(tool, "name") for tool in tools if isinstance(tool, Mapping)]
            if isinstance(error := found.get("error"), Mapping):
                one.problem = f"error {error.get('code')}: {error.get('message')}"[:200]
            return True
        return False

    def of(self, method: str) -> Sent | None:
        """Return the last request of a method."""
        return next((one for one in reversed(self.sent) if one.method == method), None)

    def http(self, verb: str) -> list[Sent]:
        return [one for one in self.sent if one.verb == verb]
