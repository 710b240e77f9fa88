"""Whichever SQLite write fails, the failure is reported and no stored data is lost."""

import sqlite3
from pathlib import Path

import pytest

from tests.conftest import until
from tests.unit.storage.faulty_disk import FaultyDisk
from tests.unit.storage.session_samples import ANSWER, ASKING, QUESTION, RESULT, store_in
from tui.core.conversation.conversation import Intent, ToolMessage, UserMessage
from tui.core.ports import Usage
from tui.storage.sessions import journal as session_journal

TALK = [QUESTION, ASKING, RESULT, ToolMessage("c2", "weather__get", "rain", kept="r1"), ANSWER]


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> FaultyDisk:
    monkeypatch.setattr(session_journal, "RETRY_SECONDS", 0.005)
    monkeypatch.setattr(session_journal, "WINDOW", 0.0)
    return FaultyDisk(monkeypatch)


async def talk(folder: Path) -> tuple[str, list[int]]:
    """Save a conversation, whatever fails; return the session and the acknowledged messages."""
    store = store_in(folder)
    journal = await store.begin()
    acknowledged: list[int] = []
    for place, message in enumerate(TALK):
        journal.message(place, message)
        if place == 1:
            journal.intent(Intent("c1", "weather", "get", {}))
        journal.result("r1", "rain")
        journal.usage("demo", Usage(1, 1), None)
        await journal.settled()
        if not journal.problem:
            acknowledged.append(place)
    await journal.close()
    return journal.id, acknowledged


async def test_if_any_single_write_fails_everything_is_still_stored_in_the_end(
    tmp_path: Path, disk: FaultyDisk
):
    for number in range(1, 1000):
        folder = tmp_path / str(number)
        disk.fail(number)
        session, _ = await talk(folder)
        reached = disk.reached
        disk.heal()
        found = await store_in(folder).read(session)
        assert found.conversation.messages == TALK, number
        assert found.info.tokens == 2 * len(TALK), number
        assert found.info.messages == len(TALK), number
        if not reached:
            assert number > 40
            return


async def test_if_all_writes_fail_from_some_point_acknowledged_messages_are_stored(
    tmp_path: Path, disk: FaultyDisk
):
    for number in range(1, 1000):
        folder = tmp_path / str(number)
        disk.fail(number, heals=False)
        session, acknowledged = await talk(folder)
        reached = disk.reached
        disk.heal()
        infos = await store_in(folder).list()
        if infos:
            found = await store_in(folder).read(session)
            # If a message is on disk, all messages before it are on disk too.
            assert found.conversation.messages[: len(acknowledged)] == TALK[: len(acknowledged)], number
            assert infos[0].problem == ""
        else:
            assert acknowledged == [], number
        if not reached:
            return


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (sqlite3.OperationalError("database or disk is full"), "is full. Free some space"),
        (OSError(28, "No space left on device"), "is full. Free some space"),
        (OSError(122, "Disk quota exceeded"), "Disk quota exceeded"),
        (NotADirectoryError(20, "Not a directory"), "sessions: Not a directory"),
        (FileExistsError(17, "File exists"), "sessions: File exists"),
        (OSError(30, "Read-only file system"), "sessions: Read-only file system"),
        (sqlite3.OperationalError("attempt to write a readonly database"), "Change its permissions"),
        (sqlite3.OperationalError("database is locked"), "{file} is locked by another program"),
        (sqlite3.DatabaseError("database disk image is malformed"), "damaged"),
        (sqlite3.OperationalError("disk I/O error"), "cannot use {file}: reading or writing the file failed"),
    ],
)
async def test_a_write_failure_is_reported_with_the_reason(
    tmp_path: Path, disk: FaultyDisk, error: Exception, words: str
):
    disk.fail(1, error, heals=False)
    journal = await store_in(tmp_path).begin()
    journal.message(0, QUESTION)
    await journal.settled()
    assert words.format(file=f"{journal.id}.mcpsession") in journal.problem
    disk.heal()
    await until(lambda: not journal.problem)
    await journal.close()


async def test_a_message_that_cannot_be_stored_does_not_block_the_others(tmp_path: Path):
    store = store_in(tmp_path)
    journal = await store.begin()
    journal.message(0, QUESTION)
    journal.message(2**70, ANSWER)  # too large for SQLite
    journal.message(1, UserMessage("And now?"))
    await journal.settled()
    assert "cannot store a part of the session (" in journal.problem
    await journal.close()
    assert (await store.read(journal.id)).conversation.messages == [QUESTION, UserMessage("And now?")]
