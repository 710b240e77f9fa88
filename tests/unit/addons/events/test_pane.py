"""The list of events in the workbench, over a real server."""

from types import SimpleNamespace

import pytest

from tests.conftest import until
from tests.hosts import called
from tests.ui.real_stage import real_app
from tests.unit.addons.events.stage import hub
from tui.addons.events.inbox import Inbox
from tui.addons.events.pane import EventsPane


@pytest.fixture
def open_tab(separate_home):
    def opened(*switches, size=(120, 40), **values):
        return real_app(separate_home, hub(*switches, **values), size=size)

    return opened


async def to_tab(app):
    await app.has_state("hub", "RUNNING")
    await app.press("f3", "enter")
    await app.shows("WORKBENCH", "9 events")
    await app.press("9")
    await app.shows("EVENT TYPES", "The push event")


async def subscribe(app):
    await app.press("enter")
    await app.shows("SUBSCRIBE   push of", "keeps a stream to the server open")
    await app.press("ctrl+s")
    await app.shows("SUBSCRIPTIONS", "live")


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
async def test_subscribing_shows_the_events_that_arrive(open_tab, size):
    async with open_tab(size=size) as app:
        await to_tab(app)
        await subscribe(app)
        await called(app.runtime.host, "emit", count=2)
        await app.shows("2 unread", '{"n": 1}')


async def test_cancelling_the_form_subscribes_to_nothing(open_tab):
    async with open_tab() as app:
        await to_tab(app)
        await app.press("enter")
        await app.shows("SUBSCRIBE   push of")
        await app.press("escape")
        await app.shows("EVENT TYPES")
        assert app.runtime.events.subscriptions == []


async def test_an_event_type_that_needs_a_webhook_is_not_subscribed(open_tab):
    async with open_tab() as app:
        await to_tab(app)
        await app.press("down", "down", "enter")
        await app.shows("Cannot subscribe here: webhooks need a public address.")
        assert app.runtime.events.subscriptions == []


async def test_a_subscription_can_be_paused_continued_and_removed(open_tab):
    async with open_tab() as app:
        await to_tab(app)
        await subscribe(app)
        await app.press("down", "down", "down", "enter")  # which does nothing here
        await app.shows("live", "p pause")
        await app.press("p")
        await app.shows("paused", "p continue")
        await app.press("p")
        await app.shows("live")
        await app.press("ctrl+d")
        await app.shows("Unsubscribed.")
        await until(lambda: not app.runtime.events.subscriptions)


async def test_an_event_is_read_and_found_in_the_traffic(open_tab):
    async with open_tab("emit=1") as app:
        await to_tab(app)
        await subscribe(app)
        await app.shows("1 unread")
        await app.press("end", "enter")
        await app.shows("hub / push", '"n": 0')
        await app.press("escape")
        await app.shows("INBOX")
        assert app.runtime.events.inbox.unread == 0
        await app.press("f4")
        await app.shows("TRAFFIC", "notifications/events/event")


async def test_an_attached_event_is_in_the_next_message(open_tab):
    async with open_tab("emit=1") as app:
        await to_tab(app)
        await subscribe(app)
        await app.shows("1 unread")
        await app.press("end", "a")
        await app.shows("attached to the next message")
        await app.press("escape")
        await app.shows("[@event push from hub]")


async def test_the_inbox_can_be_filtered(open_tab):
    async with open_tab("emit=3") as app:
        await to_tab(app)
        await subscribe(app)
        await app.shows("3 unread")
        await app.press("slash", *'"n": 2', "enter")
        await app.shows("1 unread", "clear filter")
        await app.press("escape")
        await app.shows("3 unread")
        await app.press("m")
        await until(lambda: app.runtime.events.inbox.unread == 0)


def test_an_id_cannot_add_to_the_filter_of_the_traffic():
    item, shown = Inbox().add("srv", "push", at=1.0, known='a" status:error'), []
    EventsPane.traffic(SimpleNamespace(_selected_as=lambda *_: item, _show_traffic=shown.append))
    assert shown == [r'server:srv method:*events/* "a\" status:error"']
