"""Servers added, changed, disabled and removed in the app, by keys."""

from dataclasses import replace

from textual import events
from textual.pilot import Pilot

from tests.conftest import until
from tests.ui.app_stage import opened, screen_text, shows
from tests.ui.fake_host import FakeHost, running
from tests.ui.fakes import FakeRuntime
from tui.core.servers import ServerState, StopReason
from tui.ui.app.app import McptuiApp
from tui.ui.dialogs.confirm import Confirm
from tui.ui.forms.form_rows import FieldNote
from tui.ui.forms.server_form import LINE, VALUES, ServerForm
from tui.ui.widgets.rows import text_of


async def pasted(app: McptuiApp, pilot: Pilot[int], text: str) -> None:
    """Open the form of a new server and paste a text into it."""
    await pilot.press("f3", "a")
    await until(lambda: isinstance(app.screen, ServerForm))
    app.screen.post_message(events.Paste(text))


async def test_a_server_is_added_from_typed_values_with_a_preview_and_selected_for_the_next_key():
    runtime = FakeRuntime()
    async with opened(runtime) as (app, pilot):
        pane = app.main.regions.servers
        await pilot.press("f3", "a")
        await until(lambda: isinstance(app.screen, ServerForm))
        await pilot.press(*"python3", "space", "x")
        await shows(app, "ADD SERVER", "[servers.weather]", 'line = "python3 x"')
        await pilot.press("tab", *"mine", "tab", "tab", "right", "right")
        await shows(app, "[servers.mine]", "# lines")
        await pilot.press("ctrl+s")
        await until(lambda: runtime.server_changes.done)
        await shows(app, "Added the server “mine”.")
        assert runtime.server_changes.done == [("add", '[servers.mine]\nline = "python3 x"\n# lines\n')]
        runtime.host.put(running("mine"))
        await until(lambda: pane.selected == "mine" and "mine" in text_of(pane.row(pane.cursor)))
        await pilot.press("e")
        await shows(app, "EDIT SERVER   “mine”")


async def test_an_error_is_shown_and_the_form_stays_open():
    runtime = FakeRuntime()
    async with opened(runtime) as (app, pilot):
        await pilot.press("f3", "a")
        await until(lambda: isinstance(app.screen, ServerForm))
        await pilot.press("ctrl+s")
        await shows(app, "There is no such command on PATH.")
        await pilot.press("x", "ctrl+s")
        assert isinstance(app.screen, ServerForm)
        await pilot.press("escape", "escape")
        await until(lambda: app.screen is app.main)
    assert not runtime.server_changes.done


async def test_the_keys_stay_on_a_small_screen_when_the_preview_appears():
    async with opened(FakeRuntime(), (80, 24)) as (app, pilot):
        await pasted(app, pilot, "python3 x")
        await shows(app, 'line = "python3 x"', "Save  ctrl+s")


async def test_a_note_on_the_command_is_below_it():
    async with opened(FakeRuntime()) as (app, pilot):
        await pasted(app, pilot, "python3 npx")
        await shows(app, "args: npx can ask")
        text = screen_text(app)
        assert text.index("python3 npx") < text.index("npx can ask") < text.index("Name")


async def test_the_problem_of_a_variable_is_below_the_variables():
    async with opened(FakeRuntime()) as (app, pilot):
        await pasted(app, pilot, "python3 x")
        await pilot.press("tab", "tab", "ctrl+n", *"BAD")
        await shows(app, "“BAD” is not NAME=VALUE.")
        text = screen_text(app)
        assert text.index("Environment") < text.index("“BAD” is not") < text.index("Transport")


async def test_the_label_shows_whether_headers_or_variables_are_expected():
    async with opened(FakeRuntime()) as (app, pilot):
        await pilot.press("f3", "a")
        await shows(app, "Environment", "NAME=VALUE")
        await pilot.press(*"https", "colon", "slash", "slash", "h")
        await shows(app, "Headers", "Authorization: Bearer")


async def test_a_server_is_changed_with_its_secrets_masked():
    runtime = FakeRuntime()
    async with opened(runtime) as (app, pilot):
        await pilot.press("f3", "e")
        await shows(app, "EDIT SERVER   “weather”", "python3 weather.py", "TOKEN=***", "TOKEN is not set")
        await pilot.press("exclamation_mark", "ctrl+s")
        await until(lambda: runtime.server_changes.done)
    assert runtime.server_changes.done[0][1].startswith('[servers.weather]\nline = "python3 weather.py!"')


async def test_a_sentence_typed_in_the_servers_pane_changes_no_server():
    runtime = FakeRuntime()
    async with opened(runtime) as (app, pilot):
        await shows(app, "RUNNING")
        await pilot.press("f3", *"Tell", "enter", "enter")
        await shows(app, "Trust the server “weather”?")
        await pilot.press("escape")
        await until(lambda: app.screen is app.main)
        await pilot.press(*"e", "enter")
        form = app.screen
        assert isinstance(form, ServerForm)
        await until(lambda: form.pane.current.path == VALUES)
        await pilot.press("escape", "escape")
        await until(lambda: app.screen is app.main)
    assert not runtime.server_changes.done
    assert runtime.host.status("weather").spec.trusted is not True


async def test_a_server_is_removed_only_after_confirmation():
    runtime = FakeRuntime()
    async with opened(runtime) as (app, pilot):
        await pilot.press("f3", "ctrl+d")
        await shows(app, "Remove the server “weather” from the configuration?")
        await pilot.press("n")
        await until(lambda: app.screen is app.main)
        await pilot.press("ctrl+d")
        await until(lambda: isinstance(app.screen, Confirm))
        app.screen._delay._shown -= 1
        await pilot.press("y")
        await until(lambda: runtime.server_changes.done == [("remove", "weather")])


async def test_a_failed_change_is_reported():
    runtime = FakeRuntime()
    runtime.server_changes.problem = "weather is a sample."
    async with opened(runtime) as (app, pilot):
        await pilot.press("f3", "e")
        await shows(app, "weather is a sample.")
        runtime.server_changes.problem = "weather is still a sample."
        await pilot.press("o")
        await shows(app, "weather is still a sample.")


async def test_a_disabled_server_is_listed_and_says_how_to_enable_it():
    status = running("weather")
    spec = replace(status.spec, disabled=True)
    off = replace(status, spec=spec, state=ServerState.STOPPED, reason=StopReason.DISABLED)
    runtime = FakeRuntime(host=FakeHost(off, running("notes")))
    async with opened(runtime) as (app, pilot):
        await shows(app, "STOPPED  disabled", "1 of 1")
        await pilot.press("f3", "s")
        await shows(app, "The server “weather” is disabled. Press o to enable it.")
        assert not runtime.host.asked
        await pilot.press("o")
        await until(lambda: runtime.server_changes.done == [("toggle", "weather")])
        await shows(app, "Disabled the server “weather”.")


async def test_an_error_longer_than_a_line_is_shown_in_full():
    runtime = FakeRuntime()
    problem = "Cannot use this command: " + "it is missing on this computer, " * 4 + "as said."
    async with opened(runtime, (80, 24)) as (app, pilot):
        await pilot.press("f3", "a")
        await until(lambda: isinstance(app.screen, ServerForm))
        app.screen.pane.note(LINE, FieldNote(problem=problem))
        await shows(app, "Cannot use this command", "as said.")


async def test_a_name_already_in_use_is_reported_below_the_name():
    async with opened(FakeRuntime()) as (app, pilot):
        await pilot.press("f3", "a")
        await until(lambda: isinstance(app.screen, ServerForm))
        await pilot.press(*"python3", "tab", *"taken")
        await shows(app, "! A server named “taken” is already configured. Choose another name.")
        lines = screen_text(app).splitlines()
        (complaint,) = (number for number, line in enumerate(lines) if "is already configured" in line)
        assert "taken" in lines[complaint - 1]
        await pilot.press("backspace")
        await until(lambda: "already configured" not in screen_text(app))
