"""The loop and the journal: nothing is acknowledged, and no call is sent, before it is on disk."""

from tests.scripted_model import ScriptedModel, calls, says
from tests.unit.core.stand_ins import (
    HandClock,
    NotedJournal,
    call,
    turn_of,
)
from tui.core.conversation.conversation import Conversation, ToolMessage
from tui.core.events import StepEnded, ToolCallEnded, TurnEnded
from tui.core.ports import ReplyPart, TextPart


async def test_an_event_is_emitted_only_after_its_messages_are_on_disk():
    journal = NotedJournal()
    model = ScriptedModel([calls(call(1)), says("done")])
    turn, talk = turn_of(model, talk=Conversation(journal=journal))
    async for event in turn.events():
        written = [entry[2] for entry in journal.on_disk if entry[0] == "message"]
        match event:
            case StepEnded(step=2) | TurnEnded():
                assert written == talk.messages
            case ToolCallEnded():
                assert ToolMessage("c1", "srv__echo", "echo hi") in written
            case _:
                pass


async def test_a_draft_of_a_slow_reply_is_saved_about_every_second():
    journal, clock = NotedJournal(), HandClock()

    class Slow(ScriptedModel):
        async def stream(self, request):
            for piece in "abcdef":
                clock.ns += 400_000_000
                yield TextPart(piece)
            yield ReplyPart()

    turn, _ = turn_of(Slow([]), clock=clock, talk=Conversation(journal=journal))
    [event async for event in turn.events()]
    assert [entry[1] for entry in journal.told if entry[0] == "draft"] == ["abc", "abcdef"]
