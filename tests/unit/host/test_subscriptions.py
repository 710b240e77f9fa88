"""Resource subscriptions and the updates that a server reports."""

import pytest

from tui.core.workbench import ResourceSubscription
from tui.host.subscriptions import MOST, Subscriptions


@pytest.fixture
def subscriptions():
    made = Subscriptions()
    made.add("a://x")
    made.add("a://x/y")
    return made


def updates(subscriptions):
    return {uri: one.updates for uri, one in subscriptions.by_uri.items()}


def test_an_update_counts_for_its_resource_and_one_of_a_part_for_its_nearest_parent(subscriptions):
    for uri in ("a://x", "a://x/y/z", "a://x?q", "a://xy", "b://", 7, None):
        subscriptions.updated(uri)
    assert updates(subscriptions) == {"a://x": 2, "a://x/y": 1}


def test_after_a_gap_without_a_stream_each_resource_counts_as_updated(subscriptions):
    subscriptions.missed()
    assert updates(subscriptions) == {"a://x": 1, "a://x/y": 1}


def test_the_reason_for_a_refused_subscription_is_kept_until_it_is_accepted(subscriptions):
    subscriptions.settle("a://x", "no")
    subscriptions.settle("gone", "no")
    assert subscriptions.by_uri["a://x"] == ResourceSubscription(0, "no")
    subscriptions.settle("a://x", "")
    assert subscriptions.by_uri["a://x"] == ResourceSubscription()


def test_a_resource_whose_updates_arrive_counts_as_subscribed_even_if_refused(subscriptions):
    subscriptions.settle("a://x", "no")
    subscriptions.missed()
    assert subscriptions.by_uri["a://x"] == ResourceSubscription(1, "no")
    subscriptions.updated("a://x")
    assert subscriptions.by_uri["a://x"] == ResourceSubscription(2)


def test_only_real_changes_of_subscriptions_are_signalled(subscriptions):
    subscriptions.turned.clear()
    subscriptions.remove("unknown")
    subscriptions.updated("a://x")
    assert not subscriptions.turned.is_set()
    subscriptions.remove("a://x")
    assert subscriptions.turned.is_set()
    assert subscriptions.uris == ("a://x/y",)


def test_the_number_of_subscriptions_is_limited(subscriptions):
    for number in range(MOST):
        subscriptions.add(f"b://{number}")
    assert len(subscriptions.uris) == MOST
