"""The chat, from its first screen to an answer, an approval and a turn that fails."""

import os

from tests.ui.snapshot_stage import answering, destructive, failing, idle, slow, starting
from tests.ui.snapshot_tour import Visit, tour


@tour(idle, "server-add", "server-change")
async def servers_edited(visit: Visit) -> None:
    await visit.press("f3", "a")
    await visit.write("https")
    await visit.press("colon", "slash", "slash", "m")
    await visit.see("server-add", "ADD SERVER", "Headers")
    await visit.press("escape", "escape", "e")
    await visit.see("server-change", "EDIT SERVER   “weather”", "TOKEN=***", "is not set")


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
    await visit.press("escape", "escape", "f1")
    await visit.see("help", "Send, or queue")


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
    await visit.see("export-chat", "EXPORT", "redacted value")
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
    await visit.see("refuse-why", "DENY WITH A REASON")
    await visit.press("escape", "ctrl+q")
    await visit.see("confirm-quit", "Stop it and quit?")


@tour(slow, "chat-running", "chat-queued", "chat-stopped")
async def running_turn(visit: Visit) -> None:
    await visit.ask("Tell me a story")
    await visit.see("chat-running", "Once upon a time")
    await visit.ask("A short one")
    await visit.see("chat-queued", "sent after this turn")
    await visit.press("ctrl+x", "escape")
    await visit.see("chat-stopped", "Stopped")


@tour(failing, "chat-problems", "chat-limit", "chat-unavailable")
async def problems(visit: Visit) -> None:
    await visit.see("chat-problems", "disk full")
    await visit.ask("What's the weather?")
    await visit.see("chat-limit", "So far.", "ctrl+g")
    await visit.press("f2", "p")
    await visit.see("chat-unavailable", "not a branch")


@tour(starting, "chat-starting")
async def start(visit: Visit) -> None:
    await visit.see("chat-starting", "mcptui")
