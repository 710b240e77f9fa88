"""The clipboard: which tool is used, and the note about it."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cases import each_case
from tui.ui.platform.clipboard import note, put, tools


def having(*names: str) -> Callable[[str], str | None]:
    return lambda name: f"/usr/bin/{name}" if name in names else None


ALL = having("pbcopy", "wl-copy", "xclip", "xsel", "tmux")
LOCAL = {"WAYLAND_DISPLAY": "wayland-0", "DISPLAY": ":0", "TMUX": "/tmp/tmux"}


@each_case(
    ("env", "which", "platform", "names"),
    [
        (LOCAL, ALL, "linux", ["wl-copy", "xclip", "xsel", "tmux"]),
        ({}, ALL, "darwin", ["pbcopy"]),
        (LOCAL, having("xsel"), "linux", ["xsel"]),
        ({}, ALL, "linux", []),
        ({**LOCAL, "SSH_CONNECTION": "10.0.0.1 22"}, ALL, "linux", ["xclip", "xsel", "tmux"]),
        ({"SSH_TTY": "/dev/pts/1"}, ALL, "darwin", []),
    ],
)
def test_only_installed_tools_that_reach_the_user_are_tried_those_of_the_system_first(
    env: dict[str, str], which: Callable[[str], str | None], platform: str, names: list[str]
):
    assert [name for name, *_ in tools(env, which, platform)] == names


def test_the_note_says_copied_only_if_a_tool_accepted_the_text():
    assert note("the reply", "xclip") == "Copied the reply to the clipboard (xclip)."
    assert note("entry 3", "tmux") == "Copied entry 3 to the tmux buffer."
    assert note("the reply", "") == (
        "Sent the reply to the terminal's clipboard (OSC 52). Some terminals ignore it."
    )


@pytest.fixture
def programs(tmp_path: Path) -> dict[str, str]:
    """An environment whose xclip fails and whose xsel writes what it gets, and its environment, to files."""
    for name, script in (
        ("xclip", "#!/bin/sh\nexit 1\n"),
        ("xsel", f"#!/bin/sh\n/bin/cat > {tmp_path}/text\n/usr/bin/env > {tmp_path}/env\n"),
    ):
        path = tmp_path / name
        path.write_text(script)
        path.chmod(0o755)
    return {"PATH": str(tmp_path), "DISPLAY": ":0", "OPENAI_API_KEY": "sk-secret"}


@pytest.mark.skipif(os.name == "nt", reason="shell scripts")
async def test_a_failed_tool_is_followed_by_the_next_and_none_gets_api_keys(
    programs: dict[str, str], tmp_path: Path
):
    assert await put("übung\n", programs) == "xsel"
    assert (tmp_path / "text").read_text() == "übung\n"
    assert "sk-secret" not in (tmp_path / "env").read_text()


async def test_without_a_tool_no_name_is_returned():
    assert await put("text", {"PATH": ""}) == ""
