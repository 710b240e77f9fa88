"""The form of the workbench: editing in place, raw JSON, saved arguments."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from textual import events
from textual.pilot import Pilot

from tests.conftest import until
from tests.ui.app_stage import screen_text, shows
from tests.ui.bench_app import app_of, bench_of, called, opened, rich
from tests.ui.bench_stage import rich_runtime, tool
from tests.ui.fakes import FakeRuntime
from tui.core.workbench import CallKey, CallKind
from tui.ui.dialogs.help import HelpScreen
from tui.ui.dialogs.picker import Picker
from tui.ui.workbench import saved_calls
from tui.ui.workbench.screen import ServerScreen


def forecast(schema: dict[str, Any] | None = None) -> FakeRuntime:
    """The forecast, whose form has every kind of field unless it is given a schema, is the first tool."""
    runtime = rich_runtime()
    tools = runtime.workbench.offered["weather"]
    found = tools.pop(1)
    tools.insert(0, found if schema is None else replace(found, schema=schema))
    return runtime


def value(screen: ServerScreen) -> object:
    return bench_of(screen).form.form.value()[0]


async def test_a_form_shows_types_defaults_and_required_fields() -> None:
    async with opened(forecast()) as (screen, _):
        await shows(
            app_of(screen),
            "city  text, at least 1 character · required",
            "days  integer 1…7 · default 3",
            "unit  one of 3 · default celsius",
            "detailed  boolean",
            "tags  list, at most 5 items",
        )
        await shows(app_of(screen), "( ) by name  ( ) by place", "note  text or null")


async def test_what_only_one_kind_of_field_shows() -> None:
    async with opened(forecast()) as (screen, pilot):
        await pilot.press("enter", "x", "ctrl+u")
        await shows(app_of(screen), "empty text")
        await pilot.press("tab", "tab", "question_mark")
        await until(lambda: isinstance(app_of(screen).screen, HelpScreen), what="the help")
        assert "No choice" not in screen_text(app_of(screen))
        await pilot.press("escape", "q")
        await shows(app_of(screen), "No choice starts with “q”.")
        await pilot.press("tab", "tab", "ctrl+a")
        await shows(app_of(screen), "(•) by place", "lat  number · required", "lon  number · required")


async def test_a_problem_is_shown_while_typing_and_of_an_empty_required_field_after_a_call() -> None:
    async with opened(forecast()) as (screen, pilot):
        await pilot.press("enter", "tab", "9")
        await shows(app_of(screen), "! must be at most 7")
        await pilot.press("backspace", "5")
        await until(lambda: "must be" not in screen_text(app_of(screen)))
        assert value(screen) == {"days": 5}
        assert "is required" not in screen_text(app_of(screen))
        await pilot.press("ctrl+s")
        await shows(app_of(screen), "! is required")
        assert bench_of(screen).form.current is not None
        assert bench_of(screen).form.current.name == "city"


async def test_switching_to_raw_json_and_back_loses_nothing() -> None:
    async with opened(forecast()) as (screen, pilot):
        bench = bench_of(screen)
        await pilot.press("enter", *"Beijing", "ctrl+e")
        await until(lambda: bench.raw.has_focus)
        assert '"city": "Beijing"' in bench.raw.text
        bench.raw.load_text('{"city": "Beijing", "days": "many", "extra": [1, {"a": null}]')
        await shows(app_of(screen), "is not JSON")
        await pilot.press("ctrl+e")
        await shows(app_of(screen), "fix this first")
        assert bench.is_raw
        bench.raw.load_text('{"city": "Beijing", "days": "many", "extra": [1, {"a": null}]}')
        await pilot.press("ctrl+e")
        await until(lambda: not bench.is_raw)
        assert value(screen) == {"city": "Beijing", "days": "many", "extra": [1, {"a": None}]}


async def test_complete_keys_beside_the_button_and_in_the_footer_lead_to_raw_json_and_back() -> None:
    async with opened(forecast(), size=(120, 40)) as (screen, pilot):
        await shows(app_of(screen), "ctrl+e JSON   ctrl+k saved arguments", "/ filter   ctrl+e JSON")
        await pilot.press("enter", "ctrl+e")
        await shows(app_of(screen), "ctrl+e form   ctrl+k saved arguments")
        await until(lambda: "ctrl+e JSON" not in screen_text(app_of(screen)))
        await pilot.resize_terminal(80, 24)
        await shows(app_of(screen), "Call  ctrl+s     ctrl+e form")
        await pilot.press("ctrl+e")
        await shows(app_of(screen), "Call  ctrl+s     ctrl+e JSON")
        assert "ctrl+k" not in screen_text(app_of(screen))


async def test_a_form_and_invalid_raw_json_are_restored_as_they_were_left() -> None:
    async with opened(forecast()) as (screen, pilot):
        await pilot.press("enter", *"draft", "escape", "down")
        await shows(app_of(screen), "Get the weather of a city")
        await pilot.press("up")
        await until(lambda: value(screen) == {"city": "draft"})
        await pilot.press("ctrl+e")
        bench_of(screen).raw.load_text("{ not yet")
        await pilot.press("escape", "down")
        await until(lambda: not bench_of(screen).is_raw)
        await pilot.press("up")
        await until(lambda: bench_of(screen).is_raw)
        assert bench_of(screen).raw.text == "{ not yet"


@pytest.mark.parametrize("then", ["call it", "quit", "select another"])
async def test_the_arguments_of_the_last_form_are_restored_without_secrets(then: str) -> None:
    runtime = rich_runtime()
    schema = {"type": "object", "properties": {"city": {"type": "string"}, "api_key": {"type": "string"}}}
    runtime.workbench.offered["weather"].insert(0, tool("guarded", schema))
    async with opened(runtime) as (screen, pilot):
        await pilot.press("enter", *"here", "tab", *"hunter2")
        if then == "call it":
            await pilot.press("ctrl+s")
            await called(runtime)
        elif then == "select another":
            await pilot.press("escape", "down")
        if then != "quit":
            await until(lambda: runtime.calls.memory.last)
    assert runtime.calls.memory.last == {CallKey("weather", CallKind.TOOL, "guarded"): {"city": "here"}}
    async with opened(runtime) as (screen, _):
        await until(lambda: value(screen) == {"city": "here"})


@pytest.mark.parametrize("has_addon", [True, False])
async def test_arguments_can_be_saved_under_a_name_used_and_deleted(
    has_addon: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    if not has_addon:
        monkeypatch.setattr(saved_calls, "service", lambda name: None)
    file = tmp_path / "weather.mcp.toml"

    async with rich() as (runtime, screen, pilot):

        def is_saved() -> bool:
            if has_addon:
                return file.exists() and 'name = "my town"' in file.read_text()
            return bool(runtime.calls.memory.saved)

        app = app_of(screen)
        await pilot.press("enter", *"home", "ctrl+k", *"../x", "enter")
        await shows(app, "Not saved")
        await pilot.press("ctrl+k")
        await shows(app, "Save arguments as (draft) › ../x")
        await pilot.press(*["backspace"] * 4, *"my town", "enter")
        await until(is_saved)
        await pilot.press(*["backspace"] * 4, "ctrl+k")
        await until(lambda: isinstance(app.screen, Picker))
        await pilot.press("enter")
        await until(lambda: value(screen) == {"location": "home"})
        await pilot.press("ctrl+k")
        await until(lambda: isinstance(app.screen, Picker))
        await pilot.press("down", "down", "enter")
        await shows(app, "DELETE SAVED ARGUMENTS")
        await pilot.press("enter")
        await until(lambda: not is_saved())


async def test_a_pasted_text_of_several_lines_is_not_changed() -> None:
    async with opened(rich_runtime()) as (screen, pilot):
        await pilot.press("enter")
        bench_of(screen).form.post_message(events.Paste("one\r\ntwo\x1b[31m"))
        await until(lambda: value(screen) == {"location": "one\ntwo\x1b[31m"})
        await shows(app_of(screen), "one⏎two␛[31m")


async def test_values_from_the_server_are_suggested_inserted_with_tab_and_closed_with_escape() -> None:
    runtime = rich_runtime()
    runtime.workbench.values = {"first": ("Beijing", "Berlin"), "second": ("Bern",)}
    async with opened(runtime) as (screen, pilot):
        await pilot.press("4")
        await shows(app_of(screen), "compare")
        await pilot.press("enter", "B", "e", "r")
        await shows(app_of(screen), "Berlin")
        await pilot.press("tab")
        bench = screen.bench
        assert bench is not None
        assert bench.form.form.value()[0] == {"first": "Berlin"}
        await pilot.press("tab")
        await shows(app_of(screen), "Bern ")
        assert runtime.workbench.completed[-1] == ("second", "", {"first": "Berlin"})
        await pilot.press("down", "enter")
        assert bench.form.form.value()[0] == {"first": "Berlin", "second": "Bern"}
        await pilot.press("backspace")
        await shows(app_of(screen), "Bern ")
        await pilot.press("escape")
        assert not bench.form._suggestions.is_open
        assert screen.focused is bench.form


async def test_no_values_are_suggested_for_the_arguments_of_a_tool() -> None:
    runtime = rich_runtime()
    runtime.workbench.values = {"location": ("Beijing",)}
    async with opened(runtime) as (screen, pilot):
        await pilot.press("enter", "B")
        await shows(app_of(screen), "location  text · required")
        assert runtime.workbench.completed == []


TEXTS = {"type": "array", "items": {"type": "string"}}
WIDE = {"type": "object", "properties": {f"field_{n}": {"type": "string"} for n in range(390)}}
NESTED = {
    "type": "object",
    "properties": {
        "kind": {"enum": ["road", "rail", "river"]},
        "place": {
            "type": "object",
            "properties": {"city": {"type": "string"}, "zip": {"type": "string"}},
            "required": ["city"],
        },
        "tags": TEXTS,
        "extra": {"type": "object", "additionalProperties": {"type": "string"}},
        "note": {"type": "string"},
    },
    "required": ["note"],
}
SIZE = {"type": "object", "properties": {"width": {"type": "integer"}, "height": {"type": "integer"}}}
OPTIONAL = {"type": "object", "properties": {"size": {"anyOf": [SIZE, {"type": "null"}], "default": None}}}
LISTS = {"type": "object", "properties": {"tags": TEXTS, "ways": TEXTS, "town": {"type": "string"}}}

BY_KEYS: dict[str, tuple[dict[str, Any] | None, list[tuple[tuple[str, ...], object]]]] = {
    "letters of every script and editing keys": (
        None,
        [
            ((*"北京 now", "home", "delete", *"南", "end", "ctrl+w", "backspace"), {"city": "南京"}),
            (("ctrl+u",), {"city": ""}),
            (("backspace",), {}),
        ],
    ),
    "arrows and letters change a choice, and enter goes on": (
        None,
        [
            (("tab", "tab", "right"), {"unit": "celsius"}),
            (("k",), {"unit": "kelvin"}),
            (("left",), {"unit": "fahrenheit"}),
            (("delete",), {}),
            ((*"fah", "enter", "t", "enter"), {"unit": "fahrenheit", "detailed": True}),
            (("up", *"no"), {"unit": "fahrenheit", "detailed": False}),
            (("q",), {"unit": "fahrenheit", "detailed": False}),
        ],
    ),
    "lists grow and shrink": (
        None,
        [
            ((*["tab"] * 5, "space"), {"tags": []}),
            (("ctrl+n", *"rain", "ctrl+n", *"wind", "ctrl+n", *"hail"), {"tags": ["rain", "wind", "hail"]}),
            (("up", "ctrl+d"), {"tags": ["rain", "hail"]}),
        ],
    ),
    "the variants of a union": (
        None,
        [((*["tab"] * 4, "ctrl+a", "tab", *"39.9", "tab", *"116"), {"where": {"lat": 39.9, "lon": 116}})],
    ),
    "null and absent": (None, [((*["tab"] * 6, "ctrl+a"), {"note": None}), (("ctrl+a",), {})]),
    "letters on the heading of an object go into its first text": (
        NESTED,
        [
            (
                ("tab", *"Oslo", "tab", *"0150", "tab", "tab", "tab", *"hi"),
                {"place": {"city": "Oslo", "zip": "0150"}, "note": "hi"},
            )
        ],
    ),
    "enter goes past a list and adds nothing to it": (
        LISTS,
        [(("ctrl+n", *"a", "up", "enter", "enter", "enter", *"Ulm"), {"tags": ["a"], "town": "Ulm"})],
    ),
    "a declared property needs no name and is not added twice": (
        OPTIONAL,
        [(("ctrl+n", "4", "shift+tab", "ctrl+n", *"width", "enter", "2"), {"size": {"width": 42}})],
    ),
    "an object that is null opens with the key that adds": (
        OPTIONAL,
        [(("ctrl+a",), {"size": None}), (("ctrl+n", "4"), {"size": {"width": 4}})],
    ),
    "what a tool does not declare": ({"type": "object"}, [(("ctrl+n", *"a", "enter", *"b"), {"a": "b"})]),
    "hundreds of fields": (WIDE, [((*"abc", "tab", *"def"), {"field_0": "abc", "field_1": "def"})]),
}


@pytest.mark.parametrize("name", BY_KEYS)
async def test_the_arguments_follow_the_keys(name: str) -> None:
    schema, steps = BY_KEYS[name]
    async with opened(forecast(schema)) as (screen, pilot):
        await pilot.press("enter")
        for keys, expected in steps:
            await pilot.press(*keys)
            assert value(screen) == expected


@asynccontextmanager
async def nested() -> AsyncIterator[tuple[ServerScreen, Pilot[None]]]:
    """Open a form with a choice, which has the focus, an optional object, a list, a map and a text."""
    async with opened(forecast(NESTED)) as (screen, pilot):
        await pilot.press("enter")
        yield screen, pilot


async def test_enter_goes_on_from_a_choice_and_from_the_heading_of_an_object() -> None:
    async with nested() as (screen, pilot):
        await pilot.press("enter")
        assert bench_of(screen).form.current.path == ("place",)
        await pilot.press("enter")
        assert bench_of(screen).form.current.path == ("tags",)
        assert value(screen) == {}


async def test_letters_on_the_heading_of_a_list_begin_an_item_and_of_a_map_a_name() -> None:
    async with nested() as (screen, pilot):
        await pilot.press("tab", "tab", *"wet")
        assert value(screen) == {"tags": ["wet"]}
        await pilot.press("tab", "k")
        await until(lambda: screen_text(app_of(screen)).count("name of the new"))
        await pilot.press("e", "y", "enter", *"value")
        assert value(screen) == {"tags": ["wet"], "extra": {"key": "value"}}


async def test_backspace_on_a_heading_does_not_clear_what_is_in_it() -> None:
    async with nested() as (screen, pilot):
        await pilot.press("tab", *"Oslo", "up", "backspace", "delete")
        assert value(screen) == {"place": {"city": "Oslo"}}
        await shows(app_of(screen), "Press ctrl+d to clear all of it.")
        await pilot.press("ctrl+d")
        assert value(screen) == {}


async def test_several_letters_select_a_choice_and_one_letter_again_the_next() -> None:
    async with nested() as (screen, pilot):
        await pilot.press(*"ri")
        assert value(screen) == {"kind": "river"}
        bench_of(screen).form._type_ahead._at = -1e9
        await pilot.press("r")
        assert value(screen) == {"kind": "road"}


async def test_a_full_list_takes_no_more() -> None:
    point = {"type": "array", "prefixItems": [{"type": "integer"}, {"type": "string"}], "minItems": 2}
    schema = {"type": "object", "properties": {"point": {**point, "maxItems": 2}}}
    async with opened(forecast(schema)) as (screen, pilot):
        await pilot.press("enter", "ctrl+n", "7", "ctrl+n")
        assert value(screen) == {"point": [7]}
        await shows(app_of(screen), "point may have at most 2 items.")


async def test_an_item_shows_the_keys_that_add_another_and_remove_it() -> None:
    item = {"type": "object", "properties": {"id": {"type": "string"}}}
    schema = {"type": "object", "properties": {"items": {"type": "array", "items": item}}}
    async with opened(forecast(schema)) as (screen, pilot):
        await pilot.press("enter", "ctrl+n", "up")
        await shows(app_of(screen), "ctrl+n add  ctrl+d remove")


async def test_enter_opens_a_list_of_choices_that_do_not_fit_beside_each_other() -> None:
    schema = {"type": "object", "properties": {"town": {"enum": [f"town {n}" for n in range(40)]}}}
    async with opened(forecast(schema)) as (screen, pilot):
        await pilot.press("enter", "enter")
        await until(lambda: isinstance(app_of(screen).screen, Picker))
        await pilot.press("down", "enter")
        await until(lambda: value(screen) == {"town": "town 1"})
