"""Remote servers, and questions of servers."""

import asyncio

from tests.ui.snapshot_stage import ADDRESS, CHANGED, FORM, REVIEW, SAMPLING, idle, remote
from tests.ui.snapshot_tour import Visit, tour


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
    await visit.asked("question-form", person.ask(FORM), "Who is the parcel for?", "ctrl+x")
    await visit.asked("question-address", person.ask(ADDRESS), "Sign in to pay.", "ctrl+x")
    await visit.asked("question-sampling", person.ask(SAMPLING), "up to 200 tokens", "ctrl+x")
    await visit.asked("question-review", person.ask(REVIEW), "Rain.", "ctrl+x")
    changed = ("alerts  new, suspicious", "esc decide later")
    await visit.asked("question-definitions", person.ask(CHANGED), *changed)
    waiting = asyncio.ensure_future(person.ask(FORM))
    await visit.shows("Who is the parcel for?")
    await visit.press("f1")
    await visit.see("question-help", "Decline the request")
    waiting.cancel()
