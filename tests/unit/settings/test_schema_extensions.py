"""The settings about extensions, and about the host that mcptui acts as."""

from pathlib import Path

import pytest

from tui.settings.load import Loaded, load
from tui.settings.specs import server_specs

SKILLS = "io.modelcontextprotocol/skills"


def loaded(folder: Path, setting: str) -> Loaded:
    file = folder / "c.toml"
    file.write_text(f'[servers.s]\ncommand = "x"\n{setting}\n')
    file.chmod(0o600)
    return load(file, {})


def test_switches_and_the_host_to_act_as_reach_the_server(tmp_path: Path):
    found = loaded(tmp_path, f'extensions = {{ "{SKILLS}" = false }}\nact_as = "vscode"')
    (spec,) = server_specs(found)
    assert spec.extensions == {SKILLS: False} and spec.act_as == "vscode"


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ("extensions = { skills = false }", "must be an id like"),
        (f'extensions = {{ "{SKILLS}" = "no" }}', "must be"),
        ('act_as = "nobody"', "Known hosts: claude-code, claude-desktop"),
    ],
)
def test_a_wrong_setting_is_an_error_that_says_what_is_right(setting: str, words: str, tmp_path: Path):
    assert any(words in str(one) for one in loaded(tmp_path, setting).errors)


def test_a_server_that_acts_as_another_host_is_started_anew_and_one_with_a_switch_is_not(tmp_path: Path):
    plain, acting, switched = (
        server_specs(loaded(tmp_path, setting))[0]
        for setting in ("", 'act_as = "codex"', f'extensions = {{ "{SKILLS}" = false }}')
    )
    assert plain.runs_like(switched) and not plain.runs_like(acting)
