"""The table of methods matches the SDK where the SDK has one."""

from mcp_types import methods as sdk
from mcp_types.version import KNOWN_PROTOCOL_VERSIONS

from tui.core.jsonrpc.protocol import REVISIONS
from tui.core.traffic import Direction
from tui.traffic.methods import METHODS


def ours(direction: Direction, notification: bool) -> set[tuple[str, str]]:
    return {
        (method.name, revision)
        for method in METHODS.values()
        if method.notification is notification and "tasks/" not in method.name
        for revision in (method.out if direction is Direction.OUT else method.back)
    }


def test_the_revisions_are_those_of_the_sdk():
    assert REVISIONS == KNOWN_PROTOCOL_VERSIONS


def test_the_client_methods_are_those_of_the_sdk():
    assert ours(Direction.OUT, False) == set(sdk.CLIENT_REQUESTS)
    assert ours(Direction.OUT, True) == set(sdk.CLIENT_NOTIFICATIONS)


def test_the_server_methods_are_those_of_the_sdk():
    assert ours(Direction.IN, False) == set(sdk.SERVER_REQUESTS)
    assert ours(Direction.IN, True) == set(sdk.SERVER_NOTIFICATIONS)


def test_every_method_has_a_page_in_each_revision_that_has_it():
    missing = [
        (method.name, revision)
        for method in METHODS.values()
        for revision in method.out | method.back
        if not method.section(revision)
    ]
    assert missing == []
