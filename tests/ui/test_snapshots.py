"""Every screen at two sizes and in two themes is as its file in `tests/snapshots` says.

A tour opens the app, goes from screen to screen by keys, and compares each with its file.
"""

import asyncio
import os
from pathlib import Path
from types import SimpleNamespace

import pytest
from textual.notifications import Notification
from textual.widgets import Input
from textual.widgets._toast import Toast

from tests.clocks import FrozenTime, freeze_time
from tests.ui import bench_stage
from tests.ui.fakes import FakeRuntime
from tests.ui.snapshot_stage import (
    ADDRESS,
    CHANGED,
    FORM,
    REVIEW,
    SAMPLING,
    answering,
    destructive,
    failing,
    forecast,
    idle,
    logging,
    remote,
    slow,
    starting,
    with_lists,
    with_result,
    with_traffic,
)
from tests.ui.snapshot_tour import SIZES, TOURS, Tour, Visit, opened, tour
from tests.ui.snapshots import DARK, FOLDER, LIGHT, REWRITE_COMMAND, path_of
from tui.core.ports import Answer
from tui.core.turn.rules import Rules


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> FrozenTime:
    frozen = freeze_time(monkeypatch, "tui.ui", "tui.core")
    monkeypatch.setattr(bench_stage, "time", frozen)
    return frozen


@pytest.fixture(autouse=True)
def terminal(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Have the same terminal and folder everywhere, no blinking cursor, and toasts that stay."""
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLORTERM", "truecolor")
    monkeypatch.setenv("LANG", "C.UTF-8")
    monkeypatch.setenv("DISPLAY", ":0")
    for name in ("NO_COLOR", "LC_ALL", "LC_CTYPE", "SSH_CONNECTION", "SSH_TTY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(Input, "_toggle_cursor", lambda self: None)
    monkeypatch.setattr(Toast, "_expire", lambda self: None)
    monkeypatch.setattr(Notification, "has_expired", False)
    folder = tmp_path / "work"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(tmp_path))
    (folder / "notes.txt").write_text("milk")
    monkeypatch.chdir(folder)


# ---- the chat ----


@tour(idle, "server-add", "server-change")
async def servers_edited(visit: Visit) -> None:
    await visit.press("f3", "a")
    await visit.write("https")
    await visit.press("colon", "slash", "slash", "m")
    await visit.see("server-add", "Add server", "Headers")
    await visit.press("escape", "e")
    await visit.see("server-change", "Edit the server “weather”", "TOKEN=***", "is not set")


@tour(idle, "chat-empty", "chat-commands", "chat-attach", "palette", "themes", "system-text", "help")
async def empty_chat(visit: Visit) -> None:
    await visit.see("chat-empty", "What's the weather in Hangzhou?")
    await visit.write("/re")
    await visit.see("chat-commands", "/resource", "/rename")
    await visit.press("ctrl+u")
    await visit.write("@")
    await visit.see("chat-attach", "notes.txt")
    await visit.press("escape", "ctrl+u", "ctrl+p")
    await visit.see("palette", "New conversation")
    await visit.press("escape", "ctrl+t")
    await visit.see("themes", "harbor", "quay")
    await visit.press("escape", "f12")
    await visit.write("Be brief.")
    await visit.see("system-text", "Be brief.")
    await visit.press("escape", "f1")
    await visit.see("help", "Send;")


@tour(
    answering,
    "chat-conversation",
    "chat-second-turn",
    "chat-marked",
    "message-menu",
    "chat-unfolded",
    "export-chat",
    "chat-trace",
    "chat-servers",
    "chat-maximized",
    "chat-tail",
)
async def conversation(visit: Visit) -> None:
    await visit.ask("What's the weather in Hangzhou?")
    await visit.see("chat-conversation", "always")
    await visit.ask("Thanks")
    await visit.see("chat-second-turn", "Bye.")
    await visit.press("f2", "up")
    await visit.see("chat-marked")
    await visit.press("enter")
    await visit.see("message-menu", "THIS MESSAGE")
    await visit.press("escape", "home", "down", "enter")
    await visit.see("chat-unfolded", "▾")
    os.chdir("/")  # the path is shown
    await visit.press("f2", "x")
    await visit.see("export-chat", "Export “What's the weather", "redacted value")
    await visit.press("escape", "f6")
    await visit.see("chat-trace", "turn 1")
    await visit.press("f3")
    await visit.see("chat-servers", "STOPPED")
    await visit.press("ctrl+o")
    await visit.see("chat-maximized", "STOPPED")
    await visit.press("ctrl+o", "f7")
    await visit.see("chat-tail")


@tour(destructive, "chat-approval", "refuse-why", "confirm-quit")
async def approval(visit: Visit) -> None:
    await visit.ask("Forget the milk")
    await visit.shows("y once")
    visit.clock.advance(10)  # the keys answer only after the question could be read
    await visit.press("f2")
    await visit.see("chat-approval", "y once")
    await visit.press("e")
    await visit.see("refuse-why", "Deny notes › delete_note")
    await visit.press("escape", "ctrl+q")
    await visit.see("confirm-quit", "Stop it and quit?")


@tour(slow, "chat-running", "chat-queued", "chat-stopped")
async def running_turn(visit: Visit) -> None:
    await visit.ask("Tell me a story")
    await visit.see("chat-running", "Once upon a time")
    await visit.ask("A short one")
    await visit.see("chat-queued", "A short one")
    await visit.press("ctrl+x", "escape")
    await visit.see("chat-stopped", "Stopped")


@tour(failing, "chat-problems", "chat-limit", "chat-unavailable")
async def problems(visit: Visit) -> None:
    await visit.see("chat-problems", "disk full")
    await visit.ask("What's the weather?")
    await visit.see("chat-limit", "So far.", "ctrl+g")
    await visit.press("f2", "p")
    await visit.see("chat-unavailable", "is not available")


@tour(starting, "chat-starting")
async def start(visit: Visit) -> None:
    await visit.see("chat-starting", "mcptui")


# ---- lists ----


@tour(
    with_lists,
    "sessions",
    "sessions-found",
    "sessions-rename",
    "sessions-deleted",
    "sessions-export",
    "chat-resumed",
    "models",
    "models-offered",
)
async def lists(visit: Visit) -> None:
    os.chdir("/")  # the path of an export is shown
    await visit.press("f9")
    await visit.see("sessions", "2 saved")
    await visit.write("milk")
    await visit.see("sessions-found", "bring an umbrella", "1 place")
    await visit.press("ctrl+u", "ctrl+e")
    await visit.see("sessions-rename")
    await visit.press("escape", "down", "ctrl+d")
    await visit.see("sessions-deleted", "1 saved")
    await visit.press("ctrl+s")
    await visit.see("sessions-export", "Export “Which notes mention milk?”", "redacted value")
    await visit.press("escape", "enter")
    await visit.see("chat-resumed", "Two of them.")
    await visit.press("f10")
    await visit.see("models", "set ROUTER_KEY")
    await visit.press("down", "tab")
    await visit.see("models-offered", "llama3")


def with_rules() -> FakeRuntime:
    runtime = FakeRuntime()
    policy = runtime.turn_context.policy
    policy.rules = Rules.parsed(
        ["allow weather/*", "ask files/* path=/etc/*", "deny */delete_*"], deny=["notes/* text=*secret*"]
    )
    policy.remember(runtime.toolbox.tools()[0], Answer.SESSION)
    file = SimpleNamespace(path="/home/ada/.config/mcptui/config.toml")
    runtime.configuration = SimpleNamespace(file=file)
    return runtime


@tour(with_rules, "rules", "rules-tried", "rules-new")
async def rules(visit: Visit) -> None:
    await visit.press("f3", "P")
    await visit.see("rules", "Earlier approvals", "rules[3]")
    visit.app.screen.finder.field.value = 'notes/delete_note {"text": "a secret"}'
    await visit.see("rules-tried", "Denied   rule: deny */delete_*")
    await visit.press("ctrl+u", "ctrl+n")
    await visit.write("ask notes")
    await visit.press("enter")
    await visit.see("rules-new", "not a rule")


@tour(FakeRuntime, "sessions-empty")
async def no_sessions(visit: Visit) -> None:
    await visit.press("f9")
    await visit.see("sessions-empty", "No saved conversations yet")


# ---- the traffic ----


@tour(
    with_traffic,
    "traffic",
    "traffic-filter-bar",
    "traffic-filtered",
    "traffic-filters",
    "traffic-search",
    "traffic-note",
    "traffic-marked",
    "traffic-copy",
    "traffic-export-which",
    "traffic-export-form",
    "traffic-export-name",
    "traffic-statistics",
    "traffic-waterfall",
    "traffic-comparison",
)
async def traffic(visit: Visit) -> None:
    os.chdir("/")  # the path of an export is shown
    await visit.press("f4")
    await visit.see("traffic", "warning")
    await visit.press("slash", *"serv")
    await visit.see("traffic-filter-bar", "server:")
    await visit.press(*"er", "colon", *"notes", "enter")
    await visit.see("traffic-filtered", "4 of 13")
    await visit.press("f")
    await visit.see("traffic-filters")
    await visit.press("escape", "escape", "ctrl+f", *"beijing", "enter")
    await visit.see("traffic-search", "beijing")
    await visit.press("escape", "home", "down", "M", *"look")
    await visit.see("traffic-note", "look")
    await visit.press("enter", "m", "down", "down", "m")
    await visit.see("traffic-marked", "◆")
    await visit.press("c")
    await visit.see("traffic-copy", "curl")
    await visit.press("escape", "x")
    await visit.see("traffic-export-which")
    await visit.press("enter")
    await visit.see("traffic-export-form", "servers notes")
    await visit.press("enter")
    await visit.see("traffic-export-name", "jsonl")
    await visit.press("escape", "S")
    await visit.see("traffic-statistics", "STATISTICS")
    await visit.press("escape", "home", "down", "w")
    await visit.see("traffic-waterfall", "get_weather")
    await visit.press("escape", "d", "end", "d")
    await visit.see("traffic-comparison", "difference")


@tour(
    with_traffic,
    "entry-pair",
    "entry-raw",
    "entry-timing",
    "entry-explanation",
    "entry-findings",
    "entry-tree",
    "entry-search",
    "entry-copy",
    "entry-maximized",
    "entry-bytes",
)
async def entry(visit: Visit) -> None:
    await visit.press("f4")
    await visit.shows("warning")
    await visit.press("home", "down", "down", "enter")
    if visit.size == SIZES[0]:
        await visit.press("right")  # only a wide screen opens with both sides of a call
    await visit.see("entry-pair", "tools/call", "resultType")
    for name, text in (
        ("raw", '"jsonrpc": "2.0"'),
        ("timing", "turn 1"),
        ("explanation", "tools/call"),
        ("findings", "no-result-type"),
        ("tree", "25 °C"),
    ):
        await visit.press("right")
        await visit.see(f"entry-{name}", text)
    await visit.press("slash", *"content", "enter")
    await visit.see("entry-search", "content")
    await visit.press("c")
    await visit.see("entry-copy", "curl")
    await visit.press("escape", "z")
    await visit.see("entry-maximized", "25 °C")
    await visit.press("z", "escape", "down", "down", "down", "down", "enter")
    await visit.see("entry-bytes", "warning")


@tour(with_traffic, "edit-request", "edit-request-wrong", "confirm-call")
async def resending(visit: Visit) -> None:
    recorded = visit.runtime.recorded
    recorded.call("delete_note", source="notes", arguments={"id": "milk"})
    await visit.press("f4")
    await visit.shows("delete_note")
    await visit.press("end", "up", "e")
    await visit.see("edit-request", '"milk"')
    await visit.press("comma")
    await visit.see("edit-request-wrong", "✗ line")
    await visit.press("escape", "R")
    await visit.see("confirm-call", "delete_note")


# ---- the workbench ----


@tour(
    forecast,
    "bench-tools",
    "bench-form",
    "bench-choice",
    "bench-json",
    "bench-result",
    "bench-keep",
    "bench-maximized",
    "bench-calls",
    "bench-compared",
    "bench-filter",
    "bench-confirm",
    "bench-failed",
)
async def bench_calls(visit: Visit) -> None:
    await visit.press("f3", "enter")
    await visit.see("bench-tools", "WORKBENCH", "get_forecast")
    await visit.press("enter", *"Oslo", "tab", "9")
    await visit.see("bench-form", "must be at most 7")
    await visit.press("backspace", "tab", "enter")
    await visit.see("bench-choice", "kelvin")
    await visit.press("escape", "ctrl+e")
    await visit.see("bench-json", '"city": "Oslo"')
    await visit.press("ctrl+e", "ctrl+s")
    await visit.see("bench-result", "done", "Tuesday")
    await visit.press("ctrl+k")
    await visit.see("bench-keep", "Save arguments as")
    await visit.press("escape", "escape", "z")
    await visit.see("bench-maximized", "Ten years of weather")
    await visit.press("z", "2", "home", "down", "enter", *"Oslo", "ctrl+s")
    await visit.shows("temperature  27")
    await visit.press("ctrl+s")
    await visit.see("bench-calls", "temperature  28")
    await visit.press("escape", "d")
    await visit.see("bench-compared", "COMPARED")
    await visit.press("escape", "slash", *"station")
    await visit.see("bench-filter", "delete_station")
    await visit.press("enter", "enter", "x", "ctrl+s")
    await visit.see("bench-confirm", "delete_station")
    visit.clock.advance(10)
    await visit.press("y")
    await visit.see("bench-failed", "there is no such station")


@tour(
    forecast,
    "bench-overview",
    "bench-resources",
    "bench-resource",
    "bench-prompts",
    "bench-prompt",
    "bench-log",
    "bench-traffic",
    "bench-stopped",
)
async def bench_tabs(visit: Visit) -> None:
    await visit.press("f3", "enter")
    await visit.shows("get_forecast")
    await visit.press("1")
    await visit.see("bench-overview", "Weather of the World")
    await visit.press("3")
    await visit.see("bench-resources", "stations")
    await visit.press("ctrl+s")
    await visit.see("bench-resource", "this is weather://stations")
    await visit.press("4")
    await visit.see("bench-prompts", "compare")
    await visit.press("enter", *"Beijing", "tab", *"Hangzhou", "ctrl+s")
    await visit.see("bench-prompt", "Two cities")
    await visit.press("escape", "5")
    await visit.see("bench-log", "GET /beijing 200")
    await visit.press("6")
    await visit.see("bench-traffic", "tools/call")
    await visit.press("1", "s")
    await visit.see("bench-stopped", "STOPPED")


@tour(logging, "log", "log-search", "log-empty")
async def log(visit: Visit) -> None:
    await visit.press("f3", "l")
    await visit.see("log", "line 59")
    await visit.press("slash", *"line 3", "enter")
    await visit.see("log-search", "line 3")
    await visit.press("escape", "escape", "f3", "down", "l")
    await visit.see("log-empty", "has written nothing to stderr yet")


@tour(with_result, "result")
async def result(visit: Visit) -> None:
    await visit.ask("What's the weather?")
    await visit.shows("It rains.")
    await visit.press("f2", "v")
    await visit.see("result", "The rain of today.")


# ---- remote servers, and what servers ask ----


@tour(remote, "servers-remote", "servers-remote-unfolded", "servers-remote-silent")
async def remote_servers(visit: Visit) -> None:
    await visit.press("f3")
    await visit.see("servers-remote", "far", "waiting for")
    await visit.press("ctrl+o", "space")
    await visit.see("servers-remote-unfolded", "far")
    await visit.press("down")
    await visit.see("servers-remote-silent", "unofficial")


@tour(
    idle,
    "question-form",
    "question-address",
    "question-sampling",
    "question-review",
    "question-definitions",
    "question-help",
)
async def questions(visit: Visit) -> None:
    assert visit.app.main.parts is not None
    person = visit.app.main.parts.approvals
    await visit.asked("question-form", person.form(FORM), "Who is the parcel for?", "ctrl+x")
    await visit.asked("question-address", person.address(ADDRESS), "Sign in to pay.", "ctrl+x")
    await visit.asked("question-sampling", person.sampling(SAMPLING), "up to 200 tokens", "ctrl+x")
    await visit.asked("question-review", person.review(REVIEW), "Rain.", "ctrl+x")
    changed = ("alerts  new, suspicious", "esc decide later")
    await visit.asked("question-definitions", person.definitions(CHANGED), *changed)
    waiting = asyncio.ensure_future(person.form(FORM))
    await visit.shows("Who is the parcel for?")
    await visit.press("f1")
    await visit.see("question-help", "Decline the request")
    waiting.cancel()


# ---- the tours ----


@pytest.mark.parametrize("theme", (DARK, LIGHT))
@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
@pytest.mark.parametrize("tour", TOURS, ids=lambda tour: tour.walk.__name__)
async def test_every_screen_is_as_its_snapshot(
    tour: Tour, size: tuple[int, int], theme: str, clock: FrozenTime
) -> None:
    async with opened(tour.runtime(), size, theme, clock) as found:
        await tour.walk(found)
    assert found.seen == list(tour.screens)
    if found.problems:
        problems = "\n\n".join(found.problems)
        pytest.fail(f"{problems}\n\nIf it should be so: {REWRITE_COMMAND}", pytrace=False)


def test_every_snapshot_belongs_to_a_tour() -> None:
    names = [screen for tour in TOURS for screen in tour.screens]
    assert len(names) == len(set(names))
    assert {path_of(name, size) for name in names for size in SIZES} == set(FOLDER.iterdir()) - {
        FOLDER / "all-texts.txt"
    }
