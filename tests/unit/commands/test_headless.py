"""Commands without a screen: how a signal ends them, and what they say."""

import argparse
import asyncio
from pathlib import Path

import pytest

from tui.commands.headless import Interrupt, log_step, step_in_shell, write_problem
from tui.core.servers import ServerSpec, ServerState, ServerStatus, StopReason


def status(next_step: str, reason: StopReason | None = None) -> ServerStatus:
    return ServerStatus(
        "s", ServerSpec("s", "python"), ServerState.STOPPED, next_step=next_step, reason=reason
    )


async def test_the_first_signal_asks_for_an_end_and_the_second_cancels():
    interrupt, asked = Interrupt(), list[str]()
    interrupt.on_signal = lambda: asked.append("end")

    async def work() -> int:
        interrupt.signalled(2)
        await asyncio.sleep(0)
        interrupt.signalled(15)
        await asyncio.sleep(60)
        return 0

    assert await interrupt.during(work()) == 128 + 15
    assert asked == ["end"]


async def test_work_that_takes_no_notice_is_cancelled_by_the_first_signal():
    interrupt = Interrupt()

    async def work() -> int:
        interrupt.signalled(2)
        await asyncio.sleep(60)
        return 0

    assert await interrupt.during(work()) == 130


@pytest.mark.parametrize(
    ("next_step", "said"),
    [
        ("Press l for its log, r to retry.", "LOG"),
        ("Set A. Press r to retry.", "Set A."),
        ("Install it.", "Install it."),
    ],
)
def test_a_step_in_a_shell_has_no_keys_of_the_app(next_step: str, said: str):
    assert step_in_shell(status(next_step), "LOG") == said


def test_a_sign_in_is_a_command_in_a_shell():
    assert "mcptui login s" in step_in_shell(status("Press a.", StopReason.NEEDS_SIGN_IN), "")


def test_the_command_that_prints_a_log_has_the_configuration_of_this_one():
    args = argparse.Namespace(config="a b.toml", trust_config=True)
    assert log_step("s", args).endswith("mcptui list s --verbose --config 'a b.toml' --trust-config")


def test_a_file_cannot_be_written_in_place_of_a_folder_or_in_a_missing_one(tmp_path: Path):
    assert write_problem(tmp_path) == "Is a directory"
    assert write_problem(tmp_path / "no" / "file") == "No such file or directory"
    assert write_problem(tmp_path / "file") == ""
