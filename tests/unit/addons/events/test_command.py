"""`mcptui events`, as a program."""

import asyncio
import json
import os
import signal
import sys

import pytest

from tests.configurations import config_file, server
from tests.terminal.forking_python import Python
from tests.unit.addons.events.stage import ENV, SCRIPT, served
from tui.addons.events import command
from tui.addons.events.store import events_file
from tui.addons.events.subscription import Position, Subscription
from tui.cli import main
from tui.core.jsonrpc.extensions import EVENTS
from tui.core.servers import ServerSpec

SERVER = ("--", sys.executable, str(SCRIPT))


async def start(*words: str) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        *(Python.command, "-m", "tui", "events", *words),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env=os.environ | ENV,
    )


def by_command(spec: ServerSpec) -> tuple[str, ...]:
    """Return the words that name a server by its command."""
    return ("--", spec.command, *spec.args)


async def ended(*words: str) -> tuple[int | None, str, str]:
    process = await start(*words)
    out, err = await asyncio.wait_for(process.communicate(), 40)
    return process.returncode, out.decode(), err.decode()


async def followed(*words: str, lines: int, note: str = "") -> tuple[int | None, list[str], str]:
    """Follow until there are some lines and a note on stderr, then interrupt."""
    process = await start(*words)
    found = [(await asyncio.wait_for(process.stdout.readline(), 40)).decode() for _ in range(lines)]
    told = ""
    while note not in told:
        told += (await asyncio.wait_for(process.stderr.readline(), 40)).decode()
    process.send_signal(signal.SIGINT)
    _, err = await asyncio.wait_for(process.communicate(), 40)
    return process.returncode, found, told + err.decode()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "SERVER is required"),
        (("srv", "--since", "c"), "--since requires NAME and --follow"),
        (("srv", "--args", "{}"), "--args requires NAME"),
    ],
)
def test_an_invalid_command_line_starts_no_server(capsys, words, said):
    assert main(["events", *words]) == 2
    assert said in capsys.readouterr().err


async def test_event_types_are_listed_and_a_webhook_is_named():
    code, out, _ = await ended("--env", f"PYTHONPATH={ENV['PYTHONPATH']}", *SERVER)
    assert code == 0
    assert out.splitlines()[0].split("  ") == ["push", "webhook, push, poll", "[repo=TEXT]", "The push event"]
    assert "The hook event Cannot subscribe here: webhooks need a public address.\n" in out


async def test_event_types_are_listed_as_json():
    code, out, _ = await ended("push", "--json", "--env", f"PYTHONPATH={ENV['PYTHONPATH']}", *SERVER)
    (one,) = json.loads(out)
    assert (code, one["name"], one["delivery"]) == (0, "push", ["webhook", "push", "poll"])
    assert one["payloadSchema"]["required"] == ["n"]


async def test_an_unknown_event_type_names_the_known_ones():
    code, _, err = await ended("pusch", "--env", f"PYTHONPATH={ENV['PYTHONPATH']}", *SERVER)
    assert code == 2 and "did you mean" in err and "Its event types: push, tick, hook" in err


async def test_events_are_printed_as_json_lines_until_interrupted():
    async with served("emit=2", "injection", over="http") as spec:
        words = ("push", "repo=x", "--follow", "--json")
        code, lines, err = await followed(spec.url, *words, lines=2)
    assert [json.loads(line)["eventId"] for line in lines] == ["evt-0", "evt-1"]
    assert all(line.isascii() for line in lines)
    assert code == 130 and "push: 2 received, to continue: --since=2" in err
    assert not events_file().exists()


async def test_printed_text_is_clean():
    async with served("emit=1", "injection") as spec:
        _, (line,), _ = await followed("push", "--follow", *by_command(spec), lines=1)
    assert "\x1b" not in line and "\u202e" not in line and "[red]" in line


async def test_events_continue_after_a_cursor(tmp_path):
    log = tmp_path / "log"
    log.write_text('{"n": 0}\n{"n": 1}\n')
    async with served(f"log={log}") as spec:
        words = ("push", "--follow", "--json", "--since", "1", "--mode", "poll")
        _, (line,), _ = await followed(*words, *by_command(spec), lines=1)
    assert json.loads(line)["eventId"] == "evt-1"


async def test_duplicates_and_gaps_are_noted(tmp_path):
    log = tmp_path / "log"
    log.write_text('{"n": 0}\n' * 9)
    async with served(f"log={log}", "gap", "duplicates") as spec:
        words = ("push", "--follow", "--since", "0")
        _, _, err = await followed(*words, *by_command(spec), lines=1, note="a duplicate was left out")
    assert "push: the server skipped events" in err and "1 duplicate" in err


async def test_a_subscription_that_ends_ends_the_command():
    async with served("terminate=revoked") as spec:
        code, _, err = await ended("push", "--follow", *by_command(spec))
    assert code == 1 and "Access denied" in err


async def test_a_server_without_events_says_so():
    async with served(over="http") as spec:
        code, _, err = await ended(spec.url, "--era", "legacy")
    assert code == 1 and "The server does not offer events." in err


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ({"extensions": {EVENTS: False}}, "Events is turned off for this server."),
        ({"act_as": "goose"}, "Events is not used with this server: goose-desktop does not declare it."),
    ],
    ids=["turned off", "acting as another host"],
)
async def test_events_that_the_configuration_rules_out_are_not_blamed_on_the_server(tmp_path, setting, said):
    config = config_file(tmp_path, server("srv", SCRIPT, env=ENV, **setting))
    code, _, err = await ended("--config", config, "--trust-config", "srv")
    assert code == 1 and said in err


@pytest.mark.parametrize(
    ("cursor", "said"),
    [("3", "--since=3"), ("1; rm -rf ~", "--since='1; rm -rf ~'"), ("a\x1b[2J", ""), (None, "")],
)
def test_a_cursor_is_printed_to_be_pasted_into_a_shell(capsys, cursor, said):
    command._end_note(Subscription("push", "poll", Position(cursor)))
    err = capsys.readouterr().err
    assert (said in err) if said else ("--since" not in err)
