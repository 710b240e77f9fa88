"""The review of what leaves in a page, before it is written."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from textual.pilot import Pilot

from tests.conftest import until
from tests.ui.app_stage import screen_text
from tests.ui.stage import Stage
from tui.core.errors import StorageError
from tui.storage.exports.contents import Choice, Review
from tui.storage.exports.document import Portion
from tui.ui.dialogs.export_dialogs import Export
from tui.ui.forms.share_review import ShareReview

WANTED = Export("html", Path("/tmp/talk.html"))


def counted() -> Review:
    review = Review()
    for portion, number, octets in (
        (Portion.CONVERSATION, 6, 12_000),
        (Portion.SYSTEM, 1, 800),
        (Portion.VALUES, 2, 300),
    ):
        review.counts[portion], review.octets[portion] = number, octets
    review.servers = {"weather", "notes"}
    return review


@asynccontextmanager
async def reviewing(
    given: list[Export | None],
    wanted: Export = WANTED,
    size: tuple[int, int] = (80, 24),
    telling: str = "",
) -> AsyncIterator[Pilot[None]]:
    async def count() -> Review:
        return counted()

    async with Stage().run_test(size=size) as pilot:
        pilot.app.push_screen(ShareReview(pilot.app, wanted, count, telling), given.append)
        await until(lambda: "● conversation" in screen_text(pilot.app))
        yield pilot


async def test_each_part_has_its_number_and_size_and_servers_are_named() -> None:
    async with reviewing([]) as pilot:
        await until(lambda: "13 kB, from the servers “notes” and “weather”" in screen_text(pilot.app))
        for words in ("6 messages, 12 kB", "1 prompt, 800 B", "○ redact", "To /tmp/talk.html"):
            assert words in screen_text(pilot.app)


async def test_a_part_that_is_switched_off_is_left_out() -> None:
    given: list[Export | None] = []
    async with reviewing(given) as pilot:
        await pilot.press("down", "space")
        await until(lambda: "○ system" in screen_text(pilot.app))
        await until(lambda: "12 kB, from" in screen_text(pilot.app))
        await pilot.press("ctrl+s")
        await until(lambda: given)
    assert given == [Export("html", WANTED.path, Choice(without={Portion.SYSTEM}))]


async def test_saving_before_the_parts_are_counted_says_that_nothing_is_saved_yet() -> None:
    gate, told = asyncio.Event(), "Not saved yet. Press ctrl+s again once the parts are shown."
    given: list[Export | None] = []

    async def count() -> Review:
        await gate.wait()
        return counted()

    async with Stage().run_test(size=(80, 24)) as pilot:
        pilot.app.push_screen(ShareReview(pilot.app, WANTED, count), given.append)
        await pilot.press("ctrl+s")
        await until(lambda: told in screen_text(pilot.app))
        gate.set()
        await until(lambda: "● conversation" in screen_text(pilot.app))
        assert told not in screen_text(pilot.app) and not given


async def test_redaction_starts_as_it_was_chosen() -> None:
    async with reviewing([], Export("html", WANTED.path, Choice(shapes=True))) as pilot:
        await until(lambda: "● redact" in screen_text(pilot.app))


async def test_redaction_is_switched_on_in_the_review() -> None:
    given: list[Export | None] = []
    async with reviewing(given) as pilot:
        await pilot.press("down", "down", "down", "space", "ctrl+s")
        await until(lambda: given)
    assert given == [Export("html", WANTED.path, Choice(shapes=True))]


async def test_a_file_name_that_tells_the_title_is_replaced_with_the_conversation() -> None:
    given: list[Export | None] = []
    async with reviewing(given, telling="talk") as pilot:
        await until(lambda: "To /tmp/talk.html" in screen_text(pilot.app))
        await pilot.press("space")
        await until(lambda: "To /tmp/conversation-" in screen_text(pilot.app))
        await pilot.press("ctrl+s")
        await until(lambda: given)
    assert given[0] is not None and given[0].path.match("/tmp/conversation-*Z.html")


async def test_enter_goes_from_part_to_part_to_the_button() -> None:
    given: list[Export | None] = []
    async with reviewing(given) as pilot:
        await pilot.press("enter", "enter", "enter", "enter", "enter")
        await until(lambda: given)
    assert given == [WANTED]


async def test_a_conversation_that_cannot_be_read_is_not_written(tmp_path: Path) -> None:
    async def count() -> Review:
        raise StorageError("the file is damaged", where="talk")

    given: list[Export | None] = []
    async with Stage().run_test(size=(80, 24)) as pilot:
        pilot.app.push_screen(ShareReview(pilot.app, WANTED, count), given.append)
        await until(lambda: "the file is damaged" in screen_text(pilot.app))
        await pilot.press("ctrl+s", "escape")
        await until(lambda: given)
    assert given == [None]


async def test_it_fits_a_small_screen() -> None:
    async with reviewing([], size=(60, 14)) as pilot:
        assert "ctrl+s" in screen_text(pilot.app)
