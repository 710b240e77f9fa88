"""The screen of all events, and what the chat screen shows of them."""

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
        await app.shows("all subscriptions are paused", "0 subscriptions delivering", "paused")
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
        await app.shows("EVENTS", "No events")
