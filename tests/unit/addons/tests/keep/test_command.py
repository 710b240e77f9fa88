"""What `mcptui keep` prints about a call. Whole commands are in tests/protocol/test_tests_keep.py."""

import argparse
from pathlib import Path

import pytest

from tui.addons.tests.keep.command import keep
from tui.core.errors import StorageError, UsageError


def arguments(**given: str | None) -> argparse.Namespace:
    return argparse.Namespace(**({"recording": None, "output": None, "name": None, "yes": False} | given))


def test_an_unknown_recording_is_an_error():
    with pytest.raises(StorageError, match="recording not found"):
        keep(arguments(recording="nothing"))


def test_without_recordings_it_says_how_to_make_one():
    with pytest.raises(UsageError, match="no recorded call yet"):
        keep(arguments())


def test_a_configuration_that_records_nothing_is_named(separate_home: Path):
    file = separate_home / "config" / "mcptui" / "config.toml"
    file.parent.mkdir(parents=True)
    file.write_text("[traffic]\nrecord = false\n")
    with pytest.raises(UsageError, match=r"record = false is set under \[traffic\]"):
        keep(arguments())
