import pytest

from tests.ui.app_stage import opened
from tests.ui.fakes import FakeRuntime
from tui.addons.events.subscribe import SubscribeForm
from tui.addons.events.wire import EventType
from tui.ui.keys.bindings import KeyOverrides

NEEDS = {"type": "object", "properties": {"repo": {"type": "string"}}, "required": ["repo"]}


async def asked(schema, *keys, mode="push"):
    """Return what the form gives after some keys, and what it says."""
    given = []
    async with opened(FakeRuntime()) as (app, pilot):
        form = SubscribeForm(KeyOverrides(), "hub", EventType("push", input_schema=schema), mode)
        app.push_screen(form, given.append)
        await pilot.pause()
        await pilot.press(*keys)
        await pilot.pause()
        said = str(form.query_one("#said").render()) if form.is_attached else ""
    return given, said


@pytest.mark.parametrize("schema", [{}, {"type": "object"}, {"properties": {}}])
async def test_an_event_without_arguments_takes_none(schema):
    assert (await asked(schema, "ctrl+s"))[0] == [{}]


async def test_the_arguments_are_those_of_the_form():
    assert (await asked(NEEDS, *"a/b", "ctrl+s"))[0] == [{"repo": "a/b"}]


async def test_a_missing_argument_is_named():
    given, said = await asked(NEEDS, "ctrl+s")
    assert given == [] and said.startswith("! repo ")


async def test_escape_subscribes_to_nothing():
    assert (await asked(NEEDS, "escape"))[0] == [None]
