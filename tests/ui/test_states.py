"""Every state of a server is shown by a word and a symbol, never by colour alone."""

import pytest

from tests.ui.stage import FakeHost, Hand, Stage, server, shown, stopped
from tui.core.servers import ServerState, ServerStatus, StopReason
from tui.ui.chat.side_panes import ServersPane
from tui.ui.widgets.symbols import ASCII, UNICODE, Symbols

CASES: list[tuple[ServerStatus, str, str]] = [
    (server("a", ServerState.RUNNING), "running", "RUNNING"),
    (server("a", ServerState.STARTING), "spinner", "STARTING"),
    (server("a", ServerState.STOPPING), "spinner", "STOPPING"),
    (stopped("a", StopReason.NOT_STARTED), "stopped", "STOPPED  not started"),
    (stopped("a", StopReason.REQUESTED), "stopped", "STOPPED  by you"),
    (stopped("a", StopReason.EXITED, exit_code=1), "failed", "STOPPED  exited, code 1"),
    (stopped("a", StopReason.CRASHED, signal="SIGSEGV"), "failed", "STOPPED  crashed, SIGSEGV"),
    (stopped("a", StopReason.FAILED_TO_START), "failed", "STOPPED  failed to start"),
    (stopped("a", StopReason.CRASH_LOOP), "failed", "STOPPED  crash loop"),
]


@pytest.mark.parametrize("symbols", [UNICODE, ASCII], ids=["unicode", "ascii"])
async def test_each_state_has_a_symbol_and_a_word(symbols: Symbols) -> None:
    for status, sign_name, words in CASES:
        hand = Hand(0)
        pane = ServersPane(symbols=symbols, clock=hand)
        async with Stage(pane).run_test(size=(60, 10)) as pilot:
            pane.show_host(FakeHost(status))
            await pilot.pause()
            line = shown(pane)[1]
        sign = getattr(symbols, sign_name)
        assert line[0] in sign
        assert " ".join(words.split()) in " ".join(line.split())


@pytest.mark.parametrize("name", ["running", "stopped", "failed", "done", "waiting", "asks", "warning"])
def test_the_ascii_symbols_are_ascii(name: str) -> None:
    assert getattr(ASCII, name).isascii()


async def test_the_state_is_shown_in_words_with_sixteen_colours_too() -> None:
    pane = ServersPane(clock=Hand(0))
    async with Stage(pane, theme="ansi").run_test(size=(60, 10)) as pilot:
        pane.show_host(FakeHost(stopped("a", StopReason.EXITED, exit_code=2)))
        await pilot.pause()
        assert "STOPPED" in shown(pane)[1]
        assert "exited, code 2" in shown(pane)[1]
