"""Which entries are housekeeping: the handshakes, lists and open streams of a server. Pure."""

import time
from collections.abc import Callable, Mapping

from tui.core.jsonrpc.protocol import STAY_OPEN
from tui.core.traffic import REQUESTS, Kind, Outcome, Severity
from tui.traffic.filter.fields import Node, asks_for
from tui.traffic.filter.filter import NameMarks
from tui.traffic.methods import QUESTION, is_setup
from tui.traffic.record.entry_columns import EntryColumns

SLOW_NS = 1_000_000_000
"""What took at least this long is not folded."""

LOOK_BACK = 256
"""Maximum entries between a request and the failed one that it retries."""

_FAILED = frozenset({Outcome.ERROR, Outcome.TOOL_ERROR})
_ENDED = frozenset({Outcome.CANCELLED, Outcome.LOST})  # normal for a stream that is meant to stay open


class Housekeeping:
    """The rule of what is housekeeping in a recording, for the list, the order by latency and the shell.

    `notes` are the user's, by seq. `is_live` returns whether the recording still grows.
    """

    def __init__(
        self,
        entries: EntryColumns,
        notes: Mapping[int, str] | None = None,
        is_live: Callable[[], bool] = lambda: False,
    ) -> None:
        self._entries, self._is_live = entries, is_live
        self._notes: Mapping[int, str] = notes if notes is not None else {}
        self._setup = NameMarks(entries.methods, is_setup)

    def methods(self) -> bytearray:
        """Return 1 or 0 for each method, by its number."""
        return self._setup.decided()

    def is_call(self, index: int, root: Node | None) -> bool:
        """Return whether an entry is a completed call, for the order by latency with the filter `root`.

        Housekeeping and questions to the user are none unless the filter names a method. Model requests are
        none unless it names a method or a server.
        """
        entries = self._entries
        kind = entries.kind[index]
        if kind not in REQUESTS or entries.latency_ns(index) < 0:
            return False
        if kind == Kind.MODEL_REQUEST:
            return asks_for(root, "method", "server")
        method = entries.method[index]
        is_call = not self.methods()[method] and entries.methods.texts[method] != QUESTION
        return is_call or asks_for(root, "method")

    def folds(self, index: int) -> bool:
        """Return whether an entry may be folded away.

        Failures, retries and what took over a second are not, nor is what the user, a fault or an error of
        the linter marked. A request and its response are folded together.
        """
        entries = self._entries
        number = entries.method[index]
        if not self.methods()[number]:
            return False
        if entries.marked[index] or entries.changed[index] or entries.severity[index] >= Severity.ERROR:
            return False
        if self._notes and entries.seq(index) in self._notes:
            return False
        request = index if entries.kind[index] in REQUESTS else entries.partner(index)
        if request < 0:
            return entries.kind[index] != Kind.ERROR
        if not entries.is_here(request):
            return True
        stays_open = entries.methods.texts[number] in STAY_OPEN
        outcome = entries.outcome[request]
        if outcome in _FAILED or (outcome in _ENDED and not stays_open):
            return False
        return (stays_open or not self._is_slow(request)) and not self._is_retry(request)

    def _is_slow(self, request: int) -> bool:
        entries = self._entries
        if entries.outcome[request] != Outcome.PENDING:
            return entries.latency_ns(request) >= SLOW_NS
        if entries.is_uncertain(request):
            return False
        return not self._is_live() or time.monotonic_ns() - entries.mono[request] >= SLOW_NS

    def _is_retry(self, request: int) -> bool:
        """Return whether the previous request of this method to this server had failed when it was sent."""
        entries = self._entries
        methods, sources = entries.method, entries.source
        method, source = methods[request], sources[request]
        for at in range(request - 1, max(-1, request - LOOK_BACK - 1), -1):
            if methods[at] == method and sources[at] == source and entries.kind[at] in REQUESTS:
                has_failed = entries.outcome[at] in _FAILED or entries.outcome[at] in _ENDED
                return has_failed and entries.partner(at) < request
        return False
