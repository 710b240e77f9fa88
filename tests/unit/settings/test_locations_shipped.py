"""The shipped files are found and correct."""

import os
import re
import sys
from pathlib import Path

import pytest

from tui.settings.load import load, load_text
from tui.settings.locations import default_servers, shipped_dir
from tui.settings.schema import LimitSettings
from tui.settings.specs import server_specs


def starter() -> str:
    return (shipped_dir("sample_config") / "config.toml").read_text(encoding="utf-8")


def uncommented(text: str) -> str:
    """Return the starter with every example uncommented: the lines with a table or a key."""
    return re.sub(r"(?m)^# (?=\[[\w.]+\]$|[a-z_.]+ = )", "", text)


def test_the_default_servers_are_the_samples_run_with_the_python_of_mcptui():
    specs = default_servers()
    assert [(spec.name, spec.autostart) for spec in specs] == [
        ("weather", True),
        ("notes", True),
        ("slow", False),
    ]
    assert {spec.command for spec in specs} == {sys.executable}
    assert all(Path(spec.args[0]).is_file() for spec in specs)


def test_the_sample_notes_are_kept_in_the_data_directory_of_the_user(separate_home: Path):
    assert separate_home in Path(default_servers()[1].env["MCPTUI_NOTES_FILE"]).parents


def test_a_missing_shipped_directory_is_an_error():
    with pytest.raises(FileNotFoundError, match=r"not found next to .*\. Reinstall mcptui"):
        shipped_dir("nothing")


def test_the_unedited_starter_file_changes_nothing():
    loaded = load_text(starter(), Path("c.toml"), {})
    assert loaded.problems == ()
    assert loaded.raw == {}


def test_every_example_in_the_starter_file_is_valid():
    env = {"HOME": "/home/ada"} | dict.fromkeys(("OPENAI_API_KEY", "DEEPSEEK_API_KEY"), "x")
    loaded = load_text(uncommented(starter()), Path("c.toml"), env)
    assert [str(problem) for problem in loaded.problems] == []
    assert set(loaded.settings.models) == {"gpt", "deepseek", "router", "local"}
    assert set(loaded.settings.servers) == {"time", "files", "github", "maths"}


def test_the_starter_file_shows_every_limit_with_its_default():
    loaded = load_text(uncommented(starter()), Path("c.toml"), {"HOME": "/"})
    assert loaded.settings.limits == LimitSettings()
    fields = LimitSettings.model_fields
    assert loaded.raw["limits"].keys() == {name for name in fields if fields[name].default is not None}


def test_the_sample_mcp_json_starts_the_sample_servers_from_anywhere():
    path = shipped_dir("sample_config") / "mcp.json"
    loaded = load(path, dict(os.environ))
    assert loaded.problems == ()
    specs = server_specs(loaded)
    assert [spec.name for spec in specs] == ["weather", "notes"]
    assert all(spec.command == sys.executable and Path(spec.args[0]).is_absolute() for spec in specs)
