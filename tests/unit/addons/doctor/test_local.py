"""The steps of a local server before it starts."""

import asyncio
import sys
from pathlib import Path

import pytest

from tests.cases import each_case
from tui.addons.doctor.local import LocalSteps, version_of
from tui.addons.doctor.steps import State
from tui.core.servers import ServerSpec


def steps(command: str, *args: str, **more: object) -> LocalSteps:
    return LocalSteps(ServerSpec("s", command, args, **more))


async def test_an_interpreter_of_another_language_is_a_failure(tmp_path: Path):
    found = await steps(sys.executable, "server.js", cwd=str(tmp_path)).interpreter(may_run=False)
    assert found.state is State.FAILED and 'command = "node"' in found.fix


async def test_a_first_line_that_names_no_program_is_a_failure(tmp_path: Path):
    script = tmp_path / "run"
    await asyncio.to_thread(script.write_text, "#!/usr/bin/env no-such-program\n")
    await asyncio.to_thread(script.chmod, 0o755)
    found = await steps(str(script)).interpreter(may_run=False)
    assert found.state is State.FAILED and "no-such-program, which does not exist" in found.seen


async def test_a_launcher_that_is_a_script_may_have_arguments_of_another_language(tmp_path: Path):
    launcher = tmp_path / "run"
    await asyncio.to_thread(launcher.write_text, f"#!{sys.executable}\n")
    await asyncio.to_thread(launcher.chmod, 0o755)
    found = steps(str(launcher), "run", "server.js", cwd=str(tmp_path))
    assert (await found.interpreter(may_run=False)).state is State.OK
    assert found.folder().state is State.OK


@pytest.mark.parametrize("tap", [("mcptui", "tap"), (sys.executable, "-m", "tui", "tap", "--name", "x")])
async def test_behind_a_tap_the_command_that_it_starts_counts(tap: tuple[str, ...], tmp_path: Path):
    launcher = tmp_path / "mcptui"
    await asyncio.to_thread(launcher.write_text, f"#!{sys.executable}\n")
    await asyncio.to_thread(launcher.chmod, 0o755)
    command = str(launcher) if tap[0] == "mcptui" else tap[0]
    good = steps(command, *tap[1:], "--", "sh", "server.sh", cwd=str(tmp_path))
    bad = steps(command, *tap[1:], "--", sys.executable, "server.js", cwd=str(tmp_path))
    lost = steps(command, *tap[1:], "--", "no-such-program", cwd=str(tmp_path))
    assert (await good.interpreter(may_run=False)).state is State.OK
    assert "server.sh does not exist" in good.folder().seen
    assert "cannot run server.js" in (await bad.interpreter(may_run=False)).seen
    assert "no-such-program not found" in lost.command().seen


async def test_a_version_is_only_asked_for_with_consent():
    here = steps(sys.executable)
    without, found = await here.interpreter(may_run=False), await here.interpreter(may_run=True)
    assert "Python 3" in found.seen and "Python 3" not in without.seen


async def test_a_complaint_about_the_option_is_no_version(tmp_path: Path):
    program = tmp_path / "sh"
    await asyncio.to_thread(program.write_text, "#!/bin/sh\necho Illegal option >&2\nexit 2\n")
    await asyncio.to_thread(program.chmod, 0o755)
    assert await version_of(str(program), {}) == ""


@pytest.mark.parametrize(
    ("args", "said"),
    [(("-y", "pkg"), "pkg is not pinned"), (("pkg@1.2.3",), "npx can ask"), (("-y", "pkg@1.2.3"), "")],
)
def test_packages_are_pinned_and_npx_never_asks(args: tuple[str, ...], said: str):
    found = steps("npx", *args).version()
    assert (said in found.seen and found.state is State.WARNING) if said else found.state is State.OK


@each_case("value", ["", "<token>", "your-api-key", "xxxx", "..."])
def test_a_variable_without_a_value_is_named_and_no_value_is_shown(value: str):
    found = steps("x", env={"API_KEY": value, "OTHER": "canary"}).environment()
    assert found.state is State.WARNING and found.seen.startswith("API_KEY is ")
    assert "canary" not in steps("x", env={"OTHER": "canary"}).environment().seen


def test_a_missing_script_is_named_with_its_folder(tmp_path: Path):
    found = steps("python3", "src/server.py", cwd=str(tmp_path)).folder()
    assert found.state is State.FAILED and f"src/server.py does not exist in {tmp_path}" in found.seen
