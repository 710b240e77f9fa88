"""What is beside the messages is saved too, and any numbers and messages can be opened."""

import json
import sqlite3
import time
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.foreign import NUMBERS
from tests.unit.storage.session_samples import (
    ANSWER,
    ASKING,
    CALL,
    FEW_IDS,
    QUESTION,
    RESULT,
    histories,
    saved,
    say,
    store_in,
)
from tui.core.conversation.conversation import (
    AssistantMessage,
    Remark,
    ToolMessage,
    Usage,
    UserMessage,
    sanitised,
)
from tui.core.conversation.sessions import NEVER_SENT, UNKNOWN_OUTCOME
from tui.core.units import day_and_time
from tui.storage.sessions.store import SessionStore
from tui.storage.sessions.stored_session import repaired, unknown_outcomes

ASKED = UserMessage("Will it rain?", at=1_790_000_000.5)
CALLING = AssistantMessage("", "hm", (CALL,), "demo", seconds=2.5, thought=1.5, usage=Usage(90, 10, True))
GAVE = ToolMessage("c1", "weather__get", "sunny", seconds=0.25, why="timeout")
STOPPED = Remark(3, "end", "cancelled", at=1_790_000_010.0)
FAILED = Remark(4, "error", "HTTP 500", "model", "Retry.")


async def talked(store: SessionStore) -> str:
    journal = await store.begin()
    await say(journal, ASKED, CALLING, GAVE)
    journal.usage("demo", Usage(90, 10, estimated=True), None)
    journal.remark(STOPPED)
    journal.message(3, QUESTION)
    journal.remark(FAILED)
    await journal.settled()
    await journal.close()
    return journal.id


def file_of(store: SessionStore, session: str) -> sqlite3.Connection:
    return sqlite3.connect(store.files.existing(session), isolation_level=None)


async def check(store: SessionStore, session: str, *, imported: bool = False) -> None:
    found = await store.read(session)
    asked, calling, gave, again = found.conversation.messages
    assert asked.at == ASKED.at and time.time() - again.at < 60
    assert (calling.seconds, calling.thought, calling.usage) == (2.5, 1.5, Usage(90, 10, True))
    assert (gave.seconds, gave.why) == (0.25, "timeout")
    assert found.conversation.remarks == [replace(one, imported=imported) for one in (STOPPED, FAILED)]
    assert found.conversation.remarks[0].at == STOPPED.at


async def test_times_endings_and_estimates_are_restored(store: SessionStore):
    session = await talked(store)
    await check(store, session)
    (info,) = await store.list()
    assert info.tokens == 100 and info.estimated


async def test_times_endings_and_estimates_survive_export_and_import(tmp_path: Path, store: SessionStore):
    session = await talked(store)
    await store.export(session, "json", tmp_path / "talk.json")
    taken = (await store.import_json(tmp_path / "talk.json")).info
    assert taken.estimated
    await check(store, taken.id, imported=True)


async def test_exports_for_people_show_how_turns_ended_and_how_long_they_took(store: SessionStore):
    session = await talked(store)
    for kind in ("markdown", "html"):
        page = await store.exported(session, kind)
        parts = ("2.5 s", "Thinking, 1.5 s", "Stopped.", "HTTP 500. Retry.")
        places = [page.index(part) for part in parts]
        assert places == sorted(places) and page.index("sunny") < page.index("Stopped.")
        assert "~100 tokens" in page


async def test_a_file_without_times_endings_and_estimates_opens_and_continues(store: SessionStore):
    session = await talked(store)
    with closing(file_of(store, session)) as file:
        file.execute("DROP TABLE remarks")
        file.execute("DELETE FROM meta WHERE name = 'estimated'")
        for place, body in file.execute("SELECT place, body FROM messages").fetchall():
            old = {
                name: value
                for name, value in json.loads(body).items()
                if name not in ("seconds", "thought", "usage", "why")
            }
            file.execute("UPDATE messages SET body = ? WHERE place = ?", (json.dumps(old), place))
    found, journal = await store.reopen(session)
    assert [message.text for message in found.conversation.messages] == [
        ASKED.text, "", "sunny", QUESTION.text
    ]  # fmt: skip
    assert found.conversation.messages[0].at == ASKED.at  # times were always stored
    assert found.conversation.remarks == [] and found.info.estimated
    journal.remark(FAILED)
    await journal.settled()
    assert journal.problem == ""
    await journal.close()
    assert (await store.read(session)).conversation.remarks == [FAILED]


async def test_if_messages_are_lost_remarks_still_follow_the_same_messages(store: SessionStore):
    session = await saved(store, QUESTION, ANSWER, QUESTION, ANSWER)
    with closing(file_of(store, session)) as file:
        file.execute("UPDATE messages SET body = 'torn' WHERE place = 3")
        file.execute(
            "INSERT INTO remarks (at, body) VALUES (1.0, ?)",
            (json.dumps({"place": 4, "kind": "end", "text": "cut"}),),
        )
        file.execute("INSERT INTO remarks (at, body) VALUES (1.0, '[]'), (1.0, '{}'), (1.0, 'torn')")
    _, journal = await store.reopen(session)  # writes the file again
    await journal.close()
    found = await store.read(session)
    assert len(found.conversation.messages) == 3
    assert found.conversation.remarks == [Remark(3, "end", "cut")]


def test_a_sent_call_has_an_unknown_outcome_and_an_unsent_one_did_not_run():
    found = repaired([QUESTION, ASKING], sent={"c1"})
    assert found[2:] == [
        ToolMessage("c1", "weather__get", UNKNOWN_OUTCOME, is_error=True),
        ToolMessage("c2", "weather__get", NEVER_SENT, is_error=True),
    ]
    assert unknown_outcomes(found) == {"c1"}


SECOND = ToolMessage("c2", "weather__get", "rain")
DRAFT = AssistantMessage("It is su", partial=True)


@pytest.mark.parametrize(
    ("messages", "draft", "found"),
    [
        ([QUESTION, ASKING, RESULT, SECOND], DRAFT, [QUESTION, ASKING, RESULT, SECOND, DRAFT]),
        ([QUESTION], AssistantMessage("", "thinking", partial=True), [QUESTION]),
        ([QUESTION, ASKING, RESULT, SECOND, ANSWER], None, [QUESTION, ASKING, RESULT, SECOND, ANSWER]),
    ],
    ids=["a draft becomes a partial reply", "a draft without text is dropped", "complete"],
)
def test_recorded_results_are_kept_and_a_draft_comes_last(messages, draft, found):
    assert repaired(messages, {"c1", "c2"}, draft) == found


@given(histories(), st.sets(FEW_IDS), st.none() | st.builds(AssistantMessage, st.text()))
def test_a_repaired_conversation_is_valid_and_repairing_it_again_changes_nothing(messages, sent, draft):
    found = repaired(messages, sent, draft)
    assert sanitised(found) == found
    assert repaired(found, sent) == found


async def changed(folder: Path, *statements: tuple[str, tuple[object, ...]]) -> str:
    """Save a session, and change its file with `statements`; return its name."""
    journal = await store_in(folder).begin()
    await say(journal, QUESTION, ASKING, RESULT, ANSWER)
    journal.usage("demo", Usage(100, 20), 0.25)
    await journal.close()
    with closing(sqlite3.connect(folder / "sessions" / f"{journal.id}.mcpsession")) as connection:
        for statement in statements:
            connection.execute(*statement)
        connection.commit()
    return journal.id


@pytest.mark.parametrize("number", NUMBERS)
async def test_any_number_of_the_summary_can_be_shown_and_the_session_continued(
    tmp_path: Path, number: float
):
    names = "'created', 'changed', 'messages', 'turns', 'tokens', 'cost'"
    change = f"UPDATE meta SET value = ? WHERE name IN ({names})"
    session = await changed(tmp_path, (change, (json.dumps(number),)))
    for info in await store_in(tmp_path).list():
        assert all(isinstance(day_and_time(at), str) for at in (info.created, info.changed))
        assert 0 <= info.turns <= 2**53 and 0 <= info.tokens <= 2**53
    found, journal = await store_in(tmp_path).reopen(session)
    await say(journal, QUESTION)
    journal.usage("demo", Usage(100, 20), 0.25)
    await journal.close()
    assert found.conversation.messages[0].text == QUESTION.text


@pytest.mark.parametrize("at", [2.0**63, 1e308, -1e308, float("inf"), 2**62])
async def test_any_time_of_a_message_can_be_shown(tmp_path: Path, at: float):
    tables = ("messages", "usage")
    session = await changed(tmp_path, *((f"UPDATE {table} SET at = ?", (at,)) for table in tables))
    found, journal = await store_in(tmp_path).reopen(session)
    await journal.close()
    times = [one.at for one in found.conversation.messages if isinstance(one, UserMessage)]
    assert times and all(0 <= one <= 2**53 for one in times)


@pytest.mark.parametrize("place", [2**62, 2**63 - 1])
async def test_a_message_after_the_last_possible_place_is_damage(tmp_path: Path, place: int):
    session = await changed(tmp_path, ("UPDATE messages SET place = ? WHERE place = 3", (place,)))
    found, journal = await store_in(tmp_path).reopen(session)
    await say(journal, QUESTION)
    await journal.close()
    assert found.conversation.messages[0].text == QUESTION.text
