"""Named filters are saved."""

import pytest

from tui.core.errors import ConfigError
from tui.runtime.recording import change_filter, load_filters


def test_saved_filters_are_loaded(tmp_path):
    path = tmp_path / "data" / "filters.toml"
    change_filter(path, "slow calls", 'latency:>1s "x"')
    change_filter(path, "北京", "tool:get_*")
    assert load_filters(path) == {"slow calls": 'latency:>1s "x"', "北京": "tool:get_*"}
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_missing_or_damaged_file_has_no_filters(tmp_path):
    path = tmp_path / "filters.toml"
    assert load_filters(path) == {}
    path.write_bytes(b"\xff[[[")
    assert load_filters(path) == {}
    path.write_text('good = "a"\nbad = 5\n')
    assert load_filters(path) == {"good": "a"}


def test_a_change_keeps_the_changes_of_another_program(tmp_path):
    path = tmp_path / "filters.toml"
    change_filter(path, "mine", "a")
    path.write_text('theirs = "b"\nodd = 5\n')
    assert change_filter(path, "new", "c") == {"theirs": "b", "new": "c"}
    assert change_filter(path, "theirs", "") == {"new": "c"}
    assert path.read_text() == 'odd = 5\nnew = "c"\n'


def test_a_damaged_file_is_not_overwritten(tmp_path):
    path = tmp_path / "filters.toml"
    path.write_text("[[[")
    with pytest.raises(ConfigError, match="It was not changed"):
        change_filter(path, "new", "c")
    assert path.read_text() == "[[["
