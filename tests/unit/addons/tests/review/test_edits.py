from dataclasses import replace
from pathlib import Path

import pytest

from tests.unit.addons.tests.review.stage import TEXT, failures
from tui.addons.tests.review.compared import Part
from tui.addons.tests.review.edits import FileEdits
from tui.core.errors import ConfigError, UsageError


def test_a_failure_without_a_response_is_a_sentence(tmp_path: Path):
    failure = replace(failures(tmp_path / "a.mcp.toml")[1], response=None)
    for edit in (
        lambda: FileEdits().accepted(TEXT, failure),
        lambda: FileEdits().varied(TEXT, failure, Part(("text",))),
    ):
        with pytest.raises(UsageError, match="no response"):
            edit()


def test_a_file_that_is_not_valid_any_more_is_a_sentence(tmp_path: Path):
    failure = failures(tmp_path / "a.mcp.toml")[1]
    with pytest.raises(UsageError, match=r"a\.mcp\.toml cannot be changed"):
        FileEdits().accepted(TEXT.replace("[server]", "[server"), failure)
    with pytest.raises(ConfigError):
        FileEdits().read_again("[server", failure)
