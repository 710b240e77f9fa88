"""The mouse: a click selects, a double click opens, the wheel scrolls, a drag selects text."""

from pathlib import Path

from textual import events
from textual.widget import Widget

from tests.conftest import until
from tests.ui.real_stage import RealApp, real_app, to_chat
from tui.runtime.options import Options
from tui.ui.chat.side_panes import ServersPane, TracePane
from tui.ui.chat.transcript.transcript import Transcript
from tui.ui.dialogs.help import HelpScreen
from tui.ui.lists.items import FinderList
from tui.ui.traffic.entry_list import EntryList
from tui.ui.traffic.entry_view import EntryView
from tui.ui.widgets.lines import LinePane
from tui.ui.widgets.rows import text_of
from tui.ui.workbench.bench_lists import ItemList
from tui.ui.workbench.screen import ServerScreen

DEMO = Options(demo=True)


async def at(app: RealApp, widget: Widget, x: int, y: int, *kinds: type[events.MouseEvent]) -> None:
    """Send mouse events as a terminal does, at a place of a widget."""
    left, top, _, _ = widget.content_region
    for kind in kinds:
        app.app.post_message(kind(None, left + x, top + y, 0, 0, 1, False, False, False))
    await app.pilot.pause()


async def click(app: RealApp, pane: LinePane, words: str, *, times: int = 1) -> None:
    """Click on the first visible row with these words."""
    rows = range(pane.scroll_offset.y, min(pane.row_count(), pane.scroll_offset.y + pane.size.height))
    row = next(index for index in rows if words in text_of(pane.row(index)))
    column = text_of(pane.row(row)).index(words)
    for _ in range(times):
        await at(app, pane, column, row - pane.scroll_offset.y, events.MouseDown, events.MouseUp)


async def ask(app: RealApp, text: str) -> None:
    app.app.main.composer.load_text(text)
    await app.press("f5", "enter")
    await until(lambda: app.app.main.parts.turns.running or not app.app.main.composer.text)
    await until(lambda: not app.app.main.parts.turns.running)


async def test_a_double_click_opens_in_each_pane_what_enter_opens(separate_home: Path) -> None:
    async with real_app(separate_home, "", options=DEMO) as app:
        await until(lambda: app.state("notes") == "RUNNING")
        await ask(app, "What's the weather in Hangzhou?")

        trace = app.app.screen.query_one(TracePane)
        before = trace.row_count()
        await click(app, trace, "get_weather")
        assert trace.row_count() == before and trace.has_focus
        await click(app, trace, "get_weather", times=2)
        await until(lambda: trace.row_count() != before)

        transcript = app.app.screen.query_one(Transcript)
        before = transcript.row_count()
        await click(app, transcript, "get_weather", times=2)
        await until(lambda: transcript.row_count() != before)

        await click(app, app.app.screen.query_one(ServersPane), "notes")
        assert app.app.screen is app.app.main
        await click(app, app.app.screen.query_one(ServersPane), "notes", times=2)
        await until(lambda: isinstance(app.app.screen, ServerScreen))

        items = next(pane for pane in app.app.screen.query(ItemList) if pane.region)
        await until(lambda: items.row_count() > 0)
        await click(app, items, "add_note", times=2)
        await until(lambda: not items.has_focus)

        await to_chat(app)
        await app.press("f4")
        entries = app.app.screen.query_one(EntryList)
        await until(lambda: entries.row_count() > 4)
        await click(app, entries, "tools/call")
        assert not app.app.screen.query_one(EntryView).display
        await click(app, entries, "tools/call", times=2)
        await until(lambda: app.app.screen.query_one(EntryView).display)

        await to_chat(app)
        await app.press("f9")
        sessions = app.app.screen.query_one(FinderList)
        await until(lambda: sessions.current)
        await click(app, sessions, "weather in")
        assert isinstance(app.app.screen, type(sessions.screen))
        await click(app, sessions, "weather in", times=2)
        await until(lambda: app.app.screen is app.app.main)


async def test_a_drag_selects_and_copies_in_the_pane_where_it_began_also_while_it_grows(
    separate_home: Path,
) -> None:
    async with real_app(separate_home, "", options=DEMO) as app:
        await until(lambda: app.state("notes") == "RUNNING")
        servers, trace = app.app.screen.query_one(ServersPane), app.app.screen.query_one(TracePane)
        transcript = app.app.screen.query_one(Transcript)
        await ask(app, "What's the weather in Hangzhou?")
        rows = [text_of(transcript.row(index)) for index in range(transcript.row_count())]
        row = next(index for index, text in enumerate(rows) if "Hangzhou?" in text)

        await at(app, transcript, rows[row].index("weather"), row, events.MouseDown)
        await at(app, transcript, rows[row].index("weather") + 3, row, events.MouseMove)
        transcript.add_call("later", "notes", "add_note", {"text": "milk"})
        await at(app, trace, 20, 0, events.MouseMove)
        await at(app, transcript, 130, row, events.MouseMove, events.MouseUp)
        assert set(app.app.screen.selections) == {transcript}
        await app.press("ctrl+c")
        assert app.app.clipboard == "weather in Hangzhou?"

        await at(app, servers, 3, 1, events.MouseDown, events.MouseUp)
        assert not app.app.screen.selections


async def test_the_wheel_scrolls_what_is_under_the_pointer_and_nothing_behind_a_dialog(
    separate_home: Path,
) -> None:
    async with real_app(separate_home, "", options=DEMO, size=(100, 24)) as app:
        transcript = app.app.screen.query_one(Transcript)
        for number in range(40):
            transcript.add_call(str(number), "notes", "add_note", {"text": str(number)})
        await until(lambda: transcript.max_scroll_y > 20)
        assert app.app.main.composer.has_focus

        await at(app, transcript, 4, 4, events.MouseScrollUp)
        assert transcript.scroll_y < transcript.max_scroll_y and app.app.main.composer.has_focus

        top = transcript.scroll_y
        await app.press("f1")
        await until(lambda: isinstance(app.app.screen, HelpScreen))
        page = next(pane for pane in app.app.screen.query(LinePane) if pane.max_scroll_y)
        await at(app, page, 4, 4, events.MouseScrollDown)
        assert page.scroll_y > 0
        await at(app, transcript, 0, 0, events.MouseScrollDown)
        assert transcript.scroll_y == top
