"""Data of a conversation besides its messages is kept in branches and other runs."""

import time
from pathlib import Path

from tests.scripted_model import says
from tests.unit.runtime.stage import Stage
from tui.core.errors import ModelError

SECRET = "sk-secret"


async def test_estimated_tokens_are_marked_and_equal_in_another_run(tmp_path: Path):
    one = Stage(tmp_path, says("It is sunny."))
    await one.ask("How is it?")
    before, session = one.conversations.meters, one.conversations.info.id
    assert before.estimated and before.context
    await one.conversations.close()
    other = Stage(tmp_path)
    await other.conversations.resume(session)
    now = other.conversations.meters
    assert (now.estimated, now.tokens, now.context) == (True, before.tokens, before.context)
    assert time.time() - other.conversations.messages[0].at < 60
    await other.conversations.close()


async def test_the_error_of_a_turn_is_kept_without_secrets_in_a_branch_and_another_run(tmp_path: Path):
    one = Stage(tmp_path, says("fine"), [ModelError(f"{SECRET} is no key", where="model")])
    await one.ask("1")
    await one.ask("2")
    one.around.redactor.add({"KEY": SECRET})
    session = one.conversations.info.id
    await one.conversations.branch(3)
    kinds = [(remark.kind, remark.place) for remark in one.conversations.remarks]
    assert kinds == [("error", 3), ("end", 3)]
    assert (
        SECRET not in one.conversations.remarks[0].text and "is no key" in one.conversations.remarks[0].text
    )
    await one.conversations.branch(2)
    assert one.conversations.remarks == []
    await one.conversations.close()
    other = Stage(tmp_path)
    await other.conversations.resume(session)
    assert [(remark.kind, remark.place) for remark in other.conversations.remarks] == kinds
    await other.conversations.close()


async def test_the_recordings_of_all_runs_of_a_conversation_are_known(tmp_path: Path):
    one = Stage(tmp_path, says("It is sunny."))
    one.around.recording_name = lambda: "one.mcptrace"
    await one.ask("How is it?")
    session = one.conversations.info.id
    await one.conversations.close()
    other = Stage(tmp_path, says("Still."))
    other.around.recording_name = lambda: "two.mcptrace"
    await other.conversations.resume(session)
    assert other.conversations.recordings == ("one.mcptrace",)
    await other.ask("And now?")
    await other.conversations.close()
    third = Stage(tmp_path)
    await third.conversations.resume(session)
    assert third.conversations.recordings == ("one.mcptrace", "two.mcptrace")
    await third.conversations.close()
