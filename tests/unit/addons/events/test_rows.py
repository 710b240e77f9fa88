from tests.cases import each_case
from tui.addons.events.events import Subscribed
from tui.addons.events.inbox import Inbox
from tui.addons.events.rows import Shown, detail_rows, list_rows
from tui.addons.events.rules import ActedTurn, EventRule
from tui.addons.events.store import KeptSubscription
from tui.addons.events.subscription import State, Subscription
from tui.addons.events.wire import EventType
from tui.ui.widgets.rows import text_of

EVIL = "\x1b[2J[red]\u202ename\nsecond line"
NOW = 1_795_984_375.0


def subscribed(**more):
    kept = KeptSubscription("hub", "o", "push", {"repo": "x"}, "push", NOW)
    one = Subscribed(kept, Subscription("push", "push"))
    for name, value in more.items():
        setattr(one.state, name, value)
    return one


def items(**more):
    inbox = Inbox()
    inbox.add("hub", **{"event": "push", "at": NOW, "data": {"n": 1}} | more)
    return inbox.items


def listed(types=(), subscriptions=(), events=(), width=100, **more):
    rows = list_rows(Shown(types, subscriptions, events, len(events), **more), NOW, width)
    return "\n".join(text_of(row) for _, row in rows)


def test_a_server_has_types_subscriptions_and_inbox():
    text = listed([EventType("push", "A push", ("push",))], [subscribed(state=State.LIVE)], items())
    assert (
        text.index("EVENT TYPES") < text.index("A push") < text.index("SUBSCRIPTIONS") < text.index("INBOX")
    )
    assert "live" in text and "1 unread" in text


def test_of_all_servers_each_row_names_its_server():
    text = listed(None, [subscribed()], items())
    assert text.count("hub/push") == 2 and "EVENT TYPES" not in text


def test_a_type_that_needs_a_webhook_says_so():
    assert "webhooks need a public address" in listed([EventType("hook", delivery=("webhook",))])


def test_rules_have_their_standing_and_turns_their_outcome():
    turn = ActedTurn("d", NOW, "hub/push: 2 events", 2, "answered")
    text = listed(None, rules=[(EventRule("hub/*", "Why?"), "not confirmed")], turns=[turn])
    assert "not confirmed" in text and "Why?" in text and "hub/push: 2 events  answered" in text


def test_a_subscription_says_what_is_wrong():
    text = listed(None, [subscribed(state=State.LOST, problem="The server closed the stream.", gaps=2)])
    assert "lost" in text and "2 gaps" in text and "The server closed the stream." in text


@each_case(
    "line",
    [
        EventType(EVIL, EVIL, ("push", EVIL), {"description": EVIL}, {"x": EVIL}),
        subscribed(problem=EVIL, cursor=EVIL),
        EventRule(EVIL, EVIL, EVIL),
        ActedTurn("d", NOW, EVIL, 1, EVIL, 0.5),
        items(event=EVIL, known=EVIL, timestamp=EVIL, data={EVIL: EVIL}, problem=EVIL)[0],
    ],
)
def test_text_of_a_server_is_clean(line):
    shown = [text_of(row) for row in detail_rows(line, NOW, 80)]
    shown += listed([line], (), ()).split("\n") if isinstance(line, EventType) else []
    assert shown and not any(sign in text for text in shown for sign in "\x1b\u202e\n")
    assert any("[red]" in text for text in shown)


def test_a_large_schema_is_shown_as_far_as_it_can_be_read():
    kind = EventType("push", input_schema={"properties": {f"p{number}": {} for number in range(20_000)}})
    assert len(list(detail_rows(kind, 0.0, 80))) < 2_000
