"""What a conversation shows besides its messages goes with it: into a branch, and into another run."""

import time
from pathlib import Path

from tests.unit.runtime.test_conversations import Stage
from tui.core.errors import ModelError
from tui.core.secrets.redact import Redactor
from tui.model.scripted import says
from tui.runtime.turn import discreet

SECRET = "sk-secret"


async def test_what_is_an_estimate_is_one_in_another_run_too_and_the_window_is_as_full(tmp_path: Path):
    one = Stage(tmp_path, says("It is sunny."))
    await one.ask("How is it?")
    before, session = one.chats.meters, one.chats.info.id
    assert before.estimated and before.context
    await one.chats.close()
    other = Stage(tmp_path)
    await other.chats.resume(session)
    now = other.chats.meters
    assert (now.estimated, now.tokens, now.context) == (True, before.tokens, before.context)
    assert time.time() - other.chats.messages[0].at < 60
    await other.chats.close()


async def test_how_a_turn_failed_is_known_in_a_branch_and_in_another_run_without_secrets(tmp_path: Path):
    one = Stage(tmp_path, says("fine"), [ModelError(f"{SECRET} is no key", where="model")])
    await one.ask("1")
    await one.ask("2")
    one.around.discreet = lambda event: discreet(event, Redactor({"KEY": SECRET}))
    session = one.chats.info.id
    await one.chats.branch(3)
    kinds = [(remark.kind, remark.place) for remark in one.chats.remarks]
    assert kinds == [("error", 3), ("end", 3)]
    assert SECRET not in one.chats.remarks[0].text and "is no key" in one.chats.remarks[0].text
    await one.chats.branch(2)
    assert one.chats.remarks == []
    await one.chats.close()
    other = Stage(tmp_path)
    await other.chats.resume(session)
    assert [(remark.kind, remark.place) for remark in other.chats.remarks] == kinds
    await other.chats.close()
