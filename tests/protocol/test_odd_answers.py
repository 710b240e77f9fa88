"""Answers with a wrong id, without content, or that end with an error: what is said of them."""

import json
import sys
from pathlib import Path

import pytest

from tests.protocol.command import mcptui
from tui.core.ports import MonotonicClock
from tui.core.servers import ServerSpec
from tui.host import connection
from tui.host.host import Host

SERVER = Path(__file__).with_name("odd_server.py")


def config(folder: Path, fault: str) -> str:
    path = folder / "config.toml"
    given = json.dumps([str(SERVER), fault])
    path.write_text(f"[servers.odd]\ncommand = {json.dumps(sys.executable)}\nargs = {given}\n")
    return str(path)


async def started(fault: str) -> Host:
    spec = ServerSpec("odd", sys.executable, args=(str(SERVER), fault))
    host = Host([spec], sink=lambda *_: None, clock=MonotonicClock())
    await host.start_all()
    return host


async def test_a_list_whose_response_has_another_id_names_it(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(connection, "FIRST_LIST_SECONDS", 0.3)
    host = await started("list-id")
    said = "no response within 0.3 s. The server sent a response with the id 31337, which no request has"
    assert host.status("odd").listing_problem == said
    await host.shutdown()


async def test_a_call_whose_response_has_another_id_names_it(tmp_path: Path):
    done = await mcptui("call", "--config", config(tmp_path, "call-id"), "odd", "one", "--seconds", "0.4")
    assert done.code == 3
    assert 'The server sent a response with the id "call-7", which no request has.' in done.err


async def test_a_call_that_is_answered_with_an_error_without_an_id_quotes_it(tmp_path: Path):
    done = await mcptui("call", "--config", config(tmp_path, "null-id"), "odd", "one", "--seconds", "0.4")
    assert done.code == 3
    assert "The server sent an error without an id: “Parse error: no such brace”." in done.err


@pytest.mark.parametrize("fault", ["no-content", "empty-content"])
async def test_a_failed_call_without_content_says_so(tmp_path: Path, fault: str):
    done = await mcptui("call", "--config", config(tmp_path, fault), "odd", "one")
    assert (done.code, done.out) == (1, "") and "one failed without a message" in done.err


async def test_the_items_before_a_page_that_fails_are_counted_and_listed(tmp_path: Path):
    host = await started("page-2")
    status = host.status("odd")
    assert (status.tools, status.resources, status.prompts) == (1, 1, 1)
    await host.shutdown()
    done = await mcptui("list", "--config", config(tmp_path, "page-2"), "odd")
    assert done.out.count("one") >= 3 and "page 2 failed: page 2 broke" in done.err
