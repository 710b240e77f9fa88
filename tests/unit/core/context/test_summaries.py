"""Old turns that exceed the window are summarized in pieces, and there is always a summary."""

import asyncio
from collections.abc import AsyncGenerator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import until
from tests.scripted_model import ScriptedModel, Wait, says
from tests.unit.core.stand_ins import ended, of_type, played, run, turn_of
from tui.core.context.compaction import Compactor
from tui.core.context.context_meter import ContextMeter, estimate, estimate_request
from tui.core.context.summaries import Summarizer, pieces, suggest_title
from tui.core.conversation.conversation import (
    AssistantMessage,
    Attachment,
    CallRequest,
    Conversation,
    ToolMessage,
    UserMessage,
)
from tui.core.errors import ModelError
from tui.core.events import Notice
from tui.core.ports import ModelPart, ModelRequest, ReasoningPart, TextPart, Usage

messages = st.lists(
    st.one_of(
        st.text(max_size=400).map(UserMessage),
        st.text(max_size=400).map(AssistantMessage),
        st.text(max_size=400).map(lambda text: ToolMessage("c", "t", text)),
    ),
    max_size=40,
)


class Narrow(ScriptedModel):
    """Rejects requests longer than its window, with or without naming the window."""

    def __init__(self, window: int, *, tells: bool = True, answer: str = "noted") -> None:
        super().__init__([says(answer)] * 60)
        self.window = window
        self.tells = tells
        self.refused = 0

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelPart]:
        if estimate_request(request) > self.window:
            self.refused += 1
            raise ModelError("too long", overflow=True, window=self.window if self.tells else None)
        async for part in super().stream(request):
            yield part


def long_talk(turns: int = 8, size: int = 3000) -> Conversation:
    talk = Conversation()
    for number in range(turns):
        talk.say(f"question {number} " + "x" * size)
        talk.add(AssistantMessage(f"answer {number} " + "y" * size))
    return talk


@given(messages, st.integers(40, 2000), st.integers(2, 12))
def test_the_size_and_number_of_pieces_are_bounded(old, tokens, most):
    found = pieces(old, tokens, most)
    assert len(found) <= most
    assert all(estimate(piece) <= tokens + 2 * piece.count("\n") + 2 for piece in found)


@given(messages, st.integers(2000, 4000))
def test_a_transcript_that_fits_is_complete(old, tokens):
    if sum(estimate(one.text) + 20 for one in old) < tokens * 11:
        record = "".join(pieces(old, tokens)).replace("\n", "")
        assert all(one.text.replace("\n", "") in record for one in old)


def test_the_transcript_includes_calls_and_results():
    call = CallRequest("c", "notes__add", '{"text": "milk"}')
    old = [AssistantMessage("I add it.", calls=(call,)), ToolMessage("c", "notes__add", "added")]
    (piece,) = pieces(old, 1000)
    assert piece == 'YOU: I add it.\n[called notes__add {"text": "milk"}]\nRESULT of notes__add: added'


async def test_each_piece_is_summarized_together_with_the_previous_summary():
    model = Narrow(3000)
    summarizer = Summarizer(model, ContextMeter(window=3000), lambda usage: None)
    found = await summarizer.of(long_talk().messages, 3000)
    assert found == "noted" and model.refused == 0 and len(model.requests) > 3
    assert all("earlier part:\nnoted\n" in one.messages[0].text for one in model.requests[1:])


@pytest.mark.parametrize("tells", [True, False])
async def test_a_conversation_continues_on_a_model_with_a_smaller_window(tells):
    model, talk = Narrow(3000, tells=tells), long_talk()
    events, _ = await played(model, talk=talk)
    assert ended(events).text == "noted"
    assert talk.compaction.summary == "noted" and len(talk.messages) == 18


@pytest.mark.parametrize("tells", [True, False])
@pytest.mark.parametrize("known", [True, False])
async def test_a_file_larger_than_the_window_blocks_neither_its_turn_nor_the_next(tells, known):
    model, talk = Narrow(3000, tells=tells), long_talk(2, 500)
    context_meter = ContextMeter(window=3000 if known else None)
    file = Attachment("text", "text/plain", "big.txt", 260_000, "line of text\n" * 20_000)
    talk.say("what is in it?", (file,))
    for question in ("", "and now?"):
        if question:
            talk.say(question)
        turn, _ = turn_of(model, talk=talk, context_meter=context_meter)
        assert ended(await run(turn)).text == "noted"
    assert model.refused == 0 or not known
    assert any(one.attachments == (file,) for one in talk.messages if isinstance(one, UserMessage))


async def test_a_window_smaller_than_stated_is_found_by_trying_smaller_pieces():
    model = Narrow(1500, tells=False)
    summarizer = Summarizer(model, ContextMeter(window=6000), lambda usage: None)
    found = await summarizer.of(long_talk().messages, 6000)
    assert found == "noted" and model.refused > 0


@pytest.mark.parametrize(("window", "answer"), [(10, "never"), (4000, "")])
async def test_without_a_summary_the_truncated_transcript_is_used(window, answer):
    model, talk = Narrow(window, tells=False, answer=answer), long_talk()
    found = await Summarizer(model, ContextMeter(window=4000), lambda usage: None).of(talk.messages, 4000)
    assert found.startswith("(No summary could be written")
    assert "question 0" in found and len(found) < 4000


async def test_a_failing_model_is_reported_and_the_history_is_unchanged():
    model = ScriptedModel([[ModelError("busy")], says("done")])
    talk = long_talk()
    events, _ = await played(model, talk=talk, context_meter=ContextMeter(window=4000))
    assert "busy" in of_type(events, Notice)[0].message and talk.compaction.upto == 0


async def test_the_person_is_notified_if_there_is_no_summary():
    model, talk = Narrow(4000, answer=""), long_talk()
    notice = await Compactor(talk, model, ContextMeter(window=4000)).make_room(by_hand=True)
    assert "7 turns truncated for the model, because no summary could be written" in notice.message


async def test_an_answer_that_breaks_off_is_paid_for() -> None:
    paid: list[Usage] = []
    model = ScriptedModel([[TextPart("a title"), ModelError("connection lost")]])
    with pytest.raises(ModelError):
        await suggest_title(model, [UserMessage("hi")], paid.append)
    assert len(paid) == 1 and paid[0].prompt > 0 and paid[0].completion == estimate("a title")


async def test_an_answer_whose_task_is_cancelled_is_paid_for() -> None:
    paid: list[Usage] = []
    model = ScriptedModel([[ReasoningPart("what fits?"), Wait(None)]])
    task = asyncio.create_task(suggest_title(model, [UserMessage("hi")], paid.append))
    await until(lambda: model.requests)
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert len(paid) == 1 and paid[0].prompt > 0
