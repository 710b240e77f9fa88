"""The file of learned limitations of endpoints."""

import json
import stat
import time
from pathlib import Path

import pytest

from tui.core.errors import ConfigError
from tui.settings.learned_file import MAX_AGE_SECONDS, LearnedFile

HERE, MODEL = "http://127.0.0.1:11434/v1", "qwen3:8b"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "new" / "learned.json"


def test_learned_limitations_are_loaded_in_the_next_run(path):
    LearnedFile(path).save(HERE, MODEL, {"dropped": ["stop"]})
    assert LearnedFile(path).load(HERE, MODEL) == {"dropped": ["stop"]}
    assert LearnedFile(path).load(HERE, "other") == LearnedFile(path).load("http://elsewhere/v1", MODEL) == {}
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_the_newest_entry_is_listed_first_and_replaces_the_previous_one(path):
    file = LearnedFile(path)
    file.save(HERE, "a", {"no_tools": True})
    file.save(HERE, "b", {"no_tools": True})
    file.save(HERE, "a", {"no_images": True})
    assert [(entry.model, entry.learned) for entry in file.entries()] == [
        ("a", {"no_images": True}),
        ("b", {"no_tools": True}),
    ]
    file.save(HERE, "a", {})  # nothing learned any more
    assert [entry.model for entry in file.entries()] == ["b"]


def test_invalid_entries_affect_only_themselves(path):
    path.parent.mkdir()
    good = {"endpoint": HERE, "model": MODEL, "at": time.time(), "learned": {"no_tools": True}}
    odd = [3, {}, good | {"at": True}, good | {"learned": []}, good | {"model": "x" * 999}]
    path.write_text(json.dumps({"format": 1, "learned": [*odd, good]}))
    assert [entry.model for entry in LearnedFile(path).entries()] == [MODEL]


def test_entries_expire_after_some_months(path):
    path.parent.mkdir()
    old = {"endpoint": HERE, "model": MODEL, "at": time.time() - MAX_AGE_SECONDS - 1, "learned": {"x": 1}}
    path.write_text(json.dumps({"format": 1, "learned": [old]}))
    assert LearnedFile(path).load(HERE, MODEL) == {}


def test_all_entries_can_be_deleted(path):
    file = LearnedFile(path)
    file.save(HERE, MODEL, {"no_tools": True})
    assert file.forget() == 1 and file.entries() == [] and file.forget() == 0


def test_a_failed_deletion_is_reported(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match="cannot be removed"):
        LearnedFile(tmp_path / "file" / "learned.json").forget()
