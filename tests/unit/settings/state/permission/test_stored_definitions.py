"""Accepted definitions in files: private, shared with other processes, and ignored when damaged."""

import errno
import json
import os
import stat

import pytest

from tui.core.permission.definitions import Accepted, DefinitionRecord
from tui.core.permission.differences import digest_of
from tui.settings.state.permission import stored_definitions
from tui.settings.state.permission.stored_definitions import StoredDefinitions

KEY, OTHER = "0" * 32, "f" * 32
ADD = {"name": "add", "description": "Adds."}


def accepted(definition):
    return Accepted(digest_of(definition), definition)


def keep(folder, kept, key=KEY):
    stored = StoredDefinitions(folder)
    stored.save(key, "srv", kept)
    stored.close()


def test_accepted_definitions_are_kept_in_a_private_file(tmp_path):
    folder = tmp_path / "state" / "definitions"
    kept = DefinitionRecord({"add": accepted(ADD)}, {"sub": "x"})
    keep(folder, kept)
    assert StoredDefinitions(folder).load(KEY) == kept
    assert StoredDefinitions(folder).load(OTHER) is None
    assert stat.S_IMODE((folder / f"{KEY}.json").stat().st_mode) == 0o600
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_a_save_keeps_the_entries_of_an_earlier_instance(tmp_path):
    keep(tmp_path, DefinitionRecord({"add": accepted(ADD)}))
    keep(tmp_path, DefinitionRecord({"sub": accepted({"name": "sub"})}))
    found = StoredDefinitions(tmp_path).load(KEY)
    assert found.accepted.keys() == {"add", "sub"}


def test_once_a_session_without_a_probe_was_stored_that_is_not_forgotten(tmp_path):
    for probed, kept in ((True, True), (True, True), (False, False), (True, False)):
        keep(tmp_path, DefinitionRecord({"add": accepted(ADD)}, probed=probed))
        found = StoredDefinitions(tmp_path).load(KEY)
        assert found.probed is kept


BAD_ENTRY = '{"format": 1, "accepted": [{"name": "add", "digest": "x"}, {"name": 1}], "refused": {}}'


@pytest.mark.parametrize(
    "text", ["", "[]", "{", '{"format": 2}', "[" * 100_000, "\0", '{"format": 1}', BAD_ENTRY]
)
def test_a_damaged_file_accepts_nothing_and_is_rewritten(tmp_path, text):
    path = tmp_path / f"{KEY}.json"
    path.write_text(text)
    found = StoredDefinitions(tmp_path).load(KEY)
    assert found == DefinitionRecord(damage=found.damage)
    assert found.damage.startswith(f"What you accepted before cannot be read: {path} ")
    assert f"it is copied to {KEY}.damaged. Everything counts as changed" in found.damage
    assert path.read_text() == text, "until it is replaced, it stays damaged: its server was seen before"
    keep(tmp_path, DefinitionRecord({"add": accepted(ADD)}))
    assert StoredDefinitions(tmp_path).load(KEY) == DefinitionRecord({"add": accepted(ADD)})
    assert (tmp_path / f"{KEY}.damaged").read_text() == text


def test_a_symlink_in_place_of_the_folder_is_reported(tmp_path):
    (tmp_path / "other").mkdir()
    folder = tmp_path / "mcptui" / "definitions"
    folder.parent.mkdir()
    folder.symlink_to(tmp_path / "other")
    (tmp_path / "other" / f"{KEY}.json").write_text("{}")
    found = StoredDefinitions(folder).load(KEY)
    assert f"{KEY}.json is in {folder}, a symbolic link, which mcptui does not follow here." in found.damage


def test_a_definition_that_does_not_match_its_digest_is_dropped(tmp_path):
    keep(tmp_path, DefinitionRecord({"add": accepted(ADD)}))
    path = tmp_path / f"{KEY}.json"
    path.write_text(path.read_text().replace("Adds.", "Adds!"))
    found = StoredDefinitions(tmp_path).load(KEY)
    assert found.accepted == {"add": Accepted(digest_of(ADD))}


def test_only_digests_are_kept_of_too_many_definitions(tmp_path, monkeypatch):
    monkeypatch.setattr(stored_definitions, "MAX_DEFINITIONS", 100)
    large = {"name": "large", "description": "x" * 200}
    keep(tmp_path, DefinitionRecord({"large": accepted(large), "add": accepted(ADD)}))
    found = StoredDefinitions(tmp_path).load(KEY)
    assert found.accepted == {"large": Accepted(digest_of(large)), "add": accepted(ADD)}


def test_the_least_recently_used_servers_are_dropped(tmp_path, monkeypatch):
    monkeypatch.setattr(stored_definitions, "MAX_FILES", 2)
    for number in range(4):
        keep(tmp_path, DefinitionRecord(), str(number) * 32)
    assert len(list(tmp_path.glob("*.json"))) == 2


def test_accepted_definitions_are_read_from_a_read_only_file_system(tmp_path, monkeypatch):
    kept = DefinitionRecord({"add": accepted(ADD)})
    keep(tmp_path, kept)

    def refuse(path):
        raise OSError(errno.EROFS, "Read-only file system")

    monkeypatch.setattr(os, "utime", refuse)
    assert StoredDefinitions(tmp_path).load(KEY) == kept


def redact(value):
    return json.loads(json.dumps(value).replace("s3cr3t", "[redacted]"))


def test_a_definition_is_kept_without_its_secret_and_recognized_by_its_digest(tmp_path):
    secret = accepted({"name": "add", "description": "Adds with s3cr3t."})
    stored = StoredDefinitions(tmp_path, redact)
    stored.save(KEY, "srv", DefinitionRecord({"add": secret}))
    stored.save(KEY, "srv", DefinitionRecord({"sub": accepted({"name": "sub"})}))
    stored.close()
    assert "s3cr3t" not in (tmp_path / f"{KEY}.json").read_text()
    found = StoredDefinitions(tmp_path).load(KEY)
    assert found.accepted["add"] == Accepted(
        secret.digest, {"name": "add", "description": "Adds with [redacted]."}
    )


def test_a_deeply_nested_definition_is_stored_without_indentation(tmp_path):
    deep = {"name": "deep", "inputSchema": [1] * 10_000}
    for _ in range(150):
        deep["inputSchema"] = [deep["inputSchema"]]
    keep(tmp_path, DefinitionRecord({"deep": accepted(deep)}))
    assert (tmp_path / f"{KEY}.json").stat().st_size < 50_000


def test_a_tool_with_a_secret_in_its_name_is_not_kept(tmp_path):
    stored = StoredDefinitions(tmp_path, redact)
    named = accepted({"name": "s3cr3t"})
    stored.save(
        KEY, "srv", DefinitionRecord({"s3cr3t": named, "add": accepted(ADD)}, {"sub-s3cr3t": "x", "sub": "y"})
    )
    stored.close()
    assert "s3cr3t" not in (tmp_path / f"{KEY}.json").read_text()
    assert StoredDefinitions(tmp_path).load(KEY) == DefinitionRecord({"add": accepted(ADD)}, {"sub": "y"})
