"""Eras in a file: private, shared with other processes, and never a reason to fail."""

import json
import stat
import time

import pytest

from tests.foreign import IN_JSON
from tui.core.servers import Era
from tui.settings.state.stored_eras import MAX_ENTRIES, StoredEras

KEY, OTHER = "0" * 16, "f" * 16
OLD = Era(modern=False, version="1.0")


def keep(path, key, era):
    stored = StoredEras(path)
    stored.changed(key, era)
    stored.close()


def entry(key=KEY, **more):
    return {"key": key, "handshake": True, "version": "1.0", "at": int(time.time()), **more}


def write(path, *entries):
    path.write_text(json.dumps({"format": 1, "eras": entries}))


def test_eras_are_kept_in_a_private_file(tmp_path):
    path = tmp_path / "state" / "eras.json"
    keep(path, KEY, OLD)
    assert StoredEras(path).load() == {KEY: OLD}
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_save_keeps_the_entries_of_earlier_instances(tmp_path):
    path = tmp_path / "eras.json"
    keep(path, KEY, OLD)
    keep(path, OTHER, Era(modern=True))
    keep(path, KEY, None)
    assert StoredEras(path).load() == {OTHER: Era(modern=True)}


@pytest.mark.parametrize(
    "damage",
    [{"key": "../x"}, {"key": 7}, {"handshake": 1}, {"version": "9" * 81}, {"at": True}, {"at": 10**12}],
)
def test_an_invalid_entry_is_omitted(tmp_path, damage):
    path = tmp_path / "eras.json"
    write(path, entry() | damage, entry(OTHER), "x", None)
    assert list(StoredEras(path).load()) == [OTHER]


def test_an_era_expires_after_a_month(tmp_path):
    path = tmp_path / "eras.json"
    write(path, entry(at=int(time.time()) - 40 * 86_400), entry(OTHER))
    assert list(StoredEras(path).load()) == [OTHER]


def test_the_oldest_entries_are_dropped_for_new_ones(tmp_path):
    path = tmp_path / "eras.json"
    write(path, *(entry(f"{number:016x}") for number in range(MAX_ENTRIES)))
    keep(path, OTHER, OLD)
    assert len(StoredEras(path).load()) == MAX_ENTRIES
    assert OTHER in StoredEras(path).load() and KEY not in StoredEras(path).load()


@pytest.mark.parametrize("at", IN_JSON)
def test_any_time_in_the_file_can_be_compared(tmp_path, at):
    path = tmp_path / "eras.json"
    write(path, entry(at=at), entry(OTHER))
    assert OTHER in StoredEras(path).load()
