"""Switches of screens that outlive a run."""

from pathlib import Path

from tui.settings.state.switches import keep_switch, switch


def test_a_switch_is_remembered_and_others_keep_their_default(separate_home: Path) -> None:
    assert switch("fold", True)
    keep_switch("fold", False)
    keep_switch("other", True)
    assert not switch("fold", True)
    assert switch("other", False) and switch("third", True)


def test_a_damaged_file_counts_as_never_used(separate_home: Path) -> None:
    keep_switch("fold", False)
    file = next((separate_home / "state").rglob("switches.json"))
    file.write_text('{"format": 1, "switches": {"fold": "no"}}', encoding="utf-8")
    assert switch("fold", True)
    file.write_text("{", encoding="utf-8")
    assert switch("fold", True)
