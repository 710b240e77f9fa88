"""Consents in a file: private, shared with other processes, and harmless to lose."""

import json
import stat
from pathlib import Path

import pytest

from tests.foreign import IN_JSON
from tui.core.permission.launch import Launch
from tui.core.servers import ServerSpec
from tui.settings.state.permission.stored_consents import MAX_ENTRIES, StoredConsents, Subject


def subject(*args: str, source: str = "x", name: str = "s", env: dict[str, str] | None = None) -> Subject:
    launch = Launch.of(ServerSpec("s", "uvx", args, env or {}), lambda spec: "/bin/uvx")
    return Subject(name, source, launch)


def test_consent_is_kept_in_a_private_file(tmp_path: Path):
    path = tmp_path / "state" / "consents.json"
    StoredConsents(path).add(subject("a"))
    assert StoredConsents(path).has(subject("a").digest)
    assert not StoredConsents(path).has(subject("b").digest)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_refusal_is_kept_until_consent_is_given(tmp_path: Path):
    path, one = tmp_path / "consents.json", subject("a")
    assert StoredConsents(path).refused_at(one) == 0
    StoredConsents(path).refuse(one)
    assert StoredConsents(path).refused_at(one) > 0 and not StoredConsents(path).has(one.digest)
    StoredConsents(path).add(subject("b"))
    assert StoredConsents(path).refused_at(one) > 0
    StoredConsents(path).add(subject("a"))
    assert StoredConsents(path).refused_at(one) == 0 and StoredConsents(path).has(one.digest)


def test_the_file_contains_no_secrets_or_variable_values(tmp_path: Path):
    path = tmp_path / "consents.json"
    StoredConsents(path).add(subject("--token", "tk-71hQz9aa", env={"A": "canary-value"}))
    assert "tk-71hQz9aa" not in path.read_text() and "canary-value" not in path.read_text()


def test_changes_are_relative_to_the_last_consent_for_that_server_and_source(tmp_path: Path):
    stored = StoredConsents(tmp_path / "consents.json")
    assert stored.changes(subject("a")) == []
    stored.add(subject("a"))
    stored.add(subject("c", source="y"))
    assert stored.changes(subject("b")) == ["argument 1: was a, is now b"]
    assert stored.changes(subject("b", name="other")) == []


@pytest.mark.parametrize("is_yes", [True, False])
def test_a_truncated_file_is_reported_and_copied_before_it_is_replaced(tmp_path: Path, is_yes: bool):
    path = tmp_path / "consents.json"
    StoredConsents(path).add(subject("a"))
    assert StoredConsents(path).damage() == ""
    cut = path.read_text()[:-20]
    path.write_text(cut)
    stored = StoredConsents(path)
    assert str(path) in stored.damage() and "is not JSON" in stored.damage()
    assert "copied to consents.damaged" in stored.damage()
    assert not stored.has(subject("a").digest)
    if is_yes:
        stored.add(subject("b"))
    else:
        stored.refuse(subject("b"))
    assert stored.damage() == ""
    assert (tmp_path / "consents.damaged").read_text() == cut


def test_an_invalid_entry_costs_only_itself_and_is_counted_and_copied(tmp_path: Path):
    path = tmp_path / "consents.json"
    for word in ("a", "b"):
        StoredConsents(path).add(subject(word))
    found = json.loads(path.read_text())
    del found["consents"][0]["salt"]
    found["refused"] = [{"digest": "short", "at": 1}]
    path.write_text(damaged := json.dumps(found))
    stored = StoredConsents(path)
    assert stored.has(subject("b").digest) and not stored.has(subject("a").digest)
    assert stored.damage() == (
        f"2 earlier answers are invalid and left out: {path}. "
        "Before it is replaced, it is copied to consents.damaged."
    )
    stored.refuse(subject("c"))
    assert (tmp_path / "consents.damaged").read_text() == damaged
    assert stored.has(subject("b").digest) and stored.damage() == ""


def test_only_the_newest_consents_are_kept(tmp_path: Path):
    path = tmp_path / "consents.json"
    stored = StoredConsents(path)
    stored.add(subject("first"))
    found = json.loads(path.read_text())
    found["consents"] += [
        {**found["consents"][0], "digest": f"{number:064x}"} for number in range(MAX_ENTRIES)
    ]
    path.write_text(json.dumps(found))
    stored.add(subject("last"))
    assert stored.has(subject("last").digest) and not stored.has(subject("first").digest)
    assert len(json.loads(path.read_text())["consents"]) == MAX_ENTRIES


@pytest.mark.parametrize("at", IN_JSON)
def test_any_time_of_a_refusal_can_be_shown(tmp_path: Path, at: float):
    path, one = tmp_path / "consents.json", subject("a")
    StoredConsents(path).refuse(one)
    found = json.loads(path.read_text())
    found["refused"][0]["at"] = at
    path.write_text(json.dumps(found))
    assert 0 <= StoredConsents(path).refused_at(one) <= 2**53
