"""Which era of the protocol is tried first, and what is remembered of a server."""

from dataclasses import replace

import pytest

from tests.cases import each_case
from tui.core.eras import Era, KnownEras, era_key, opening_modes
from tui.core.jsonrpc.client_profile import ClientProfile
from tui.core.servers import (
    EraChoice,
    ServerSpec,
    Transport,
)

SPEC = ServerSpec("a", "python", ("x.py",), {"K": "v"}, "/tmp", headers={"H": "v"})


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


@each_case(
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
