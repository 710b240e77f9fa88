"""Switched models, summaries, and other runs leave a valid history: over HTTP, with a strict endpoint.

What such an endpoint refuses is in tests/strict.py. What happens within a turn is in test_walks.py.
"""

import asyncio
import json
import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.conftest import until
from tests.endpoint import Answer, calls, chunk, refuses, says
from tests.protocol.strict_stage import StrictStage, cancels, strict_stage
from tests.strict import FLAVOURS
from tui.core.conversation.conversation import AssistantMessage, Attachment, CallRequest, Intent, UserMessage
from tui.core.events import (
    EndReason,
    Event,
    StepStarted,
)
from tui.runtime.turn import PendingTurn

ECHO = ("srv__echo", {"text": "hi"})


@pytest.fixture
async def stage(tmp_path: Path) -> AsyncIterator[StrictStage]:
    async with strict_stage(tmp_path / "sessions") as one:
        yield one


LARGE = ("srv__large", {})


async def talk(stage: StrictStage, turns: int = 3) -> None:
    """Run a conversation with two calls in each turn and much text."""
    for number in range(turns):
        await stage.ask(f"question {number} " + "x " * 2000, calls(ECHO, ECHO), says("y " * 2000))


# ---- models ----------------------------------------------------------------------------------------------


async def test_a_model_switched_during_calls_is_used_from_the_next_question(
    stage: StrictStage,
) -> None:
    switching: list[asyncio.Task[None]] = []

    def switch(event: Event, turn: PendingTurn) -> None:
        if isinstance(event, StepStarted) and not switching:
            switching.append(asyncio.create_task(stage.conversations.switch("mistral")))

    ended = await stage.ask("go", calls(ECHO, ECHO), calls(ECHO), says("done"), watch=switch)
    await switching[0]
    assert ended.reason is EndReason.ANSWERED
    await stage.goes_on()
    assert stage.endpoint.requests[-1].json["model"] == FLAVOURS["mistral"]


async def test_switching_the_model_while_its_window_is_queried_keeps_a_valid_history(tmp_path: Path) -> None:
    slow = Answer(
        body={"data": [{"id": name, "max_model_len": 4096} for name in FLAVOURS.values()]}, wait=0.3
    )
    async with strict_stage(tmp_path / "sessions", pages={"/v1/models": slow}) as stage:
        await until(lambda: len(stage.endpoint.others) > 0)
        await stage.ask("go", calls(ECHO), says("done"))
        await stage.conversations.switch("gemini")
        await stage.ask("go", calls(ECHO), says("done"))
        await stage.conversations.switch("mistral")
        await until(lambda: stage.asked.context_meter.window == 4096)
        await stage.goes_on()


# ---- compaction ------------------------------------------------------------------------------------------


@pytest.fixture(params=["mistral", "template"])
async def full(stage: StrictStage, request: pytest.FixtureRequest) -> StrictStage:
    """A conversation that has become too long for its context window."""
    await talk(stage)
    await stage.conversations.switch(request.param)
    await stage.ask("hello")  # a model without function calling reports it now
    await stage.narrow(3000)
    return stage


async def test_a_conversation_is_valid_after_compacting_and_undoing_it(full: StrictStage) -> None:
    ended = await full.ask("go", says("They talked."), says("done"))
    assert ended.reason is EndReason.ANSWERED and full.conversations.compaction.upto
    await full.goes_on()
    full.conversations.uncompact()
    await full.goes_on()


async def test_a_conversation_is_valid_after_a_turn_cancelled_during_compaction(full: StrictStage) -> None:
    await full.ask("go", Answer(mute=True), watch=cancels(StepStarted))
    assert not full.conversations.compaction.upto
    await full.ask("go", Answer([chunk(content="They")], hang=True), watch=cancels(StepStarted))
    await full.goes_on()


async def test_a_conversation_is_valid_after_a_failed_or_empty_summary(full: StrictStage) -> None:
    await full.ask("go", refuses(400, "no"), says("done"))
    await full.ask("go", Answer([chunk("stop", content="")]), says("done"))
    await full.goes_on()


async def test_a_conversation_is_valid_after_a_refusal_as_too_long(stage: StrictStage) -> None:
    await talk(stage)
    words = "This model's maximum context length is 4096 tokens."
    ended = await stage.ask("go", refuses(400, words), says("They talked."), says("done"))
    assert ended.reason is EndReason.ANSWERED and stage.conversations.compaction.upto
    await stage.goes_on()


async def test_a_conversation_is_valid_after_a_refusal_as_too_long_during_calls(stage: StrictStage) -> None:
    await talk(stage, 1)
    words = refuses(400, "This model's maximum context length is 4096 tokens.")
    await stage.ask("go", calls(LARGE, ECHO), words, says("They talked."), calls(ECHO), says("done"))
    await stage.goes_on()


def file_of(size: int) -> Attachment:
    return Attachment("text", "text/plain", "rows.txt", size, "row\n" * (size // 4))


async def test_a_file_truncated_after_a_refusal_does_not_limit_later_turns(stage: StrictStage) -> None:
    too_long = refuses(400, "Your input exceeds the context window of this model.")
    ended = await stage.ask("read", too_long, says("done"), attachments=(file_of(349_000),))
    assert ended.reason is EndReason.ANSWERED
    refused, cut = (len(one.body) for one in stage.endpoint.requests)
    assert refused > 349_000 and 40_000 < cut < 200_000
    await stage.ask("this too", calls(LARGE), says("done"), attachments=(file_of(100_000),))
    sent = [str(message["content"]) for message in stage.endpoint.requests[-1].json["messages"]]
    assert [text.count("bytes omitted") for text in sent if "row" in text] == [1, 0]
    assert len(sent[-1]) > 30_000
    await stage.goes_on()


async def test_a_branch_before_or_after_a_summary_is_valid(full: StrictStage) -> None:
    await full.ask("go", says("They talked."), says("done"))
    asked = [at for at, one in enumerate(full.conversations.messages) if isinstance(one, UserMessage)]
    session, upto = full.conversations.info, full.conversations.compaction.upto
    assert session is not None and 0 < asked.index(upto)
    for at in (asked[1], upto, asked[-1]):
        await full.conversations.branch(at)
        await full.goes_on()
        branch = full.conversations.info
        await full.conversations.new()
        await full.conversations.resume(branch.id)
        await full.goes_on()
        await full.conversations.resume(session.id)


async def test_a_conversation_is_valid_after_a_turn_started_during_a_manual_summary(
    stage: StrictStage,
) -> None:
    await talk(stage)
    await stage.narrow(20_000)
    stage.strict.then(says("They talked.", wait=0.1))
    making = asyncio.create_task(stage.conversations.compact())
    await until(lambda: len(stage.endpoint.requests) == 7)
    await stage.ask("go", calls(ECHO), says("done"))
    await making
    await stage.goes_on()


# ---- other runs --------------------------------------------------------------------------------------------


async def killed(stage: StrictStage, *, sent: bool) -> str:
    """Return a session of a program killed during two calls."""
    journal = await stage.store.begin()
    made = tuple(CallRequest(f"chatcmpl-tool-{number:032}", "srv__echo", "{}") for number in range(2))
    journal.message(0, UserMessage("go"))
    journal.message(1, AssistantMessage("Let me.", calls=made, model=FLAVOURS["vllm"]))
    if sent:
        journal.intent(Intent(made[0].id, "srv", "echo", {}))
    journal.draft("as I was say", "")
    await journal.close()
    return journal.id


@pytest.mark.parametrize("sent", [True, False])
@pytest.mark.parametrize("model", ["gemini", "template"])
async def test_a_session_killed_during_its_calls_is_valid(stage: StrictStage, model: str, sent: bool) -> None:
    await stage.conversations.switch(model)
    await stage.conversations.resume(await killed(stage, sent=sent))
    await stage.goes_on()


DAMAGE = {
    "the first question is gone": "DELETE FROM messages WHERE place = 0",
    "all questions are gone": "DELETE FROM messages WHERE body LIKE '%\"user\"%'",
    "all answers are gone": "DELETE FROM messages WHERE body LIKE '%\"assistant\"%'",
    "results are gone": "DELETE FROM messages WHERE body LIKE '%\"tool\"%'",
    "only results are left": "DELETE FROM messages WHERE body NOT LIKE '%\"tool\"%'",
    "every other one is no JSON": "UPDATE messages SET body = 'x' WHERE place % 2",
    "every third one is something else": "UPDATE messages SET body = '{}' WHERE place % 3 = 1",
    "one of them is an empty answer": 'UPDATE messages SET body = \'{"role":"assistant"}\' WHERE place = 3',
}


async def test_a_damaged_session_is_valid_when_resumed(stage: StrictStage, tmp_path: Path) -> None:
    await talk(stage)
    await stage.narrow(3000)
    await stage.ask("go", says("They talked."), says("done"))
    session = stage.conversations.info
    assert session is not None and stage.conversations.compaction.upto
    await stage.conversations.new()
    (path,) = (tmp_path / "sessions").glob(f"{session.id}*")
    whole = path.read_bytes()
    for name, statement in DAMAGE.items():
        for model in ("mistral", "template"):
            path.write_bytes(whole)
            with closing(sqlite3.connect(path)) as connection, connection:
                connection.execute(statement)
            await stage.conversations.switch(model)
            await stage.conversations.resume(session.id)
            await stage.goes_on(name)
            await stage.conversations.new()


async def test_an_imported_export_edited_by_hand_is_valid(stage: StrictStage, tmp_path: Path) -> None:
    await stage.ask("go", calls(ECHO, ECHO), calls(ECHO), says("done"))
    await stage.conversations.stored().export(stage.conversations.info.id, "json", tmp_path / "talk.json")
    found = json.loads((tmp_path / "talk.json").read_text())
    for message in found["messages"]:
        for call in message.get("calls", ()):
            call |= {"id": "same", "name": "", "arguments": '{"a": NaN}'}
        message |= {"call_id": "same", "text": " "}
    found["messages"] = found["messages"][1:] * 2
    (tmp_path / "talk.json").write_text(json.dumps(found))
    info = (await stage.store.import_json(tmp_path / "talk.json")).info
    for name in FLAVOURS:
        await stage.conversations.switch(name)
        await stage.conversations.resume(info.id)
        await stage.goes_on()
        await stage.conversations.new()
