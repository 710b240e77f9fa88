"""Data of a conversation besides its messages is kept in branches and other runs."""

import time
from pathlib import Path

import pytest

from tests.scripted_model import says
from tests.unit.runtime.stage import Make
from tui.core.errors import ModelError

SECRET = "sk-secret"


async def test_estimated_tokens_are_marked_and_equal_in_another_run(stage: Make):
    one = stage(says("It is sunny."))
    await one.ask("How is it?")
    before = one.conversations.meters
    assert before.estimated and before.context
    now = await one.next_run(stage())
    meters = now.conversations.meters
    assert (meters.estimated, meters.tokens, meters.context) == (True, before.tokens, before.context)
    assert time.time() - now.conversations.messages[0].at < 60


async def test_the_error_of_a_turn_is_kept_without_secrets_in_a_branch_and_another_run(stage: Make):
    one = stage(says("fine"), [ModelError(f"{SECRET} is no key", where="model")])
    await one.ask("1")
    await one.ask("2")
    one.around.redactor.add({"KEY": SECRET})
    kinds = [("error", 3), ("end", 3)]
    other = await one.next_run(stage())
    for run in (one, other):
        await run.conversations.branch(3)
        assert [(remark.kind, remark.place) for remark in run.conversations.remarks] == kinds
    text = one.conversations.remarks[0].text
    assert SECRET not in text and "is no key" in text
    await one.conversations.branch(2)
    assert one.conversations.remarks == []


async def test_the_recordings_of_all_runs_of_a_conversation_are_known(stage: Make):
    one = stage(says("It is sunny."))
    one.around.traffic.path = Path("one.mcptrace")
    await one.ask("How is it?")
    other = await one.next_run(stage(says("Still.")))
    other.around.traffic.path = Path("two.mcptrace")
    assert other.conversations.now.recordings == ("one.mcptrace",)
    await other.ask("And now?")
    third = await other.next_run(stage())
    assert third.conversations.now.recordings == ("one.mcptrace", "two.mcptrace")


@pytest.mark.parametrize("upto", [0, 2])
async def test_the_recordings_of_a_branch_are_known_in_another_run(stage: Make, upto: int):
    one = stage(says("It is sunny."), says("It rains."), says("Still."))
    one.around.traffic.path = Path("one.mcptrace")
    await one.ask("How is it?")
    await one.ask("And there?")
    await one.conversations.branch(upto)
    await one.ask("And now?")
    other = await one.next_run(stage())
    assert other.conversations.now.recordings == ("one.mcptrace",)
