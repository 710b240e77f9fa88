"""A server's spec and status."""

from dataclasses import replace

from tests.cases import each_case
from tui.core.servers import (
    EraChoice,
    ServerSpec,
    ServerState,
    ServerStatus,
    StopReason,
    Transport,
    fault_words,
)

SPEC = ServerSpec("a", "python", ("x.py",), {"K": "v"}, "/tmp", headers={"H": "v"})


@each_case(
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


@each_case("reason", list(StopReason))
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


def test_a_server_with_another_configured_era_is_restarted_but_keeps_its_approvals():
    spec = ServerSpec("a", "x")
    changed = replace(spec, era=EraChoice.LEGACY)
    assert not spec.runs_like(changed)
    assert spec.digest() == changed.digest()


def test_injected_faults_of_running_servers_are_counted_together():
    rules = ("lose=answer", "repeat")
    running = ServerStatus("a", SPEC, state=ServerState.RUNNING, fault_rules=rules, injected=5)
    stopped = ServerStatus("b", SPEC, fault_rules=("garbage",))
    assert fault_words([running, running, stopped]) == "faults: 2 rules, 10 injected"
    assert (fault_words([stopped]), fault_words([])) == ("", "")
    failed = replace(stopped, reason=StopReason.FAILED_TO_START, injected=1)
    assert fault_words([failed]) == "faults: 1 rule, 1 injected"
