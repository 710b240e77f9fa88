"""The keys of attached commands."""

from tui.core.addons import every, load


def test_commands_are_refused_with_a_key_of_the_servers_pane():
    contexts, _keys, _label, _help, _footer, call = dict(every("action"))["up.refuse"]
    assert contexts == "SERVERS" and callable(load(call))
