"""Tools and prompts by name."""

from types import SimpleNamespace
from typing import Any

import pytest

from tui.commands.call.items import prompt_of, tool_of
from tui.core.errors import UsageError
from tui.core.tools import Tool

SHOW = Tool("s", "show", "", {})


def runtime(*tools: Tool, left_out: tuple[tuple[str, str], ...] = (), problem: str = "") -> Any:
    status = SimpleNamespace(quarantined=left_out, listing_problem=problem)

    async def prompts(server: str) -> tuple[list[Any], str]:
        return [], problem

    workbench = SimpleNamespace(tools=lambda server: tools, prompts=prompts)
    return SimpleNamespace(workbench=workbench, host=SimpleNamespace(status=lambda server: status))


def test_a_tool_is_found_by_its_name():
    assert tool_of(runtime(SHOW), "s", "show") is SHOW


@pytest.mark.parametrize(
    ("server", "said"),
    [
        (runtime(SHOW), "s has no tool “sow”, did you mean “show”? Its tools: show"),
        (runtime(), "s has no tool “sow”. It has no tools."),
        (runtime(problem="timeout"), "Some tools could not be listed: timeout"),
        (runtime(left_out=(("sow", "no schema"),)), "sow cannot be called: no schema"),
    ],
)
def test_another_name_is_refused_with_those_that_there_are(server: Any, said: str):
    with pytest.raises(UsageError) as raised:
        tool_of(server, "s", "sow")
    assert said in str(raised.value)


async def test_a_prompt_that_there_is_not_is_refused_with_the_reason():
    with pytest.raises(UsageError, match="s has no prompt “x”"):
        await prompt_of(runtime(problem="timeout"), "s", "x")
