"""Attaching files and resources to a message."""

import asyncio
import base64
from collections.abc import Sequence
from pathlib import Path

import pytest
from textual import events
from textual.app import App
from textual.pilot import Pilot

from tests.conftest import until
from tests.ui.app_stage import opened, send, shows
from tests.ui.fakes import FakeRuntime, says
from tests.ui.test_commands import keys
from tui.core.ports import TextPart
from tui.core.tools import BinaryContent, ResourceContent, ToolResult
from tui.core.workbench import ResourceInfo
from tui.ui.chat.composer.suggestions import LiveSources, Suggestion
from tui.ui.dialogs.picker import Picker
from tui.ui.forms.form_pane import FormPane
from tui.ui.workbench.bars import BenchTab
from tui.ui.workbench.screen import ServerScreen

PIXEL = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c489"
    "0000000d49444154789c6360f8cf500f000386018180f6cad50000000049454e44ae426082"
)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "notes.md").write_text("buy milk")
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "app.py").write_text("print()")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def runtime_with_resource() -> FakeRuntime:
    runtime = FakeRuntime(says("Read."))
    runtime.workbench.listed = (ResourceInfo("weather", "weather://stations", "stations", "All stations"),)
    runtime.workbench.answers["weather://stations"] = ToolResult(
        (ResourceContent("weather://stations", "text/csv", "a,b"),)
    )
    return runtime


async def at_sign(pilot: Pilot[int], text: str) -> None:
    await keys(pilot, text)
    await pilot.press("tab")


async def test_a_file_is_completed_shown_as_a_token_and_read_when_it_is_sent(folder: Path):
    runtime = FakeRuntime(says("Read."))
    async with opened(runtime) as (app, pilot):
        await at_sign(pilot, "see @no")
        assert app.main.composer.text == "see [@notes.md] "
        (folder / "notes.md").write_text("buy bread")
        await keys(pilot, "please")
        await pilot.press("enter")
        await shows(app, "Read.", "see @notes.md please", "notes.md", "9 B")
        ((text, (attachment,)),) = runtime.conversations.asked
        assert text == "see @notes.md please"
        assert (attachment.kind, attachment.name, attachment.data) == ("text", "notes.md", "buy bread")


async def test_a_message_with_an_attachment_waits_for_the_end_of_the_turn_and_says_so(folder: Path):
    gate = asyncio.Event()
    async with opened(FakeRuntime([TextPart("Well,"), gate], says("Read."))) as (app, pilot):
        await send(pilot, "hi")
        await shows(app, "Well,")
        (folder / "notes.md").write_text("buy bread")
        await keys(pilot, "see @no")
        await shows(app, "notes.md")
        await pilot.press("tab", "ctrl+s")
        await shows(app, "Messages with attachments are sent after the turn.")
        gate.set()
        await shows(app, "Read.")


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> asyncio.Event:
    """Delays the list of files until it is set."""
    gate, references = asyncio.Event(), LiveSources.references

    async def waiting(self: LiveSources, query: str) -> Sequence[Suggestion]:
        await gate.wait()
        return await references(self, query)

    monkeypatch.setattr(LiveSources, "references", waiting)
    return gate


def burst(app: App[int], text: str, *more: str) -> None:
    """Press keys before the app has handled the first."""
    letters = [("space" if letter == " " else letter, letter) for letter in text]
    for key, letter in [*letters, *((key, None) for key in more)]:
        app.post_message(events.Key(key, letter))


async def test_keys_wait_for_a_list_that_is_loading(folder: Path, held: asyncio.Event):
    runtime = FakeRuntime(says("Read."))
    async with opened(runtime) as (app, _):
        burst(app, "see @no", "tab")
        burst(app, "please", "enter")
        await shows(app, "see @no", "Loading suggestions")
        held.set()
        await shows(app, "Read.", "see @notes.md please")
        ((text, _),) = runtime.conversations.asked
        assert text == "see @notes.md please"


async def test_escape_cancels_the_wait_for_a_list_and_does_not_stop_the_turn(
    folder: Path, held: asyncio.Event
):
    runtime = FakeRuntime([TextPart("Well,"), asyncio.Event()])
    async with opened(runtime) as (app, pilot):
        await send(pilot, "hi")
        await shows(app, "Well,")
        burst(app, "see @no", "tab")
        burst(app, "where", "escape")
        await until(lambda: app.main.composer.text == "see @nowhere")
        assert app.focused is app.main.composer
        await shows(app, "esc stop")
        await pilot.press("escape")


async def test_selecting_a_directory_lists_its_files(folder: Path):
    async with opened(FakeRuntime()) as (app, pilot):
        await at_sign(pilot, "@sr")
        assert app.main.composer.text == "@src/"
        await shows(app, "src/app.py")
        await pilot.press("tab")
        assert app.main.composer.text == "[@src/app.py] "


async def test_a_file_name_typed_in_full_is_attached_too(folder: Path):
    runtime = FakeRuntime(says("Read."), says("Read too."))
    async with opened(runtime) as (app, pilot):
        await keys(pilot, "@notes.md x")
        assert app.main.composer.text == "[@notes.md] x"
        app.main.composer.show("")
        await keys(pilot, "@notes.md")
        await pilot.press("escape", "enter")
        await shows(app, "Read.")
        assert [one.name for one in runtime.conversations.asked[0][1]] == ["notes.md"]


async def test_an_at_sign_before_a_name_that_is_not_a_file_is_text(folder: Path):
    runtime = FakeRuntime(says("Hello."))
    async with opened(runtime) as (app, pilot):
        await keys(pilot, "mail @nobody")
        await pilot.press("enter")
        await shows(app, "Hello.")
        assert runtime.conversations.asked == [("mail @nobody", ())]


async def test_an_unreadable_file_returns_the_message_to_the_input(folder: Path):
    runtime = FakeRuntime()
    async with opened(runtime) as (app, pilot):
        await at_sign(pilot, "see @no")
        (folder / "notes.md").unlink()
        await pilot.press("enter")
        await shows(app, "notes.md: not attached: No such file or directory")
        assert app.main.composer.text == "see [@notes.md] " and runtime.conversations.asked == []
        (folder / "notes.md").write_text("there again")
        await pilot.press("enter")
        await until(lambda: runtime.conversations.asked)


IMAGE = BinaryContent("image", "image/png", 7, base64.b64encode(PIXEL).decode())
TABLE = ResourceContent("weather://stations", "text/csv", "a,b")


@pytest.mark.parametrize(
    ("content", "kind", "data"), [(TABLE, "text", TABLE.text), (IMAGE, "image", IMAGE.data)]
)
async def test_a_resource_of_a_running_server_is_attached(
    folder: Path, content: BinaryContent | ResourceContent, kind: str, data: str
):
    runtime = runtime_with_resource()
    runtime.workbench.answers["weather://stations"] = ToolResult((content,))
    async with opened(runtime) as (app, pilot):
        await keys(pilot, "@stat")
        await shows(app, "weather:weather://stations", "All stations")
        await pilot.press("tab", "enter")
        await shows(app, "Read.")
        ((_, (attachment,)),) = runtime.conversations.asked
        assert (attachment.kind, attachment.data) == (kind, data)


async def test_a_command_attaches_a_resource_from_a_list_or_by_its_uri(folder: Path):
    async with opened(runtime_with_resource()) as (app, pilot):
        await send(pilot, "/resource")
        await until(lambda: isinstance(app.screen, Picker))
        await pilot.press("enter")
        await until(lambda: app.main.composer.text == "[@weather:weather://stations] ")
        app.main.composer.show("")
        await send(pilot, "/resource weather://stations")
        await until(lambda: app.main.composer.text == "[@weather:weather://stations] ")


async def test_a_message_sent_while_an_attachment_is_read_is_sent_after_it(folder: Path):
    runtime = runtime_with_resource()
    runtime.model.replies.append(says("And that."))
    runtime.workbench.gate = asyncio.Event()
    async with opened(runtime) as (app, pilot):
        await at_sign(pilot, "@stat")
        await pilot.press("enter")
        await send(pilot, "second")
        await shows(app, "2 messages, reading attachments")
        assert runtime.conversations.asked == []
        runtime.workbench.gate.set()
        await shows(app, "And that.")
        assert [text for text, _ in runtime.conversations.asked] == ["@weather:weather://stations", "second"]


async def test_escape_stops_reading_and_returns_the_message_to_the_input(folder: Path):
    runtime = runtime_with_resource()
    runtime.workbench.gate = asyncio.Event()
    async with opened(runtime) as (app, pilot):
        await at_sign(pilot, "@stat")
        await pilot.press("enter")
        await until(lambda: runtime.workbench.called)
        await pilot.press("escape")
        await until(lambda: app.main.composer.text == "[@weather:weather://stations] ")
        await until(lambda: runtime.workbench.cancelled == 1)


@pytest.mark.parametrize("text", ["see @notes.md", "[@notes.md]", "/tools", "see @no"])
async def test_text_from_a_server_attaches_nothing_and_runs_no_command(folder: Path, text: str):
    runtime = FakeRuntime(says("Hello."))
    async with opened(runtime) as (app, pilot):
        app.main.parts.navigator.put_into_message(text)
        await pilot.press("enter")
        await shows(app, "Hello.")
        ((said, attachments),) = runtime.conversations.asked
        assert attachments == () and said.replace("[ @", "[@").strip() == text


async def test_a_pasted_reference_attaches_nothing(folder: Path):
    runtime = FakeRuntime(says("Hello."))
    async with opened(runtime) as (app, pilot):
        app.main.composer.post_message(events.Paste("see @notes.md"))
        await until(lambda: app.main.composer.text)
        await pilot.press("space", "enter")
        await shows(app, "Hello.")
        assert runtime.conversations.asked == [("see @notes.md", ())]


async def test_a_file_name_before_a_full_stop_is_attached(folder: Path):
    runtime = FakeRuntime(says("Read."))
    async with opened(runtime) as (app, pilot):
        await keys(pilot, "what is in @notes.md?")
        await pilot.press("enter")  # one is enough
        await shows(app, "what is in @notes.md?", "Read.")
        ((_, (attachment,)),) = runtime.conversations.asked
        assert attachment.data == "buy milk"


async def test_a_reference_that_attaches_nothing_is_reported(folder: Path):
    runtime = FakeRuntime(says("Which?"))
    async with opened(runtime) as (app, pilot):
        await keys(pilot, "see @src/ap.py and @src")
        await pilot.press("escape", "enter")
        await shows(app, "Not attached: @src/ap.py (file not found), @src (a directory).", "Which?")


async def test_a_template_is_filled_in_and_attached_in_the_workbench(folder: Path):
    runtime = runtime_with_resource()
    template = ResourceInfo("weather", "weather://archive/{city}", "archive", template=True)
    runtime.workbench.listed = (template, *runtime.workbench.listed)
    async with opened(runtime) as (app, pilot):
        await send(pilot, "/resource weather://archive/{city}")
        await until(lambda: isinstance(app.screen, ServerScreen) and app.screen.tab is BenchTab.RESOURCES)
        await until(lambda: isinstance(app.focused, FormPane))
        await keys(pilot, "Oslo")
        await pilot.press("escape", "a")
        await until(lambda: app.main.composer.text == "[@weather:weather://archive/Oslo] ")
        await pilot.press("escape")
