"""The commands of plain mode."""

import re

import pytest

from tests.unit.addons.plain.plain_stage import Stage
from tui.addons.plain.calls import PlainCalls
from tui.addons.plain.commands import COMMANDS, PlainCommands, told
from tui.core.servers import ServerSpec, ServerState, ServerStatus, StopReason
from tui.ui.keys.slash_commands import OWN


def test_each_command_has_a_method_and_those_of_the_app_the_same_arguments():
    assert all(spec.name in ("cancel", "quit") or spec.method in _METHODS for spec in COMMANDS)
    usages = {spec.name: spec.usage for spec in OWN}
    assert {spec.name: spec.usage for spec in COMMANDS if spec.name in ("tools", "model")} == {
        name: usages[name] for name in ("tools", "model")
    }


_METHODS = {*dir(PlainCommands), *dir(PlainCalls), "traffic", "entry", "resend", "keep"}


@pytest.mark.parametrize("detail", ["exited with code 3 after 0.3 s"])
def test_a_failed_server_says_why_and_what_to_do(detail: str):
    failed = StopReason.FAILED_TO_START
    status = ServerStatus("weather", ServerSpec("weather"), ServerState.STOPPED, failed, detail=detail)
    stage = Stage()
    for line in told(status):
        stage.transcript.say("server", line)
    assert stage.lines[0] == "server: weather, STOPPED, failed to start"
    assert re.search(rf"weather: {detail}", stage.lines[1])
    assert stage.lines[-1].endswith("/log weather shows its log, /restart weather starts it again.")
