"""Prompts bring what mcptui knows about a failure."""

import pytest

from tests.unit.addons.agent.agent_stage import agent, files, keep
from tui.addons.agent.answer import rendered
from tui.addons.agent.prompts import PROMPTS, prompt, prompts
from tui.core.errors import UsageError


async def test_a_failure_is_explained_within_the_question():
    script = files()
    script.error(script.out("tools/call", {"name": "read"}), -32603, "no such path")
    keep(script)
    async with agent() as ask:
        said = rendered(await prompt(ask.context, "why_did_this_fail", {}))
        assert said.startswith("Why did this fail?") and "no such path" in said
        assert "text 0" in rendered(await prompt(ask.context, "why_did_this_fail", {"entry": "7"}))


async def test_the_prompt_for_a_test_names_entry_and_recording():
    keep(files())
    async with agent() as ask:
        said = rendered(await prompt(ask.context, "write_a_test", {"entry": "6", "recording": "2026"}))
        assert "The call is entry 6 of the recording 20260101T000000Z-1." in said


async def test_an_entry_that_is_no_call_cannot_be_made_a_test():
    script = files()
    script.out("tools/call", {"name": "read"})
    keep(script)
    async with agent() as ask:
        for entry in ("3", str(len(script.entries))):  # a notification, and a call without an answer
            with pytest.raises(UsageError, match=f"entry {entry} is not a call that was answered"):
                await prompt(ask.context, "write_a_test", {"entry": entry})


@pytest.mark.parametrize(
    ("name", "given", "said"),
    [
        ("nope", {}, "Prompts: why_did_this_fail, write_a_test"),
        ("write_a_test", {}, "entry is required"),
        ("write_a_test", {"entry": "x"}, "entry is not a number"),
    ],
)
async def test_a_wrong_argument_is_an_error(name: str, given: dict[str, str], said: str):
    async with agent() as ask:
        with pytest.raises(UsageError, match=said):
            await prompt(ask.context, name, given)


def test_all_prompts_are_listed():
    assert [one["name"] for one in prompts()] == list(PROMPTS)
