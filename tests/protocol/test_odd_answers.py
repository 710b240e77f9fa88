"""Servers that answer with another id, or print on stdout what is no message."""

import sys
from pathlib import Path

import pytest

from tests.configurations import config_file, server
from tests.programs import ANSWERING
from tests.protocol.command import mcptui
from tests.ui.real_stage import real_app
from tui.core.servers import ServerSpec
from tui.host.server import lists

SERVER = Path(__file__).with_name("odd_server.py")


def config(folder: Path, fault: str) -> str:
    return config_file(folder, server("odd", SERVER, fault))


def spec_of(fault: str) -> ServerSpec:
    return ServerSpec("odd", sys.executable, args=(str(SERVER), fault))


async def test_a_list_whose_response_has_another_id_names_it(hosting, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(lists, "FIRST_LIST_SECONDS", 0.3)
    host = await hosting(spec_of("list-id"))
    said = "no response within 0.3 s. The server sent a response with the id 31337, which no request has"
    assert host.status("odd").listing_problem == said


@pytest.mark.parametrize(
    ("fault", "sent"),
    [
        ("call-id", 'a response with the id "call-7", which no request has'),
        ("null-id", "an error without an id: “Parse error: no such brace”"),
    ],
)
async def test_a_call_that_is_answered_under_another_id_or_none_says_so(
    tmp_path: Path, fault: str, sent: str
):
    done = await mcptui("call", "--config", config(tmp_path, fault), "odd", "one", "--seconds", "0.4")
    assert done.code == 3
    assert f"The server sent {sent}." in done.err


@pytest.mark.parametrize("fault", ["no-content", "empty-content"])
async def test_a_failed_call_without_content_says_so(tmp_path: Path, fault: str):
    done = await mcptui("call", "--config", config(tmp_path, fault), "odd", "one")
    assert (done.code, done.out) == (1, "") and "one failed without a message" in done.err


async def test_the_items_before_a_page_that_fails_are_counted_and_listed(hosting, tmp_path: Path):
    host = await hosting(spec_of("page-2"))
    status = host.status("odd")
    assert (status.tools, status.resources, status.prompts) == (1, 1, 1)
    done = await mcptui("list", "--config", config(tmp_path, "page-2"), "odd")
    assert done.out.count("one") >= 3 and "page 2 failed: page 2 broke" in done.err


NOISY = (
    ANSWERING
    + r"""
def out(raw): sys.stdout.buffer.write(raw); sys.stdout.buffer.flush()
def answer(method, params, ident):
    if method == "tools/call":
        out(b"calling \xff"); out(b" now\n")
        out(b'{"jsonrpc": "2.0", "method": "x", "params": ' + b"[" * 300 + b"]" * 300 + b"}\n")
        return text("done")
out(b"\x1b[31mStarting\x1b[0m\n")
print("on stderr", file=sys.stderr, flush=True)
serve(answer, ["add"])
"""
)


@pytest.fixture
def noisy(tmp_path: Path) -> str:
    return server("noisy", "-c", NOISY)


async def test_printed_lines_are_a_mark_in_the_servers_pane_and_in_the_log(
    separate_home: Path, noisy: str
) -> None:
    async with real_app(separate_home, noisy) as real:
        await real.has_state("noisy", "RUNNING")
        await real.shows("! 1 line on stdout")
        tool = real.runtime.workbench.tools("noisy")[0]
        await real.runtime.workbench.call_tool(tool, {}, call="c", seconds=10, progress=lambda *_: None)
        await real.shows("! 2 lines on stdout", "! 1 invalid message: JSON nested")
        log = real.runtime.host.stderr("noisy")
        assert set(log) == {"stdout: Starting", "on stderr", "stdout: calling \ufffd now"}
        assert real.runtime.host.status("noisy").stderr_last == "on stderr"


async def test_the_log_of_the_workbench_has_what_was_printed(separate_home: Path, noisy: str) -> None:
    async with real_app(separate_home, noisy) as real:
        await real.has_state("noisy", "RUNNING")
        await real.press("f3", "enter", "1")
        await real.shows("1 line on stdout, in its log")
        await real.press("5")
        await real.shows("stdout     Starting")


async def test_run_says_what_was_printed_before_and_during_its_turn(tmp_path: Path, noisy: str) -> None:
    file = tmp_path / "c.toml"
    file.write_text(noisy)
    options = ("--config", str(file), "--trust-config", "--demo", "--server", "noisy")
    ran = await mcptui("run", *options, "--approve", "all", "call add {}")
    assert "· noisy: 2 lines on stdout: Starting. Only messages belong there" in ran.err


async def test_the_commands_say_what_was_printed(tmp_path: Path, noisy: str) -> None:
    file = tmp_path / "c.toml"
    file.write_text(noisy)
    options = ("--config", str(file), "--trust-config")
    listed = await mcptui("servers", *options)
    assert "    ! 1 line on stdout: Starting. Only messages belong there" in listed.out
    called = await mcptui("call", "noisy", "add", *options)
    assert called.out == "done\n"
    said = "2 lines on stdout: Starting. Only messages belong there: its author should print to stderr."
    assert f"· noisy: {said} 1 invalid message: JSON nested too deeply." in called.err
