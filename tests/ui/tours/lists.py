"""The lists: sessions, models, rules."""

import os
from types import SimpleNamespace

from tests.ui.fakes import FakeRuntime
from tests.ui.snapshot_stage import with_lists
from tests.ui.snapshot_tour import Visit, tour
from tui.core.permission.rules import Rules
from tui.core.ports import Answer


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
    await visit.see("sessions", "2 sessions")
    await visit.write("milk")
    await visit.see("sessions-found", "bring an umbrella", "1 place")
    await visit.press("ctrl+u", "ctrl+e")
    await visit.see("sessions-rename")
    await visit.press("escape", "down", "ctrl+d")
    await visit.see("sessions-deleted", "1 session")
    await visit.press("ctrl+s")
    await visit.see("sessions-export", "Which notes mention milk?", "redacted value")
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
    visit.app.screen.field.value = 'notes/delete_note {"text": "a secret"}'
    await visit.see("rules-tried", "Denied   rule: deny */delete_*")
    await visit.press("ctrl+u", "ctrl+n")
    await visit.write("ask notes")
    await visit.press("enter")
    await visit.see("rules-new", "invalid rule")


@tour(FakeRuntime, "sessions-empty")
async def no_sessions(visit: Visit) -> None:
    await visit.press("f9")
    await visit.see("sessions-empty", "No sessions yet")
