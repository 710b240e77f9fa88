"""Dialogs without snapshots, and screens of add-ons: whether longer texts have room."""

from tests.ui.fakes import FakeRuntime
from tests.ui.snapshot_stage import answering
from tests.ui.snapshot_tour import Tour, Visit
from tests.ui.test_held_messages import Way


async def dialogs(visit: Visit) -> None:
    await visit.ask("What's the weather in Hangzhou?")
    await visit.shows("always")
    for name in ("status", "context"):
        await visit.ask(f"/{name}")
        await visit.see(name, name.upper())
        await visit.press("escape")
    await visit.ask("/export html")
    await visit.shows("EXPORT")
    await visit.press("enter")
    await visit.see("share-review", "THIS PAGE WILL CONTAIN")
    await visit.press("escape")
    await visit.press("f10", "ctrl+n")
    await visit.see("model-providers", "ADD MODEL")
    await visit.press("enter")
    await visit.see("model-form", "ADD MODEL Big")
    await visit.press("escape", "escape", "alt+t")
    await visit.see("tests", "TESTS")


async def held_messages(visit: Visit) -> None:
    visit.runtime.recorded.call("delete_note", source="notes", arguments={"id": "old"})
    await visit.press("f4")
    await visit.shows("delete_n")
    await visit.press("I", *"tool:delete_*", "enter")
    await visit.shows("tool:delete_*")
    Way(visit.runtime).call(7, "delete_note", id="new")
    await visit.see("held", "left")
    await visit.press("H", "r")
    await visit.see("held-answer", "another call")


DIALOGS = "status", "context", "share-review", "model-providers", "model-form", "tests"
OTHERS = (
    Tour(answering, dialogs, DIALOGS),
    Tour(FakeRuntime, held_messages, ("held", "held-answer")),
)
"""They are not in `snapshot_tour.TOURS`."""
