import json

import pytest

from tui.addons.events.inbox import Inbox
from tui.addons.events.rules import ActedTurn, ActingState
from tui.addons.events.store import EventStore, KeptSubscription, events_file, forget_server
from tui.addons.events.subscription import Position

ACTING = ActingState(["d"], [ActedTurn("d", 5.0, "github/push: 1 event", 1, "answered", 0.5)])


@pytest.fixture
def store(tmp_path):
    found = EventStore(tmp_path / "events.json")
    yield found
    found.close()


def kept(server="github", **more):
    return KeptSubscription(server, "origin", "push", {"repo": "x"}, "poll", 5.0, **more)


def written(store, *subscriptions):
    inbox = Inbox()
    inbox.add("github", "push", at=1.0, known="e1", data={"n": 1})
    inbox.add("mail", "new", at=1.0, known="e2", problem="It has no data.")
    inbox.read([1])
    store.write_later(subscriptions, inbox, ACTING)
    store.close()
    return inbox


def test_what_is_written_is_read_again(store):
    one = kept(position=Position("c", ("e1",)), is_paused=True, ended="Gone.", account="a")
    inbox = written(store, one)
    found, items, acting, problem = store.read()
    assert (found, items.items, acting, problem) == ([one], inbox.items, ACTING, "")


def test_only_the_owner_can_read_the_file(store):
    written(store, kept())
    assert store.path.stat().st_mode & 0o077 == 0


def test_a_missing_file_is_empty(store):
    found, inbox, acting, problem = store.read()
    assert (found, inbox.items, acting, problem) == ([], (), ActingState(), "")


def test_a_damaged_file_is_named_and_copied(store):
    store.path.write_text("{")
    assert store.read()[3].startswith(str(store.path))
    written(store)
    assert store.path.with_suffix(".damaged").read_text() == "{"


@pytest.mark.parametrize(
    "entry",
    [
        None,
        {},
        {"server": "x", "name": "", "mode": "poll"},
        {"server": "x", "name": "push", "mode": "webhook"},
        {"server": 7, "name": "push", "mode": "poll"},
    ],
)
def test_an_invalid_entry_is_left_out(store, entry):
    store.path.write_text(json.dumps({"format": 1, "subscriptions": [entry], "inbox": [entry]}))
    found, inbox, _, problem = store.read()
    assert (found, inbox.items, problem) == ([], (), "")


def test_an_invalid_position_starts_from_now(store):
    entry = {"server": "x", "name": "push", "mode": "poll"}
    entry["position"] = {"cursor": 7, "seen": [1, None, "e"]}
    store.path.write_text(json.dumps({"format": 1, "subscriptions": [entry]}))
    ((one,), *_) = store.read()
    assert one.position == Position(None, ("e",))


def test_a_removed_server_takes_its_subscriptions_and_events_along():
    store = EventStore()
    written(store, kept(), kept("mail"))
    forget_server("github")
    found, inbox, *_ = store.read()
    assert [one.server for one in found] == ["mail"] and [item.server for item in inbox.items] == ["mail"]


def test_without_subscriptions_a_removed_server_leaves_no_file():
    forget_server("github")
    assert not events_file().exists()
