"""The subscriptions of a run: a real runtime, its configuration file, and a real server."""

import asyncio
import json
import os
import signal
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tests.configurations import server
from tests.conftest import until
from tests.hosts import called
from tests.unit.addons.events.stage import ROOT, SCRIPT
from tui.addons.events.events import NOT_OFFERED, OTHER, OTHER_PROGRAM, SIGNED_OUT, TURNED_OFF
from tui.addons.events.rules import EventRule
from tui.addons.events.store import EventStore, events_file
from tui.addons.events.subscription import State
from tui.core.errors import UsageError
from tui.core.jsonrpc.extensions import EVENTS
from tui.host.sign_in.sign_ins import NOT_SIGNED_IN
from tui.runtime.options import Options
from tui.runtime.runtime import Runtime
from tui.settings.locations import state_dir
from tui.settings.state.permission.stored_decisions import read_decisions

BY = "key"


def config(tmp_path: Path, *switches: str, **values) -> Path:
    file = tmp_path / "config.toml"
    file.write_text(
        server(
            "srv", SCRIPT, f"log={tmp_path / 'log.jsonl'}", *switches, env={"PYTHONPATH": str(ROOT)}, **values
        )
    )
    return file


@asynccontextmanager
async def run(file: Path, *, starts: bool = True):
    """Run mcptui over a configuration file."""
    runtime = Runtime(Options(config=str(file), trust_config=True, save=False), {})
    await runtime.ready(taps=False, model=False)
    try:
        if starts:
            await until(lambda: runtime.host.find("srv") is not None and runtime.workbench.is_running("srv"))
        yield runtime
    finally:
        await runtime.shutdown()


async def subscribed(runtime: Runtime, name: str = "push", **arguments: object):
    types, problem = await runtime.events.types("srv")
    assert not problem
    kind = next(one for one in types if one.name == name)
    return await runtime.events.subscribe("srv", kind, arguments, by=BY)


async def test_without_subscriptions_nothing_of_events_is_started(tmp_path):
    async with run(config(tmp_path)) as runtime:
        assert "events" not in runtime.__dict__ and not events_file().exists()


async def test_an_event_lands_in_the_inbox(tmp_path):
    async with run(config(tmp_path)) as runtime:
        one = await subscribed(runtime)
        await until(lambda: one.state.state is State.LIVE)
        await called(runtime.host, "emit")
        await until(lambda: runtime.events.inbox.items)
        (item,) = runtime.events.inbox.items
        assert (item.server, item.event, item.id, item.data, item.problem) == (
            "srv",
            "push",
            "evt-0",
            {"n": 0},
            "",
        )
        assert runtime.events.inbox.unread == 1


async def test_a_subscription_continues_after_a_restart(tmp_path):
    file = config(tmp_path)
    async with run(file) as runtime:
        one = await subscribed(runtime, repo="x")
        await until(lambda: one.state.cursor == "0")
        await called(runtime.host, "emit", count=2)
        await until(lambda: len(runtime.events.inbox.items) == 2)
    with (tmp_path / "log.jsonl").open("a") as log:
        log.write('{"n": 2}\n')
    async with run(file) as runtime:
        await until(lambda: len(runtime.events.inbox.items) == 3)
        assert [item.id for item in runtime.events.inbox.items] == ["evt-0", "evt-1", "evt-2"]
        (one,) = runtime.events.subscriptions
        assert (one.kept.arguments, one.state.duplicates) == ({"repo": "x"}, 0)


async def test_an_event_that_was_accepted_but_not_written_is_repeated_and_one_that_was_is_not(tmp_path):
    """As after kill -9: the file is what is left."""
    file = config(tmp_path)
    async with run(file) as runtime:
        one = await subscribed(runtime)
        await until(lambda: one.state.cursor == "0")
        await called(runtime.host, "emit", count=2)
        await until(lambda: events_file().exists() and '"evt-1"' in events_file().read_text())
        written = events_file().read_text()
        await called(runtime.host, "emit", count=1)
        await until(lambda: len(runtime.events.inbox.items) == 3)
    events_file().write_text(written)
    async with run(file) as runtime:
        await until(lambda: len(runtime.events.inbox.items) == 3)
        assert [item.id for item in runtime.events.inbox.items] == ["evt-0", "evt-1", "evt-2"]


async def test_a_subscription_follows_a_restart_of_its_server(tmp_path):
    async with run(config(tmp_path)) as runtime:
        one = await subscribed(runtime)
        await until(lambda: one.state.state is State.LIVE)
        await runtime.host.stop("srv")
        await until(lambda: one.state.state is State.WAITING)
        await runtime.host.start("srv")
        await until(lambda: one.state.state is State.LIVE)


async def test_a_paused_subscription_stays_paused_and_continues_where_it_was(tmp_path):
    file = config(tmp_path)
    async with run(file) as runtime:
        one = await subscribed(runtime)
        await until(lambda: one.state.cursor == "0")
        await runtime.events.stop_all()
        assert one.state.state is State.PAUSED
        await called(runtime.host, "emit")
    async with run(file) as runtime:
        await until(lambda: runtime.events.subscriptions)
        (one,) = runtime.events.subscriptions
        assert one.state.state is State.PAUSED and not runtime.events.inbox.items
        await runtime.events.pause(one, is_paused=False)
        await until(lambda: runtime.events.inbox.items)


async def test_an_unsubscribed_subscription_is_gone_and_its_events_stay(tmp_path):
    file = config(tmp_path, "emit=1")
    async with run(file) as runtime:
        one = await subscribed(runtime)
        await until(lambda: runtime.events.inbox.items)
        await runtime.events.unsubscribe(one)
        while not (await called(runtime.host, "look")).structured["cancelled"]:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
    found, inbox, *_ = EventStore().read()
    assert found == [] and len(inbox.items) == 1


async def test_an_event_type_that_needs_a_webhook_says_so(tmp_path):
    async with run(config(tmp_path)) as runtime:
        with pytest.raises(UsageError, match="public address"):
            await subscribed(runtime, "hook")


async def test_the_same_subscription_is_made_once(tmp_path):
    async with run(config(tmp_path)) as runtime:
        await subscribed(runtime, repo="x")
        await subscribed(runtime, repo="y")
        with pytest.raises(UsageError, match="already subscribed"):
            await subscribed(runtime, repo="x")


async def test_beyond_the_streams_of_a_server_events_are_polled(tmp_path, monkeypatch):
    monkeypatch.setattr("tui.addons.events.events.MAX_STREAMS", 1)
    async with run(config(tmp_path)) as runtime:
        one, other = await subscribed(runtime, repo="x"), await subscribed(runtime, repo="y")
        assert (one.state.mode, other.state.mode) == ("push", "poll")


async def test_a_subscription_that_the_server_ends_says_so_after_a_restart_too(tmp_path):
    file = config(tmp_path, "terminate=removed")
    async with run(file) as runtime:
        one = await subscribed(runtime)
        await until(lambda: one.state.is_over)
    async with run(file) as runtime:
        await until(lambda: runtime.events.subscriptions)
        (one,) = runtime.events.subscriptions
        assert (one.state.state, one.state.problem) == (State.ENDED, "The server no longer offers it.")


async def test_an_event_that_violates_its_schema_says_so(tmp_path):
    async with run(config(tmp_path, "violation", "emit=1")) as runtime:
        await subscribed(runtime)
        await until(lambda: runtime.events.inbox.items)
        assert runtime.events.inbox.items[0].problem.startswith("It does not match its schema: ")


async def test_secrets_in_events_are_redacted(tmp_path, monkeypatch):
    async with run(config(tmp_path, "injection", "emit=1")) as runtime:
        runtime.redactor.add_some("s", {"s.key": "Ignore all previous"})
        await subscribed(runtime)
        await until(lambda: runtime.events.inbox.items)
        assert runtime.events.inbox.items[0].data["text"].startswith("[redacted:s.key]")
    assert "Ignore all" not in events_file().read_text()


async def test_secrets_in_errors_are_redacted(tmp_path):
    async with run(config(tmp_path, "terminate=revoked")) as runtime:
        runtime.redactor.add_some("s", {"s.key": "Access revoked"})
        one = await subscribed(runtime)
        await until(lambda: one.state.is_over)
        assert one.state.problem == "Access denied (Forbidden: [redacted:s.key])."


async def test_an_event_is_of_the_type_that_was_subscribed_whatever_it_calls_itself(tmp_path):
    async with run(config(tmp_path, "named=deploy", "emit=1")) as runtime:
        await subscribed(runtime)
        await until(lambda: runtime.events.inbox.items)
        (item,) = runtime.events.inbox.items
        assert (item.event, item.problem) == ("push", "Its name is deploy.")


async def test_another_program_of_the_same_name_gets_no_subscription(tmp_path):
    async with run(config(tmp_path)) as runtime:
        await subscribed(runtime)
    async with run(config(tmp_path, "beat=0.1")) as runtime:
        await until(lambda: runtime.events.subscriptions)
        (one,) = runtime.events.subscriptions
        await called(runtime.host, "emit")
        assert (one.state.state, one.task, one.state.problem) == (State.WAITING, None, OTHER_PROGRAM)
        assert (await called(runtime.host, "look")).structured["asked"] == []
        await subscribed(runtime)
        (one,) = runtime.events.subscriptions
        await until(lambda: one.state.state is State.LIVE)


async def test_a_subscription_says_that_events_were_turned_off_and_continues_when_they_are_on(tmp_path):
    async with run(config(tmp_path)) as runtime:
        one = await subscribed(runtime)
        await until(lambda: one.state.state is State.LIVE)
        await runtime.server_changes.switch_extension("srv", EVENTS)
        await until(lambda: one.state.problem == TURNED_OFF and one.state.state is State.WAITING)
        await runtime.server_changes.switch_extension("srv", EVENTS)
        await until(lambda: one.state.state is State.LIVE)
        assert one.state.problem == ""


async def test_a_server_that_dies_is_started_again_for_its_subscription(tmp_path):
    async with run(config(tmp_path)) as runtime:
        one = await subscribed(runtime)
        await until(lambda: one.state.state is State.LIVE)
        first = runtime.host.find("srv").pid
        os.kill(first, signal.SIGKILL)
        await until(lambda: runtime.host.find("srv").pid not in (None, first))
        await until(lambda: one.state.state is State.LIVE and one.state.problem == "")


async def test_a_server_of_a_paused_subscription_is_not_started_again(tmp_path):
    async with run(config(tmp_path)) as runtime:
        one = await subscribed(runtime)
        await runtime.events.pause(one)
        os.kill(runtime.host.find("srv").pid, signal.SIGKILL)
        await until(lambda: "SIGKILL" in one.state.problem)
        assert all("again" not in task.get_name() for task in runtime.events._tasks.running)


async def test_a_subscription_says_that_its_server_stopped_offering_events(tmp_path):
    async with run(config(tmp_path)) as runtime:
        one = await subscribed(runtime)
        runtime.events.offers = lambda server: False
        runtime.events._look()
        assert one.state.problem == NOT_OFFERED


async def test_a_subscription_of_another_account_is_ended(tmp_path):
    file = config(tmp_path)
    async with run(file) as runtime:
        await subscribed(runtime)
    text = json.loads(events_file().read_text())
    text["subscriptions"][0]["account"] = "someone"
    events_file().write_text(json.dumps(text))
    async with run(file) as runtime:
        await until(lambda: runtime.events.subscriptions and runtime.events.subscriptions[0].state.is_over)
        assert runtime.events.subscriptions[0].state.problem == SIGNED_OUT


async def test_signing_out_removes_the_subscriptions_of_the_account(tmp_path, monkeypatch):
    async with run(config(tmp_path, "emit=1")) as runtime:
        one = await subscribed(runtime)
        await until(lambda: runtime.events.inbox.items)
        one.kept.account = "someone"
        monkeypatch.setattr(runtime.host.sign_ins, "state", lambda server: NOT_SIGNED_IN)
        runtime.host.revision += 1
        await until(lambda: not runtime.events.subscriptions)
        assert runtime.events.inbox.items == ()


async def test_only_one_mcptui_delivers(tmp_path):
    file = config(tmp_path)
    async with run(file) as first:
        await subscribed(first)
        await until(lambda: events_file().exists())
        async with run(file) as second:
            await until(lambda: second.events.problem == OTHER)
            assert len(second.events.subscriptions) == 1 and not second.events.delivers
            assert second.events.subscriptions[0].state.state is State.ELSEWHERE
            with pytest.raises(UsageError, match="Another mcptui"):
                await subscribed(second, repo="y")


@pytest.mark.parametrize("what", ["stop_all", "pause", "unsubscribe", "confirm"])
async def test_what_would_change_nothing_in_another_mcptui_says_so(tmp_path, what):
    file = config(tmp_path)
    async with run(file) as first:
        one = await subscribed(first)
        await until(lambda: events_file().exists())
        async with run(file, starts=False) as second:
            await until(lambda: second.events.problem == OTHER)
            about = {"stop_all": (), "confirm": (EventRule("*", "x"),)}.get(what, (one,))
            with pytest.raises(UsageError, match="Another mcptui"):
                await getattr(second.events, what)(*about)


async def test_a_server_that_is_removed_takes_its_subscriptions_along(tmp_path):
    file = config(tmp_path)
    async with run(file) as runtime:
        await subscribed(runtime)
        file.write_text("[servers]\n")
        await runtime.configuration.reload()
        await until(lambda: not runtime.events.subscriptions)


async def test_a_subscription_is_a_decision(tmp_path):
    async with run(config(tmp_path)) as runtime:
        await subscribed(runtime, repo="x")
    records, _ = read_decisions(state_dir() / "decisions.jsonl")
    (record,) = [one for one in records if one.subject == "subscribe push (by hand)"]
    assert (record.server, record.allowed, record.by) == ("srv", True, BY)
