"""The screen of all events, and what the chat screen shows of them."""

import pytest

from tests.conftest import until
from tests.hosts import called
from tests.ui.real_stage import real_app
from tests.unit.addons.events.stage import hub
from tui.core.ports import BY_KEY


async def subscribed(app):
    await app.has_state("hub", "RUNNING")
    types, _ = await app.runtime.events.types("hub")
    await app.runtime.events.subscribe("hub", types[0], {}, by=BY_KEY)


async def test_unread_events_are_counted_in_the_status_line_and_listed_by_the_command(separate_home):
    async with real_app(separate_home, hub("emit=2")) as app:
        await subscribed(app)
        await app.shows("2 unread events")
        await app.press(*"/events", "enter")
        await app.shows("EVENTS", "1 subscription delivering", "hub/push", "2 unread")
        await app.press("m", "escape")
        await app.shows("Ask anything")
        await until(lambda: "unread" not in app.text)


async def test_all_subscriptions_are_paused_by_one_key(separate_home):
    async with real_app(separate_home, hub()) as app:
        await subscribed(app)
        await app.press("alt+e")
        await app.shows("EVENTS", "live")
        await app.press("Z")
        await app.shows("all subscriptions are paused")
        await app.shows("0 subscriptions delivering", "paused")
        await called(app.runtime.host, "emit")
        assert app.runtime.events.inbox.items == ()


async def test_an_event_is_attached_and_found_in_the_traffic(separate_home):
    async with real_app(separate_home, hub("emit=1")) as app:
        await subscribed(app)
        await app.press("alt+e")
        await app.shows("1 unread")
        await app.press("end", "a")
        await app.shows("attached to the next message")
        await app.press("f4")
        await app.shows("TRAFFIC", "notifications/events/event")


async def test_without_subscriptions_there_is_an_empty_inbox(separate_home):
    async with real_app(separate_home, hub()) as app:
        await app.press("alt+e")
        await app.shows("EVENTS", "No events", "Subscribe in the workbench of a server")


PROMPT = f"{'Anything odd? ' * 100}THE END"
RULE = f'[events]\nact = true\n[[events.rules]]\non = "hub/push"\nprompt = "{PROMPT}"\n'


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
async def test_a_rule_is_shown_confirmed_and_withdrawn(separate_home, size):
    async with real_app(separate_home, RULE + hub(), size=size) as app:
        await app.has_state("hub", "RUNNING")
        await app.press("alt+e")
        await app.shows("not confirmed", "enter confirm")
        await app.press("enter")
        await app.shows("about these events automatically?", "Anything odd?", "yes, ask about them")
        await until(lambda: app.app.screen.answer_delay.accepts_keys)
        for _ in range(3):
            await app.press("pagedown")
        await app.shows("THE END", "4 turns an hour, 20 a day", "no limit", "nobody is asked")
        await app.press("ctrl+s")
        await app.shows("enter withdraw")
        await app.press("enter")
        await app.shows("not confirmed", "Withdrawn")


async def test_while_a_turn_runs_the_key_that_stops_it_is_shown(separate_home):
    async with real_app(separate_home, RULE + hub(), size=(80, 24)) as app:
        await app.has_state("hub", "RUNNING")
        await app.press("alt+e")
        await app.shows("not confirmed")
        (app.runtime.events.actor.running,) = app.runtime.events.actor.rules
        app.runtime.events.revision += 1
        await app.shows("asking about hub/push, Z stops it")
