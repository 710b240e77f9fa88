"""The sessions screen: search, resume, rename, delete and undo, branch, export."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from unittest.mock import AsyncMock

import pytest

from tests.conftest import until
from tests.ui.app_stage import OnScreen, screen_text
from tests.ui.fake_chats import FakeChats
from tests.ui.stage import Stage
from tui.core.conversation.conversation import AssistantMessage, Conversation, UserMessage
from tui.core.conversation.sessions import SessionInfo, SessionMatch
from tui.storage.exports.contents import Choice
from tui.ui.dialogs.export_dialogs import OF_SESSIONS, Export, ExportDialog
from tui.ui.keys.bindings import KeyOverrides
from tui.ui.lists.sessions import Resumed, SessionsScreen

NOW = 1_790_000_000.0
MILK = SessionInfo("milk", "Which notes mention milk?", NOW - 900, NOW - 600, 4, 2, "qwen3:8b", 12_000, 0.02)
RAIN = SessionInfo("rain", "Will it rain in Oslo?", NOW - 9e6, NOW - 8e6, 2, 1, "demo", 300)
TALK = (UserMessage("Which notes mention milk?"), AssistantMessage("Two of them."))


@dataclass
class Scene(OnScreen):
    """The screen and its result."""

    conversations: FakeChats
    screen: SessionsScreen
    given: list[Resumed | None] = field(default_factory=list)
    exported: list[SessionInfo] = field(default_factory=list)


@asynccontextmanager
async def listed(*infos: SessionInfo, width: int = 120, busy: str = "") -> AsyncIterator[Scene]:
    conversations = FakeChats(Conversation())
    for info in infos:
        conversations.save(info, *TALK)
    async with Stage().run_test(size=(width, 24), notifications=True) as pilot:
        exported: list[SessionInfo] = []
        screen = SessionsScreen(
            conversations, KeyOverrides(), busy=lambda: busy, export=exported.append, now=lambda: NOW
        )
        scene = Scene(pilot, conversations, screen, exported=exported)
        pilot.app.push_screen(screen, scene.given.append)
        await pilot.pause()
        yield scene


async def test_each_session_is_a_row_with_a_preview_of_the_end_of_the_selected_conversation() -> None:
    async with listed(MILK, RAIN) as scene:
        talk = [UserMessage("Will it rain?"), AssistantMessage("It will.", model="m1")]
        scene.conversations.talks["rain"] = talk
        await scene.shows("Which notes mention milk?", "10 min ago", "2 turns", "qwen3:8b")
        await scene.shows("12 k tokens  $0.02", "Two of them.")
        assert scene.text.index("milk") < scene.text.index("rain")
        await scene.press("down")
        await scene.shows("you", "Will it rain?", "m1", "It will.")


async def test_a_narrow_screen_has_no_preview() -> None:
    async with listed(MILK, width=90) as scene:
        await scene.shows("Which notes mention milk?")
        assert not scene.screen.preview.display


async def test_an_empty_list_explains_what_it_will_contain() -> None:
    async with listed() as scene:
        await scene.shows("No sessions yet.", "search, branch and export them here")


async def test_keys_in_one_burst_filter_and_resume_the_session() -> None:
    async with listed(MILK, RAIN) as scene:
        await scene.press(*"rain will", "enter")
        await until(lambda: scene.given == [Resumed()])
        assert scene.conversations.done == [("resume", "rain")]


@pytest.mark.parametrize(("text", "excerpt"), [("umbrella", "bring an umbrella to Oslo"), ("雨", "杭州有雨")])
async def test_matches_in_messages_arrive_as_they_are_found(text: str, excerpt: str) -> None:
    async with listed(MILK, RAIN) as scene:
        scene.conversations.gate = asyncio.Event()
        scene.conversations.finds = [SessionMatch(RAIN, 1, excerpt)]
        await scene.press(*text)
        await scene.shows(f"No title contains “{text}”.", "IN MESSAGES", "searching…")
        scene.conversations.gate.set()
        await scene.shows(excerpt, "1 place")


async def test_escape_stops_a_search_then_clears_the_field_then_closes_the_screen() -> None:
    async with listed(MILK) as scene:
        scene.conversations.gate = asyncio.Event()
        scene.conversations.finds = [SessionMatch(MILK, 1, "milk and more milk")]
        await scene.press(*"milk")
        await until(lambda: "searching…" in scene.text)
        await scene.press("escape")
        assert "searching…" not in scene.text
        assert "find › milk" in scene.text
        await scene.press("escape")
        assert "find › milk" not in scene.text
        await scene.press("escape")
        assert scene.given == [None]


async def test_another_letter_cancels_the_previous_search() -> None:
    async with listed(MILK) as scene:
        scene.conversations.gate = asyncio.Event()
        scene.conversations.finds = [SessionMatch(MILK, 1, "milk")]
        await scene.press(*"mi")
        await until(lambda: scene.conversations.begun_searches == 1)
        await scene.press("l")
        await until(lambda: scene.conversations.closed_searches == 1)


async def test_a_match_is_resumed_at_its_message() -> None:
    async with listed(MILK, RAIN) as scene:
        scene.conversations.finds = [SessionMatch(MILK, 1, "an umbrella")]
        await scene.press(*"umbrella")
        await scene.shows("1 place")
        await scene.press("enter")
        await until(lambda: scene.given == [Resumed(message=1)])


async def test_the_search_is_repeated_after_a_session_was_deleted() -> None:
    async with listed(MILK, RAIN) as scene:
        scene.conversations.finds = [SessionMatch(RAIN, 1, "an umbrella")]
        await scene.press(*"umbrella")
        await scene.shows("1 place")
        scene.conversations.finds = []
        await scene.press("ctrl+d")
        await until(lambda: "an umbrella" not in scene.text)


async def test_a_session_open_elsewhere_is_marked_and_cannot_be_resumed() -> None:
    taken = SessionInfo("x", "Busy elsewhere", in_use=True, turns=1)
    async with listed(taken) as scene:
        await scene.shows("open in another mcptui")
        await scene.press("enter")
        await scene.shows("! Busy elsewhere: it is open in another mcptui")
        assert scene.given == []


async def test_titles_are_cleaned_and_a_damaged_session_shows_its_problem() -> None:
    broken = SessionInfo("x", "[bold]a\x1b[2J[/x]", problem="the file ends in the middle of a page")
    async with listed(broken, width=80) as scene:
        await scene.shows("✗ [bold]a␛[2J[/x]", "the file ends in the middle of a page")


async def test_a_session_is_renamed_unless_escape_leaves_a_draft() -> None:
    async with listed(MILK, RAIN) as scene:
        await scene.press("ctrl+e", *" (ol", "escape")
        assert scene.conversations.saved["milk"].title == MILK.title
        assert scene.given == []
        await scene.press("ctrl+e", *"d)", "enter")
        await scene.shows("Which notes mention milk? (old)")
        assert scene.conversations.saved["milk"].title == "Which notes mention milk? (old)"


async def test_several_deletions_are_undone_one_by_one() -> None:
    async with listed(MILK, RAIN) as scene:
        await scene.press("ctrl+d")
        await scene.shows("Deleted: Which notes mention milk?", "ctrl+z restores it", "1 session")
        await scene.press("ctrl+d")
        await scene.shows("0 sessions")
        await scene.press("ctrl+z")
        await scene.shows("1 session", "Deleted: Which notes")
        await scene.press("ctrl+z")
        await scene.shows("2 sessions", "Which notes mention milk?")
        assert "Deleted:" not in scene.text


async def test_while_a_turn_runs_nothing_is_resumed_and_the_next_key_removes_the_notice() -> None:
    async with listed(MILK, RAIN, busy="A turn is running. esc stops it.") as scene:
        for key in ("down", "pagedown", "w"):
            await scene.press("enter")
            await scene.shows("A turn is running")
            await scene.press(key)
            assert "A turn is running" not in scene.text
        assert scene.conversations.done == []


async def test_a_notice_disappears_after_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tui.ui.lists.finder.NEWS_SECONDS", 0.05)
    async with listed(MILK, RAIN) as scene:
        await scene.press("ctrl+d")
        await scene.shows("1 session")
        await until(lambda: "Deleted:" not in scene.text)
        await scene.press("ctrl+z")
        await scene.shows("2 sessions")


async def test_progress_is_shown_until_it_is_done() -> None:
    async with listed(MILK, RAIN) as scene:
        go, resume = asyncio.Event(), scene.conversations.resume

        async def slow(session: str) -> None:
            await go.wait()
            await resume(session)

        scene.conversations.resume = slow  # type: ignore[method-assign]
        await scene.press("enter")
        await scene.shows("opening…")
        await scene.press("down")
        assert "opening…" in scene.text
        go.set()
        await until(lambda: scene.given == [Resumed()])


async def test_the_current_conversation_cannot_be_deleted_and_the_selected_session_is_exported() -> None:
    async with listed(MILK, RAIN) as scene:
        scene.conversations.info = MILK
        await scene.press("ctrl+d")
        await scene.shows("This session is open.")
        assert "milk" in scene.conversations.saved
        await scene.press("down", "ctrl+s")
        assert scene.exported == [RAIN]


async def test_a_branch_is_a_copy_of_all_messages() -> None:
    async with listed(MILK, RAIN) as scene:
        await scene.press("ctrl+b")
        await until(lambda: scene.given == [Resumed(branch=True)])
        assert scene.conversations.done == [("resume", "milk"), ("branch", 2)]


async def test_a_branch_names_its_parent() -> None:
    branch = SessionInfo("b", "Which notes mention milk?", NOW, NOW, parent="milk", branched_at=2)
    async with listed(branch, MILK) as scene:
        await scene.shows("branch", "branch of “Which notes mention milk?”")


# ---- the export dialog ----


async def test_an_export_first_shows_its_content_and_shift_tab_redacts_it(tmp_path: Path) -> None:
    given: list[object] = []
    async with Stage().run_test(size=(80, 24)) as pilot:
        counted = AsyncMock(return_value={"": "Contains: 4 messages, 2 redacted values"})
        dialog = ExportDialog("“Milk”", tmp_path / "milk", counted, OF_SESSIONS, "json")
        pilot.app.push_screen(dialog, given.append)
        await until(lambda: all(one in screen_text(pilot.app) for one in ("Contains: 4", "○ redact ")))
        await pilot.press("shift+tab")
        await until(lambda: "● redact " in screen_text(pilot.app))
        await pilot.press("enter")
        await until(lambda: given == [Export("json", tmp_path / "milk.json", Choice(shapes=True))])


async def test_a_file_name_of_an_export_is_not_discarded_by_one_escape(tmp_path: Path) -> None:
    async with Stage().run_test(size=(80, 24)) as pilot:
        counted = AsyncMock(return_value={"": "Contains: 4 messages"})
        dialog = ExportDialog("“Milk”", tmp_path / "milk", counted, OF_SESSIONS, "json")
        pilot.app.push_screen(dialog)
        await until(lambda: "Contains: 4" in screen_text(pilot.app))
        await pilot.press("home", "x", "tab", "escape")
        await until(lambda: "Press esc again to discard your changes." in screen_text(pilot.app))
        await pilot.press("escape")
        await until(lambda: pilot.app.screen is not dialog)
