"""The keys of attached commands."""

from tui.core.addons import every, load


def test_commands_are_refused_with_a_key_of_the_servers_pane():
    action = dict(every("action"))["up.refuse"]
    assert action["contexts"] == ("SERVERS",) and callable(load(action["call"]))
