"""A real server that returns its secret everywhere; the program never gets it."""

import sys
import threading
from contextlib import asynccontextmanager
from pathlib import Path
from types import SimpleNamespace

from tests.hosts import called, running
from tui.core.ports import Undecided
from tui.core.secrets.redact import Redactor
from tui.core.servers import ServerSpec
from tui.core.tools import TextContent
from tui.host.redaction import ResultRedactor
from tui.host.server.host_context import Answerers

LEAKY = Path(__file__).parent / "leaky_server.py"
SECRET = "canary-7f3a9c-secret"
MARK = "[redacted:LEAKY_TOKEN]"


@asynccontextmanager
async def leaky(kept=None, **more):
    spec = ServerSpec("srv", sys.executable, (str(LEAKY),), env={"LEAKY_TOKEN": SECRET}, **more)
    redactor = Redactor({"LEAKY_TOKEN": SECRET})
    decisions = Undecided() if kept is None else SimpleNamespace(add=kept.append)
    answerers = Answerers(decisions=decisions)
    async with running(spec, redactor=redactor, answerers=answerers) as host:
        yield host


async def test_results_errors_and_progress_for_the_model_contain_no_secret():
    told = []
    async with leaky() as host:
        (tool,) = host.toolbox.tools()
        given = {"seconds": 10, "progress": lambda *what: told.append(what)}
        result = await host.toolbox.call(tool, {"text": "a"}, **given)
        failed = await host.toolbox.call(tool, {"text": "fail"}, **given)
        wrong = await host.toolbox.check(tool, {"text": [SECRET]})
    assert result.content == (TextContent(f"it is {MARK}; told False"),)
    assert SECRET not in str(result.raw) and MARK in str(result.raw)
    assert MARK in str(failed.content) and SECRET not in str(failed)
    assert told and SECRET not in str(told)
    assert SECRET not in wrong and "text" in wrong


async def test_an_argument_is_sent_to_the_server_unchanged():
    async with leaky() as host:
        secret = await called(host, text=SECRET)
        mark = await called(host, text=MARK)
    assert secret.content == (TextContent(f"it is {MARK}; told True"),)
    assert mark.content == (TextContent(f"it is {MARK}; told False"),)


async def test_tools_are_offered_without_secrets_and_called_by_their_original_definition():
    async with leaky() as host:
        (tool,) = host.toolbox.tools()
        again = host.toolbox.tools()
        (by_hand,) = host.workbench.tools("srv")
        result = await called(host)
    assert tool.description == f"Leaks {MARK}." and SECRET not in repr(tool)
    assert by_hand is tool and again == [tool]
    assert not result.is_error


async def test_with_send_as_is_only_the_model_gets_unredacted_results():
    async with leaky(send_as_is=True) as host:
        (tool,) = host.toolbox.tools()
        result = await called(host)
        by_hand = await host.workbench.call_tool(
            tool, {}, call="hand-1", seconds=10, progress=lambda *_: None
        )
        host.reconfigure("srv", send_as_is=False)
        after = await called(host)
    assert result.content == (TextContent(f"it is {SECRET}; told False"),) and result.as_is
    assert SECRET not in repr(by_hand) and SECRET not in repr(after)
    assert SECRET not in repr(tool)


async def test_everything_that_the_workbench_shows_of_a_server_is_redacted():
    async with leaky() as host:
        bench = host.workbench
        identity = await bench.identity("srv")
        resources, _ = await bench.resources("srv")
        prompts, _ = await bench.prompts("srv")
        (tool,) = bench.tools("srv")
        said = [
            identity,
            resources,
            prompts,
            await bench.entries("srv", "tools"),
            await bench.call_tool(tool, {}, call="hand-1", seconds=10, progress=lambda *_: None),
            await bench.get_prompt("srv", "p", {"a": "b"}, call="hand-2", seconds=10),
            await bench.complete(prompts[0], "a", "", {}),
            await bench.request("srv", "tools/list", None, call="hand-3", seconds=10),
        ]
    assert [one for one in said if SECRET in repr(one) or MARK not in repr(one)] == []
    assert [one for one in said if SECRET in str(getattr(one, "raw", ""))] == []


async def test_a_resource_whose_uri_contains_a_secret_is_listed_redacted_and_can_be_read():
    async with leaky() as host:
        bench = host.workbench
        ((resource,), _) = await bench.resources("srv")
        assert resource.uri == f"leak://{MARK}/notes"
        result = await bench.read_resource("srv", resource.uri, call="hand-1", seconds=10)
    assert not result.is_error
    assert MARK in repr(result.content) and SECRET not in repr(result.content)


async def test_reading_by_hand_is_recorded_with_the_uri_and_without_values():
    kept = []
    async with leaky(kept) as host:
        bench = host.workbench
        ((resource,), _) = await bench.resources("srv")
        await bench.read_resource("srv", resource.uri, call="hand-1", seconds=10)
        await bench.get_prompt("srv", "p", {"a": "b"}, call="hand-2", seconds=10)
        await bench.request("srv", "resources/read", {"uri": "x"}, call="hand-3", seconds=10)
        await bench.request("srv", "prompts/get", {"name": "p"}, call="hand-4", seconds=10)
        await bench.request("srv", "tools/list", None, call="hand-5", seconds=10)
        await bench.read_resource("srv", resource.uri, call="", seconds=10)  # by the model
    assert [(one.server, one.subject, one.allowed, one.by, one.asked_by) for one in kept] == [
        ("srv", f"{what} (by hand)", True, "key", "user")
        for what in (
            f"resources/read leak://{MARK}/notes",
            "prompts/get p",
            "resources/read x",
            "prompts/get p",
        )
    ]
    assert len({one.digest for one in kept}) == 4


async def test_the_uri_in_a_decision_is_clean_bounded_and_redacted():
    kept = []
    hostile = f"http://u:pw-of-a-url@h/{SECRET}\x1b[31m\n" + "x" * 5000
    async with leaky(kept) as host:
        await host.workbench.request("srv", "resources/read", {"uri": hostile}, call="hand-1", seconds=10)
        await host.workbench.request("srv", "resources/read", {"uri": 7}, call="hand-2", seconds=10)
    first, second = (one.subject for one in kept)
    assert MARK in first and SECRET not in first and "pw-of-a-url" not in first
    assert first.isprintable() and len(first) < 300
    assert second == "resources/read (by hand)"


async def test_a_tool_list_is_redacted_in_a_thread_beforehand(monkeypatch):
    threads = []

    def watched(self, tools):
        threads.append(threading.current_thread())
        listed(self, tools)

    listed = ResultRedactor.listed
    monkeypatch.setattr(ResultRedactor, "listed", watched)
    async with leaky() as host:
        assert len(host.toolbox.tools()) == 1
    assert threads and threading.main_thread() not in threads


async def test_a_request_as_it_is_keeps_the_secrets_of_its_server():
    async with leaky() as host:
        params = {"name": host.toolbox.tools()[0].name, "arguments": {"text": "a"}}
        given = {"call": "hand-1", "seconds": 10}
        whole = await host.workbench.request("srv", "tools/call", params, **given, as_is=True)
        shown = await host.workbench.request("srv", "tools/call", params, **given)
    assert SECRET in str(whole.result) and SECRET not in str(shown.result)
