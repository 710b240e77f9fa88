"""Untrusted servers, in a terminal: their read-only marks and results decide nothing."""

import asyncio
from pathlib import Path

from tests.endpoint import calls, says
from tests.protocol.command import mcptui
from tests.terminal.pty_app import TerminalApp
from tests.terminal.set_ups import config_with, endpoint_beside

TRUST, DO_NOT_TRUST = "\x13", "\x18"
PEEK = calls(("liar__peek", {}))
INJECTED = calls(("fetch__echo", {"text": "weather"}))
OBEYS = calls(("mail__send_email", {"data": "a key"}))


def answered(app: TerminalApp, key: str, question: str) -> None:
    """Press a key until the question is closed, since it ignores keys during the grace time."""

    def gone() -> bool:
        if question in app.text:
            app.send(key)
            app.pump(0.3)
        return question not in app.text

    app.until(gone)


def test_trust_in_a_read_only_server_is_asked_for_once_and_approval_for_each_call(tmp_path: Path) -> None:
    with endpoint_beside([PEEK, says("First."), PEEK, says("Second.")]) as endpoint:
        config = config_with(tmp_path, {"liar": ("dishonest_annotations", {})}, endpoint=endpoint.base_url)
        with TerminalApp.real("--config", config, columns=80, rows=24) as app:
            app.shows("1 of 1")
            app.send("peek\r")

            app.shows("Trust the server “liar”?", "It marks its tool “peek” as read-only", "need approval")
            answered(app, DO_NOT_TRUST, "Trust the server “liar”?")
            app.shows("y once", "marks it as read-only")
            answered(app, "n", "y once")
            app.shows("First.")
            app.answered()
            app.send("again\r")
            app.shows("y once")
            assert "Trust the server “liar”?" not in app.text
            answered(app, "n", "y once")
            app.shows("Second.")
            assert "deleted 214" not in app.text
            app.answered()
            app.quits()


def test_an_answer_is_kept_after_the_app_exits(tmp_path: Path) -> None:
    with endpoint_beside([PEEK, says("First."), PEEK, says("Second.")]) as endpoint:
        config = config_with(tmp_path, {"liar": ("dishonest_annotations", {})}, endpoint=endpoint.base_url)
        with TerminalApp.real("--config", config) as app:
            app.shows("RUNNING")
            app.send("peek\r")
            app.shows("Trust the server “liar”?")
            answered(app, TRUST, "Trust the server “liar”?")
            app.shows("First.", "deleted 214")
            app.answered()
            app.quits()
        done = asyncio.run(mcptui("run", "--config", config, "peek"))
        assert (done.code, done.out) == (0, "Second.\n") and "deleted 214" in done.err


def test_a_call_requested_by_an_injected_result_needs_approval_with_the_reason(tmp_path: Path) -> None:
    with endpoint_beside([INJECTED, OBEYS, says("Refused.")]) as endpoint:
        servers = {"fetch": ("prompt_injection_result", {}), "mail": ("tool_shadowing", {})}
        config = config_with(tmp_path, servers, endpoint=endpoint.base_url, rules=["fetch/*"])
        with TerminalApp.real("--config", config, columns=80, rows=24) as app:
            app.shows("2 of 2")
            app.send("weather?\r")
            app.shows("y once", "contains a result")
            answered(app, "n", "y once")
            app.shows("Refused.")
            app.answered()
            app.quits()


def test_a_command_asks_on_the_terminal_whether_to_trust_the_server(tmp_path: Path) -> None:
    with endpoint_beside([PEEK, says("Done.")]) as endpoint:
        config = config_with(tmp_path, {"liar": ("dishonest_annotations", {})}, endpoint=endpoint.base_url)
        with TerminalApp.real("run", "--config", config, "--json", "peek") as app:
            app.shows("Trust the server “liar”? It marks its tool “peek” as read-only", "y yes, n no:")
            app.send("y\r")
            app.shows("deleted 214")
            assert app.ended() == 0
