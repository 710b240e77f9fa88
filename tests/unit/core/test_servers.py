"""A server's spec and status."""

from dataclasses import replace

import pytest

from tui.core.eras import Era, KnownEras, era_key, opening_modes
from tui.core.jsonrpc.client_profile import ClientProfile
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


OLD, NEW = Era(modern=False, version="1.0"), Era(modern=True, version="1.0")


class Kept:
    def __init__(self, **eras):
        self.eras, self.loads = eras, 0

    def read(self):
        self.loads += 1
        return dict(self.eras)

    def change_later(self, put, dropped=()):
        self.eras = {key: era for key, era in self.eras.items() if key not in dropped} | put


def test_an_era_is_remembered_and_stored_until_another_replaces_it_or_it_is_forgotten():
    kept = Kept()
    KnownEras(kept).connected("a", OLD)
    assert KnownEras(kept).find("a") == OLD
    KnownEras(kept).connected("a", NEW)
    assert kept.eras == {"a": NEW}
    KnownEras(kept).forget("a")
    assert kept.eras == {}


def test_the_era_of_an_upgraded_handshake_server_is_forgotten():
    kept = Kept(a=OLD)
    book = KnownEras(kept)
    book.connected("a", Era(modern=False, version="2.0"))
    assert book.find("a") is None and kept.eras == {}
    book.connected("a", Era(modern=False, version="2.0"))
    assert book.find("a") == Era(modern=False, version="2.0")
    book.connected("b", Era(modern=False, version="9" * 1_000))
    assert len(book.find("b").version) == 80


@pytest.mark.parametrize("change", [{"era": EraChoice.LEGACY}, {"transport": Transport.LINES}])
def test_nothing_is_remembered_of_a_server_whose_era_is_configured_or_that_has_none(change):
    kept = Kept()
    book, key = KnownEras(kept), era_key(replace(ServerSpec("a", "x"), **change))
    book.connected(key, OLD)
    book.forget(key)
    assert (book.find(key), kept.eras) == (None, {})


@pytest.mark.parametrize(
    ("change", "known", "modes"),
    [
        ({}, None, ("auto", "legacy")),
        ({}, OLD, ("legacy", "auto")),
        ({}, NEW, ("auto", "legacy")),
        ({"era": EraChoice.LEGACY}, NEW, ("legacy",)),
        ({"era": EraChoice.MODERN}, OLD, ("modern",)),
        ({"era": EraChoice.MODERN, "transport": Transport.LINES}, None, ("legacy",)),
    ],
)
def test_a_configured_era_is_the_only_one_that_is_tried(change, known, modes):
    assert opening_modes(replace(ServerSpec("a", "x"), **change), known) == modes


def test_a_host_of_the_older_era_as_which_mcptui_acts_does_not_probe():
    older = ClientProfile({}, {}, ("2025-11-25",))
    both = ClientProfile({}, {}, ("2026-07-28", "2025-11-25"))
    assert opening_modes(ServerSpec("a", "x"), NEW, older) == ("legacy",)
    assert opening_modes(ServerSpec("a", "x"), None, both) == ("auto", "legacy")


def test_the_era_that_another_host_negotiated_is_not_remembered():
    assert era_key(ServerSpec("a", "x", act_as="codex")) == ""


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
