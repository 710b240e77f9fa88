"""The trace pane: steps and calls as they happen."""

import random
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from textual.pilot import Pilot

from tests.ui.stage import SECOND, Hand, Stage, press, row_with, shown
from tui.core import events
from tui.core.events import EndReason, LimitName
from tui.core.ports import Answer, ApprovalRequest, CallPart, RetryPart, Usage
from tui.core.tools import Tool
from tui.traffic.spans.span_values import CallSpan
from tui.traffic.spans.spans import Spans
from tui.ui.chat.side_panes import TracePane
from tui.ui.chat.trace_rows import TraceLook, span_rows
from tui.ui.widgets.rows import text_of, width_of
from tui.ui.widgets.symbols import UNICODE


class Story:
    """Passes events to spans and the pane that shows them."""

    def __init__(self) -> None:
        self.hand = Hand()
        self.pane = TracePane(clock=self.hand)
        self.spans = self.pane.spans
        self._calls = 0

    def tell(self, *told: events.Event) -> "Story":
        for event in told:
            self.spans.apply(event, self.hand())
        self.pane.tick()
        return self

    def turn(self) -> "Story":
        return self.tell(events.TurnStarted("demo model", 2), events.StepStarted(1, 10))

    def step_ended(self, calls: int = 1) -> "Story":
        return self.tell(events.StepEnded(1, 600.0, Usage(190, 20, True), "tool_calls", calls))

    def call(self, tool: str = "get_weather", **arguments: object) -> str:
        self._calls += 1
        call_id = f"c{self._calls}"
        self.tell(events.ToolCallProposed(1, call_id, "weather", tool, arguments))
        return call_id

    def done(self, call_id: str, text: str = "sunny", *, is_error: bool = False, why: str = "") -> "Story":
        return self.tell(
            events.ToolCallEnded(1, call_id, "weather", "get_weather", is_error, text, 4.2, None, why)
        )

    def answered(self) -> "Story":
        usage = Usage(190, 20, True)
        return self.tell(events.TurnEnded(EndReason.ANSWERED, "", 1, 1, usage, 820.0))

    def one_call(self, **arguments: object) -> "Story":
        self.turn().step_ended()
        return self.done(self.call(**arguments)).answered()


@asynccontextmanager
async def told(size: tuple[int, int] = (60, 10)) -> AsyncIterator[tuple[Story, Pilot[None]]]:
    """Show an empty trace."""
    story = Story()
    async with Stage(story.pane).run_test(size=size) as pilot:
        await pilot.pause()
        yield story, pilot


async def test_an_empty_trace_says_what_will_be_shown() -> None:
    async with told((60, 8)) as (story, pilot):
        await pilot.pause()
        lines = shown(story.pane)
    assert lines[0] == "TRACE"
    assert "Model steps and tool calls appear here" in lines[1]


async def test_a_turn_is_shown_from_top_to_bottom() -> None:
    async with told((44, 10)) as (story, pilot):
        story.one_call(location="Beijing")
        await pilot.pause()
        lines = shown(story.pane)
        assert lines[0] == "TRACE" + "turn 1".rjust(story.pane.columns - 5)
    assert lines[1].startswith("▾ turn 1 ─")
    assert lines[1].endswith(" 1 call · 0.8 s")
    assert lines[2].split() == ["▾", "step", "1", "model", "0.6", "s", "~210", "tokens"]
    assert lines[3].split() == ["✓", "weather", "›", "get_weather", "4", "ms"]
    assert lines[4:7] == ['      location  "Beijing"', "      → sunny", "    answered"]


async def test_running_times_are_updated_each_second() -> None:
    async with told() as (story, pilot):
        story.turn().step_ended()
        story.tell(events.ToolCallStarted(1, story.call()))
        await pilot.pause()
        assert shown(story.pane)[3].endswith("running  0 s")
        story.hand.turn(3)
        story.pane.tick()
        assert shown(story.pane)[3].endswith("running  3 s")


async def test_progress_is_shown_while_a_call_runs() -> None:
    async with told() as (story, pilot):
        call = story.turn().step_ended().call()
        story.tell(events.ToolCallStarted(1, call), events.ToolProgress(1, call, 12, 30, "counting sheep"))
        await pilot.pause()
        assert shown(story.pane)[4] == "      ━━━━──────  12 of 30 · counting sheep"
        story.done(call)
        assert not any("sheep" in line for line in shown(story.pane))


async def test_a_call_waiting_for_approval_shows_the_reason() -> None:
    async with told() as (story, pilot):
        call = story.turn().step_ended().call("delete_note")
        request = ApprovalRequest(call, Tool("weather", "delete_note"), {}, "may delete data")
        story.tell(events.ApprovalAsked(1, call, request))
        await pilot.pause()
        lines = shown(story.pane)
    assert lines[3].startswith("  ? weather › delete_note")
    assert lines[3].endswith("waiting for approval  0 s")
    assert lines[4] == "      may delete data"


@pytest.mark.parametrize(
    ("why", "sign", "word"),
    [
        ("denied", "✗", "denied"),
        ("cancelled", "○", "cancelled"),
        ("not run", "○", "not run"),
        ("unknown tool", "○", "not run"),
        ("timeout", "✗", "failed  4 ms"),
        ("", "✗", "failed  4 ms"),
    ],
)
async def test_a_call_without_a_result_shows_its_outcome(why: str, sign: str, word: str) -> None:
    async with told() as (story, pilot):
        story.turn().step_ended().done(story.call(), "no", is_error=True, why=why)
        await pilot.pause()
        line = shown(story.pane)[3]
    assert line.startswith(f"  {sign} weather")
    assert line.endswith(word)


async def test_limits_and_errors_are_shown_where_they_occurred() -> None:
    async with told() as (story, pilot):
        story.turn().tell(events.LimitReached(LimitName.MAX_STEPS, 10))
        story.tell(events.TurnError("401 Unauthorized.", "model", "Set OPENAI_API_KEY."))
        await pilot.pause()
        lines = shown(story.pane)
    assert lines[2].split()[:4] == ["▾", "step", "1", "failed"]
    assert lines[3:5] == [
        "    ! limit max_steps 10 reached",
        "    ✗ 401 Unauthorized.",
    ]


async def test_enter_unfolds_a_call_and_folds_it_again() -> None:
    async with told((60, 17)) as (story, pilot):
        story.turn().step_ended()
        arguments = dict.fromkeys("abcde", "x" * 80)
        story.done(story.call(**arguments), "first\nsecond\nthird")
        story.pane.focus()
        await pilot.pause()
        folded = shown(story.pane)
        assert row_with(folded, "more") == "      … 2 more"
        assert row_with(folded, "first") == "      → first …"
        await press(pilot, "end", "enter")
        lines = shown(story.pane)
        assert [line for line in lines if line.lstrip().startswith("e ")]
        assert [line.strip() for line in lines if line.strip() in ("→ first", "second", "third")] == [
            "→ first",
            "second",
            "third",
        ]
        await press(pilot, "enter")
        assert shown(story.pane) == folded


async def test_an_expanded_call_shows_the_approval_and_how_long_it_was_awaited() -> None:
    async with told((60, 30)) as (story, pilot):
        call = story.turn().step_ended().call()
        story.tell(events.ApprovalAsked(1, call, ApprovalRequest(call, Tool("weather", "x"), {}, "why")))
        story.hand.turn(2.5)
        story.tell(events.ApprovalGiven(1, call, Answer.ONCE, "")).done(call)
        story.pane.focus()
        await press(pilot, "end", "enter")
        assert "      allowed once after 2.5 s" in shown(story.pane)


async def test_steps_and_turns_can_be_folded() -> None:
    async with told() as (story, pilot):
        story.one_call()
        story.pane.focus()
        await press(pilot, "home", "down", "enter")
        lines = shown(story.pane)
        assert lines[2].startswith("▸ step 1")
        assert lines[3] == ""
        await press(pilot, "up", "enter")
        lines = shown(story.pane)
        assert lines[1].startswith("▸ turn 1")
        assert lines[2] == ""
        await press(pilot, "enter", "down", "enter")
        assert "get_weather" in shown(story.pane)[3]


async def test_the_cursor_skips_the_rows_inside_a_call() -> None:
    async with told((60, 20)) as (story, pilot):
        story.one_call(location="Beijing")
        story.turn().step_ended().done(story.call())
        story.pane.focus()
        await press(pilot, "home")
        stops = [story.pane.cursor]
        for _ in range(6):
            await press(pilot, "down")
            stops.append(story.pane.cursor)
        lines = shown(story.pane)
    words = [lines[stop].split()[1] for stop in stops]
    assert words == ["turn", "step", "weather", "turn", "step", "weather", "weather"]


async def test_the_newest_entry_is_followed_until_the_user_scrolls_up() -> None:
    async with told((60, 8)) as (story, pilot):
        story.turn().step_ended()
        for number in range(20):
            story.done(story.call(f"tool{number}"))
        story.pane.focus()
        await pilot.pause()
        assert any("tool19" in line for line in shown(story.pane))
        await press(pilot, "pageup", "pageup")
        before = shown(story.pane)
        assert before[0].endswith("turn 1, press end to follow")
        story.done(story.call("newest"))
        await pilot.pause()
        assert shown(story.pane) == before
        await press(pilot, "end")
        assert any("newest" in line for line in shown(story.pane))
        assert shown(story.pane)[0].endswith("turn 1")


async def test_the_cursor_stays_on_its_call_when_one_above_it_grows() -> None:
    async with told((60, 20)) as (story, pilot):
        first = story.turn().step_ended().call("first")
        second = story.call("second")
        story.tell(events.ToolCallStarted(1, first), events.ToolCallStarted(1, second))
        story.pane.focus()
        await press(pilot, "end")
        assert "second" in shown(story.pane)[story.pane.cursor]
        story.tell(events.ToolProgress(1, first, 1, 2, "half"))
        assert "second" in shown(story.pane)[story.pane.cursor]


async def test_a_new_conversation_has_an_empty_trace() -> None:
    async with told((60, 8)) as (story, pilot):
        story.one_call()
        await pilot.pause()
        story.spans.clear()
        story.pane.tick()
        await pilot.pause()
        assert "Model steps" in shown(story.pane)[1]
        story.turn()
        assert shown(story.pane)[2].startswith("▾ step 1   asked")


async def test_a_hidden_trace_of_a_new_conversation_can_be_resized() -> None:
    """The pane is hidden behind another tab while the window is narrow."""
    async with told((60, 8)) as (story, pilot):
        story.one_call()
        await pilot.pause()
        story.pane.display = False
        story.pane.replace()
        story.pane.rewrap()
        story.pane.display = True
        story.pane.tick()
        await pilot.pause()
        assert "Model steps" in shown(story.pane)[1]


async def test_escape_sequences_are_shown_as_text() -> None:
    evil = "[/x][@click=app.quit]\x1b]52;c;eA==\x07\x9b31m\u202e\x1b[2J"
    async with told((200, 30)) as (story, pilot):
        story.tell(events.TurnStarted(evil, 1), events.StepStarted(1, 10), CallPart(evil, 3, step=1))
        story.tell(RetryPart(1, 3, 1.0, evil, step=1)).step_ended()
        story.tell(events.ToolCallProposed(1, "x", evil, evil, {evil: evil}), events.ToolCallStarted(1, "x"))
        story.tell(events.ToolProgress(1, "x", 1, 2, evil))
        story.tell(events.ToolCallEnded(1, "x", evil, evil, True, evil, 1.0, None, evil))
        story.tell(events.TurnError(evil, evil, evil))
        story.pane.focus()
        await press(pilot, "end", "enter")
        text = "".join(shown(story.pane))
    assert not any(sign in text for sign in "\x1b\x07\x9b\u202e")
    assert "[@click=app.quit]" in text


async def test_a_call_and_a_result_of_three_megabytes_are_shown_within_three_seconds() -> None:
    async with told((80, 30)) as (story, pilot):
        story.turn().step_ended()
        story.pane.focus()
        await pilot.pause()
        began = time.process_time()
        story.done(story.call(data="x" * 3_000_000), "y" * 3_000_000)
        await press(pilot, "end", "enter")
        shown(story.pane)
        assert time.process_time() - began < 3


async def test_adding_a_call_after_five_thousand_takes_under_a_tenth_of_a_second() -> None:
    async with told((80, 30)) as (story, pilot):
        story.turn().step_ended()
        for _ in range(5_000):
            story.spans.apply(events.ToolCallProposed(1, "x", "weather", "get", {"location": "Beijing"}), 0)
        story.pane.tick()
        await pilot.pause()
        began = time.process_time()
        for _ in range(50):
            story.call("one_more", location="Beijing")
        assert time.process_time() - began < 5
        assert any("one_more" in line for line in shown(story.pane))


async def test_in_ascii_mode_every_symbol_is_ascii(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LC_ALL", "en_US.ISO-8859-1")
    async with told() as (story, pilot):
        story.turn().step_ended().done(story.call(location="Beijing")).answered()
        await pilot.pause()
        assert all(line.isascii() for line in shown(story.pane))


@given(
    st.lists(st.sampled_from(["turn", "step", "call", "done", "fold", "end", "note"]), max_size=40),
    st.integers(20, 90),
    st.randoms(use_true_random=False),
)
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
async def test_incremental_rows_equal_a_full_layout_after_any_events(
    acts: list[str], width: int, chance: random.Random
) -> None:
    """An incremental layout equals that of a pane that gets everything at once."""
    async with told((width, 12)) as (story, pilot):
        for act in acts:
            _act(story, act, chance)
        await pilot.pause()
        pane = story.pane
        toggled = pane._toggled
        rows = [text_of(pane.body_row(index)) for index in range(pane.body_count())]
        pane._seen = -1
        pane._update_rows()
        for entry in sorted(toggled):
            pane._toggled.add(entry)
        pane._lay_out(range(len(story.spans.entries)))
        assert rows == [text_of(pane.body_row(index)) for index in range(pane.body_count())]


def _act(story: Story, act: str, chance: random.Random) -> None:
    pane = story.pane
    match act:
        case "turn":
            story.tell(events.TurnStarted("m", 1))
        case "step":
            story.tell(events.StepStarted(1, 10))
        case "call":
            story.call(location="天气 " * chance.randrange(20))
        case "done":
            story.done(f"c{story._calls}", "text " * chance.randrange(60), is_error=chance.random() < 0.5)
        case "end":
            story.answered()
        case "note":
            story.tell(events.TurnError("word " * 30, "model"))
        case _:
            rows = [row for row in range(1, pane.row_count()) if pane.row_selectable(row)]
            if rows:
                pane.row_chosen(chance.choice(rows))


@given(st.text(max_size=300), st.integers(10, 100), st.booleans())
def test_no_row_of_a_call_is_wider_than_the_pane(text: str, columns: int, open: bool) -> None:
    spans = Spans()
    spans.apply(events.TurnStarted("m", 1), 0)
    spans.apply(events.ToolCallProposed(1, "a", text, text, {text: text, "b": [text]}), 0)
    spans.apply(events.ToolCallEnded(1, "a", text, text, True, text, 1.0, None, text), 5 * SECOND)
    call = spans.entries[1]
    assert isinstance(call, CallSpan)
    rows = span_rows(call, TraceLook(columns, UNICODE, 0), open=open)
    assert all(width_of(row) <= max(columns, 24) for row in rows)


async def test_painting_between_a_change_and_the_next_tick_raises_no_error() -> None:
    """Rows are counted at a tick. There may be fewer by the time they are painted."""
    async with told((60, 20)) as (story, _):
        story.turn().tell(RetryPart(2, 4, 30.0, "429 rate limit " * 8, step=1))
        counted = story.pane.body_count()
        story.spans.apply(events.StepEnded(1, 10.0, Usage(1, 1), "stop", 0), story.hand())
        for block in story.pane._flow.blocks:
            block.rows = None
        assert len([story.pane.body_row(index) for index in range(counted)]) == counted
