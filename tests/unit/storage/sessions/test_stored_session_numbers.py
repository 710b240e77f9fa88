"""Sessions whose numbers are enormous, negative or none at all open, and their times can be shown."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.foreign import NUMBERS
from tests.unit.storage.session_samples import ANSWER, ASKING, QUESTION, RESULT, say, store_in
from tui.core.conversation.conversation import UserMessage
from tui.core.ports import Usage
from tui.storage.exports.document import day_and_time


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
async def test_any_number_of_the_summary_can_be_shown(tmp_path: Path, number: float):
    change = "UPDATE meta SET value = ? WHERE name IN ('created', 'changed', 'turns', 'tokens', 'cost')"
    session = await changed(tmp_path, (change, (json.dumps(number),)))
    (info,) = await store_in(tmp_path).list()
    assert all(isinstance(day_and_time(at), str) for at in (info.created, info.changed))
    assert 0 <= info.turns <= 2**53 and 0 <= info.tokens <= 2**53
    found, journal = await store_in(tmp_path).reopen(session)
    await say(journal, QUESTION)
    journal.usage("demo", Usage(100, 20), 0.25)
    await journal.close()
    assert found.conversation.messages[0].text == QUESTION.text


@pytest.mark.parametrize("number", NUMBERS)
async def test_any_count_of_messages_lets_a_session_be_continued(tmp_path: Path, number: float):
    change = "UPDATE meta SET value = ? WHERE name = 'messages'"
    session = await changed(tmp_path, (change, (json.dumps(number),)))
    found, journal = await store_in(tmp_path).reopen(session)
    await say(journal, QUESTION)
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
