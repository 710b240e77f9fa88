"""Named filters outlive the program."""

from tui.settings.filters import load_filters, save_filters


def test_what_was_saved_is_loaded(tmp_path):
    path = tmp_path / "data" / "filters.toml"
    save_filters(path, {"slow calls": 'latency:>1s "x"', "北京": "tool:get_*"})
    assert load_filters(path) == {"slow calls": 'latency:>1s "x"', "北京": "tool:get_*"}
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_file_that_is_missing_or_damaged_holds_none(tmp_path):
    path = tmp_path / "filters.toml"
    assert load_filters(path) == {}
    path.write_bytes(b"\xff[[[")
    assert load_filters(path) == {}
    path.write_text('good = "a"\nbad = 5\n')
    assert load_filters(path) == {"good": "a"}
