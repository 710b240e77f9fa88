"""A server's spec and status."""

from dataclasses import replace

import pytest

from tui.core import servers
from tui.core.servers import ServerSpec, ServerState, ServerStatus, StopReason, Transport

SPEC = ServerSpec("a", "python", ("x.py",), {"K": "v"}, "/tmp", headers={"H": "v"})


@pytest.mark.parametrize(
    "change",
    [
        {"command": "python3"},
        {"args": ("y.py",)},
        {"env": {"K": "w"}},
        {"cwd": "/"},
        {"url": "http://x"},
        {"headers": {"H": "w"}},
        {"transport": Transport.HTTP},
    ],
)
def test_any_change_to_what_runs_changes_the_digest(change: dict):
    assert replace(SPEC, **change).digest() != SPEC.digest()


def test_the_order_of_variables_does_not_change_the_digest():
    one, two = {"A": "1", "B": "2"}, {"B": "2", "A": "1"}
    assert replace(SPEC, env=one).digest() == replace(SPEC, env=two).digest()


@pytest.mark.parametrize("reason", list(StopReason))
def test_a_server_that_stopped_unasked_has_failed(reason: StopReason):
    status = ServerStatus("a", SPEC, ServerState.STOPPED, reason)
    asked = (
        StopReason.NOT_STARTED,
        StopReason.REQUESTED,
        StopReason.DISABLED,
        StopReason.NEEDS_CONSENT,
        StopReason.NEEDS_SIGN_IN,
    )
    assert status.failed == (reason not in asked)


def test_the_command_and_the_url_are_shown_without_secrets():
    spec = ServerSpec("s", "uvx", ("server", "--token", "hunter2"), url="https://ada:hunter2@h/mcp")
    assert spec.shown_command == ("uvx", "server", "--token", "[redacted:token]")
    assert spec.shown_url == "https://ada:[redacted:password]@h/mcp"


def test_the_mask_of_a_command_line_and_an_address_is_computed_once(monkeypatch):
    computed: list[object] = []
    monkeypatch.setattr(servers, "masked_arguments", lambda words: computed.append(words) or list(words))
    monkeypatch.setattr(servers, "masked", lambda url: computed.append(url) or url)
    for _ in range(3):
        spec = ServerSpec(
            "x", "program-that-is-painted", args=("a=" * 20_000,), url="https://painted.example"
        )
        assert spec.shown_command and spec.shown_url
    assert len(computed) == 2
