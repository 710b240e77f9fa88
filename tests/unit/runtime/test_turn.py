"""A turn for screens and commands: no secret in its events, whatever their source."""

from pathlib import Path

from tests.scripted_model import says
from tests.unit.core.stand_ins import ScriptedApprover
from tests.unit.runtime.stage import Stage
from tui.core.events import TurnEnded
from tui.core.ports import ReplyPart, TextPart

SECRET = "configured-value"


async def test_a_secret_written_in_pieces_by_the_model_is_in_no_event_or_message(tmp_path: Path):
    reply = [TextPart("It is confi"), TextPart("gured-val"), TextPart("ue."), ReplyPart()]
    one = Stage(tmp_path, reply, says("fine"))
    one.around.redactor.add({"K": SECRET})
    asked = one.conversations.ask(f"use {SECRET}", ScriptedApprover())
    events = [event async for event in asked.events()]
    said = "".join(event.text for event in events if isinstance(event, TextPart))
    ended = events[-1]
    assert said == "It is [redacted:K]."
    assert isinstance(ended, TurnEnded) and ended.text == "It is [redacted:K]."
    assert SECRET not in repr(list(one.conversations.messages))
    assert one.conversations.info.title == "use [redacted:K]"
    await one.conversations.rename(one.conversations.info.id, f"about {SECRET}")
    assert one.conversations.info.title == "about [redacted:K]"
    await one.ask("again")
    assert SECRET in repr(one.model.requests[-1])
    await one.conversations.close()


async def test_a_title_from_the_model_contains_no_secret_or_part_of_one(tmp_path: Path):
    one = Stage(tmp_path, says("fine"), says(f"On {SECRET}"))
    one.around.redactor.add({"K": SECRET})
    await one.ask("hello")
    assert await one.conversations.title_from_model() == "On [redacted:K]"
    for cut in range(4, len(SECRET)):
        title = await one.conversations.rename(one.conversations.info.id, f"About {SECRET[:cut]}…")
        assert title == "About …" == one.conversations.info.title
    await one.conversations.close()
