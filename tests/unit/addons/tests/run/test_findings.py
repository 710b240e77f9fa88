"""The findings about the messages of one case: not those of others, and bounded under a flood."""

import json
from typing import Any

from tui.addons.tests.run.findings import AGAIN, MOST_LINES, MOST_WAITING, ServerTraffic, TrafficByServer
from tui.core.traffic import Captured, Cause, Direction, Kind
from tui.host.schemas.judge import ModelJudge

CALL = Cause(0, 0, "hand-1")
OUT, IN = Direction.OUT, Direction.IN


class Traffic:
    """A server's traffic after its handshake. Each message is one millisecond after the one before."""

    def __init__(self) -> None:
        self.server = ServerTraffic(ModelJudge(), lambda text: text)
        self._at = 0
        introduced = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}}
        introduced["serverInfo"] = {"name": "x", "version": "1"}
        client = {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "c", "version": "1"},
        }
        self.message(OUT, id=1, method="initialize", params=client)
        self.message(IN, id=1, result=introduced)
        self.message(OUT, method="notifications/initialized")

    def message(self, direction: Direction, cause: Cause | None = None, **message: Any) -> None:
        self.line(direction, json.dumps({"jsonrpc": "2.0", **message}).encode(), cause=cause)

    def line(
        self, direction: Direction, raw: bytes, kind: Kind | None = None, cause: Cause | None = None
    ) -> None:
        self._at += 1_000_000
        self.server.take(Captured("weather", direction, self._at, self._at, raw, kind, cause=cause))

    def call(self, ident: int = 2, cause: Cause = CALL) -> None:
        self.message(OUT, cause, id=ident, method="tools/call", params={"name": "add", "arguments": {}})

    def answer(self, ident: int = 2, **result: Any) -> None:
        self.message(IN, id=ident, result={"content": [], **result})

    def codes(self, call: str = "hand-1") -> list[str]:
        return [one.code for one in self.server.findings(call)[0]]


def test_a_good_exchange_has_no_findings_and_its_time():
    traffic = Traffic()
    traffic.call()
    traffic.answer()
    assert traffic.server.findings("hand-1") == ([], 1.0)


def test_a_bad_result_is_a_finding_of_its_case():
    traffic = Traffic()
    traffic.call()
    traffic.answer(content="text")
    assert traffic.codes() == ["bad-result"]
    traffic.call(3, Cause(0, 0, "hand-2"))
    traffic.answer(3)
    assert traffic.codes("hand-2") == []


def test_stray_output_before_the_response_is_of_the_case():
    traffic = Traffic()
    traffic.line(IN, b"Starting...")
    traffic.call()
    traffic.line(IN, b"Loading...")
    traffic.answer()
    traffic.line(IN, b"Done.")
    assert traffic.codes() == ["stray-output"]
    assert list(traffic.server.lines) == ["Starting...", "Loading...", "Done."]


def test_what_comes_after_the_response_is_of_no_case():
    traffic = Traffic()
    traffic.call()
    traffic.answer()
    traffic.answer()
    assert traffic.codes() == []
    traffic.call(3, Cause(0, 0, "hand-2"))
    traffic.answer(3)
    assert traffic.codes("hand-2") == []


def test_a_call_without_a_response_has_no_time():
    traffic = Traffic()
    traffic.call()
    assert traffic.server.findings("hand-1") == ([], None)


def test_our_own_messages_have_no_findings():
    traffic = Traffic()
    traffic.message(OUT, CALL, id=2, method="tools/call", params="none")
    traffic.answer()
    assert traffic.codes() == []


def test_of_a_flood_the_rest_is_dropped():
    traffic = Traffic()
    traffic.call()
    for _ in range(2 * MOST_WAITING):
        traffic.message(IN, method="notifications/message", params={"level": "info", "data": "x"})
    traffic.answer()
    assert traffic.codes() == []
    traffic.call(3, Cause(0, 0, "hand-2"))
    traffic.answer(3)
    assert traffic.codes("hand-2") == [], "the first answer may have been to a dropped request"


def test_stray_output_whose_flood_hides_the_response_is_of_the_case():
    traffic = Traffic()
    traffic.call()
    for _ in range(MOST_WAITING):
        traffic.line(IN, b"x")
    traffic.answer()
    assert set(traffic.codes()) == {"stray-output"}


def test_stray_output_is_of_the_case_even_if_a_flood_began_before_it():
    traffic = Traffic()
    for _ in range(MOST_WAITING):
        traffic.message(IN, method="notifications/message", params={"level": "info", "data": "x"})
    traffic.call()
    traffic.line(IN, b"x" * 100_000)
    traffic.line(IN, b"x" * 100_000)
    traffic.answer()
    assert traffic.codes() == ["stray-output"]


def test_stderr_is_kept_with_a_limit():
    traffic = Traffic()
    for number in range(MOST_LINES + 5):
        traffic.line(Direction.NONE, b"%d" % number, Kind.STDERR)
    assert len(traffic.server.lines) == MOST_LINES and traffic.server.lines[0] == "5"


def test_only_servers_of_the_run_are_followed():
    traffic = TrafficByServer(lambda text: text)
    followed = traffic.of("weather")
    for source in ("weather", "other"):
        traffic(Captured(source, Direction.NONE, 1, 1, b"line", Kind.STDERR))
    assert list(followed.lines) == ["line"]


def test_a_response_that_comes_again_during_the_next_case_is_about_its_own():
    traffic = Traffic()
    for number in (1, 2):
        traffic.server.begin()
        traffic.call(number + 1, Cause(0, 0, f"hand-{number}"))
        traffic.answer(number + 1)
        assert traffic.codes(f"hand-{number}") == []
        traffic.answer(number + 1)
    traffic.codes("")
    assert [(number, one.code) for number, one in traffic.server.late] == [(1, AGAIN), (2, AGAIN)]
