"""Adding a model in the app: provider, key, model from its list, tested before it is saved."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from textual import events
from textual.pilot import Pilot

from tests.conftest import until
from tests.ui.app_stage import opened, screen_text, shows
from tests.ui.fakes import FakeRuntime
from tui.model.endpoints.providers import Provider
from tui.runtime.model_changes import ModelValues
from tui.ui.app.app import McptuiApp
from tui.ui.forms.model_fields import KEY, MODEL, NAME, VARIABLE
from tui.ui.forms.model_form import ModelForm


@asynccontextmanager
async def adding_big(runtime: FakeRuntime) -> AsyncIterator[tuple[McptuiApp, Pilot[int], ModelForm]]:
    """Open the form that adds a model of the first provider."""
    async with opened(runtime) as (app, pilot):
        await pilot.press("f10", "ctrl+n")
        await shows(app, "ADD MODEL")
        await pilot.press("enter")
        await shows(app, "ADD MODEL   Big")
        assert isinstance(app.screen, ModelForm)
        yield app, pilot, app.screen


async def test_a_model_is_selected_from_the_list_of_its_endpoint_tested_and_added():
    runtime = FakeRuntime()
    async with opened(runtime) as (app, pilot):
        await pilot.press("f10")
        await shows(app, "ctrl+n add")
        await pilot.press("ctrl+n")
        await shows(app, "ADD MODEL", "BIG_KEY is set", "Other endpoint")
        await pilot.press("enter")
        await shows(app, "ADD MODEL   Big", "https://big.example/v1", "↓ choose from 2 models")
        await pilot.press("down")
        await shows(app, "small-1")
        await pilot.press("up", "enter")
        await until(lambda: isinstance(app.screen, ModelForm))
        await pilot.press("ctrl+s")
        await shows(app, "Added the model “big” and switched to it.")
        await until(lambda: app.screen is app.main)
    values = ModelValues("big", "https://big.example/v1", "small-1", "environment", "BIG_KEY")
    assert runtime.model_changes.done == [("try", values), ("add", values)]


async def test_a_model_that_does_not_answer_is_saved_only_after_a_second_save():
    runtime = FakeRuntime()
    runtime.model_changes.problem = "no credit"
    async with adding_big(runtime) as (app, pilot, _):
        await pilot.press("ctrl+s")
        await shows(app, "! no credit", "ctrl+s again to save anyway")
        assert [what for what, _ in runtime.model_changes.done] == ["try"]
        await pilot.press("ctrl+s")
        await until(lambda: app.screen is app.main)
    assert [what for what, _ in runtime.model_changes.done] == ["try", "add"]


async def test_an_unset_variable_is_reported_and_a_pasted_key_is_masked_and_its_place_said_before():
    async with adding_big(FakeRuntime()) as (app, pilot, _):
        await pilot.press("shift+tab", "X")
        await shows(
            app, "BIG_KEYX is not set. Choose “store” or “this run only”", "Get a key at https://keys.example"
        )
        await pilot.press("shift+tab", "right")
        await shows(app, "ctrl+a next choice", "Key  required")
        await pilot.press("tab", *"secret")
        await shows(
            app, "••••••", "Stored in a file that only you can read, in ~/keys", "package keyring is missing"
        )
        await pilot.press("shift+tab", "right")
        await shows(app, "Kept in memory only and forgotten when mcptui quits.")


async def test_a_key_typed_in_one_burst_goes_into_the_field_that_the_burst_has_shown():
    async with adding_big(FakeRuntime()) as (app, _, form):
        for key in ("shift+tab", "shift+tab", "right", "tab", *"secret"):
            app.post_message(events.Key(key, key if len(key) == 1 else None))
        await until(lambda: "secret" in {form.text(KEY), form.text(MODEL), form.text(VARIABLE)})
        assert form.text(KEY) == "secret"


async def test_enter_goes_to_the_next_field_and_saves_on_the_button_as_the_last_line_says():
    runtime = FakeRuntime()
    async with adding_big(runtime) as (app, pilot, form):
        await shows(app, "enter next field")
        await pilot.press("enter")
        await until(lambda: form.pane.current.path == NAME)
        await pilot.press("enter")
        await shows(app, "esc cancel   enter save")
        assert not runtime.model_changes.done


async def test_a_profile_of_another_endpoint_is_named_after_its_model():
    runtime = FakeRuntime()
    async with opened(runtime) as (app, pilot):
        await pilot.press("f10", "ctrl+n")
        await shows(app, "Other endpoint")
        await pilot.press("down", "enter")
        await shows(app, "ADD MODEL   Other endpoint", "default: from the model", "API key   ")
        await pilot.press(*"http", "colon", "slash", "slash", "h", "tab", "tab", *"small-1")
        await shows(app, "small-1")
        await pilot.press("ctrl+s")
        await shows(app, "Added the model “small-1” and switched to it.")
    assert [values.name for _, values in runtime.model_changes.done] == ["small-1", "small-1"]


async def test_a_note_about_the_key_is_apart_from_the_next_field_on_a_small_terminal() -> None:
    runtime = FakeRuntime()
    async with opened(runtime, (80, 24)) as (app, _):
        provider = Provider("big", "Big", "big.example/v1", "big-1")
        runtime.model_changes.unset.add("BIG_KEY")
        app.push_screen(ModelForm(app.overrides, runtime.model_changes, provider))
        await shows(app, "No keychain", "Model  required")
        lines = screen_text(app).splitlines()
        model = next(number for number, line in enumerate(lines) if "Model  required" in line)
        assert not lines[model - 1].strip(" ▌█▐▁▔│┃▕▏") and "keyring" in lines[model - 2]
