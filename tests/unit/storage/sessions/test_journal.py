"""Messages are stored soon, in batches, without blocking, and whatever write fails."""

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import until
from tests.unit.storage.faulty_disk import FaultyDisk
from tests.unit.storage.session_samples import ANSWER, ASKING, QUESTION, RESULT, say, store_in
from tui.core import background
from tui.core.conversation.conversation import Intent, ToolMessage, UserMessage
from tui.core.ports import Usage
from tui.storage.sessions import journal as session_journal
from tui.storage.sessions.file import open_for_reading
from tui.storage.sessions.store import SessionStore
from tui.storage.sessions.tables import SessionTables


def stored(journal, folder: Path) -> int:
    path = folder / "sessions" / f"{journal.id}.mcpsession"
    with closing(open_for_reading(path)) as connection:
        return connection.execute("SELECT count(*) FROM messages").fetchone()[0]


@pytest.fixture
def commits(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Collect the sizes of the batches that are stored."""
    found: list[int] = []
    real = session_journal.SessionWriter.store

    def store(self: session_journal.SessionWriter, ops: Any) -> bool:
        found.append(len(ops))
        return real(self, ops)

    monkeypatch.setattr(session_journal.SessionWriter, "store", store)
    return found


async def test_after_settled_everything_is_in_the_file(tmp_path: Path):
    journal = await store_in(tmp_path).begin()
    for number in range(20):
        journal.message(number, UserMessage(str(number)))
        await journal.settled()
        assert stored(journal, tmp_path) == number + 1
    await journal.close()


async def test_messages_sent_together_are_stored_in_few_transactions(tmp_path: Path, commits: list[int]):
    journal = await store_in(tmp_path).begin()
    for number in range(100):
        journal.message(number, UserMessage(str(number)))
    await journal.settled()
    await journal.close()
    assert sum(commits) == 100 and len([each for each in commits if each]) <= 3


async def test_several_tasks_may_wait_for_settled_and_one_may_be_cancelled(tmp_path: Path):
    journal = await store_in(tmp_path).begin()
    journal.message(0, QUESTION)
    gone = asyncio.ensure_future(journal.settled())
    await asyncio.sleep(0)
    gone.cancel()
    await asyncio.gather(journal.settled(), journal.settled())
    await journal.close()
    await journal.settled()
    journal.message(1, ANSWER)
    await journal.close()
    assert stored(journal, tmp_path) == 1


async def test_after_a_lock_pending_messages_are_stored(tmp_path: Path, monkeypatch):
    monkeypatch.setattr(session_journal, "RETRY_SECONDS", 0.01)
    monkeypatch.setattr("tui.storage.sessions.file.WRITER_BUSY_MS", 1)
    journal = await store_in(tmp_path).begin()
    await say(journal, QUESTION)
    with closing(sqlite3.connect(tmp_path / "sessions" / f"{journal.id}.mcpsession")) as other:
        other.execute("BEGIN IMMEDIATE")
        journal.message(1, ANSWER)
        await journal.settled()
        assert "locked" in journal.problem
        await journal.settled()
    await until(lambda: not journal.problem)
    await journal.close()
    assert stored(journal, tmp_path) == 2


async def test_memory_for_pending_writes_is_bounded(tmp_path: Path, monkeypatch):
    monkeypatch.setattr(session_journal, "RETRY_SECONDS", 0.01)
    monkeypatch.setattr(session_journal, "WAITING_BYTES", 10_000)
    (tmp_path / "sessions").write_text("in the way")
    journal = await store_in(tmp_path).begin()
    journal.message(0, UserMessage("x" * 20_000))
    await until(lambda: journal._ended)
    journal.message(1, ANSWER)
    assert journal.problem and not journal._ops
    await journal.close()


DAMAGE = UnicodeDecodeError("utf-8", b"\xff", 0, 1, "invalid start byte")


class Failing:
    """Lets commits of sessions fail, until `works`."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
        self.works = True
        self.failures = 0
        real = SessionTables.commit

        def commit(tables: SessionTables) -> None:
            if not self.works:
                self.failures += 1
                raise error
            real(tables)

        monkeypatch.setattr(SessionTables, "commit", commit)
        monkeypatch.setattr(session_journal, "RETRY_SECONDS", 0.01)
        monkeypatch.setattr(background, "PAUSE_SECONDS", 0.0)


def places(folder: Path, session: str) -> list[int]:
    with closing(open_for_reading(folder / "sessions" / f"{session}.mcpsession")) as connection:
        return [place for (place,) in connection.execute("SELECT place FROM messages ORDER BY place")]


@pytest.mark.parametrize("error", [DAMAGE, RuntimeError("a defect"), KeyError("one")])
async def test_nobody_waits_for_ever_and_everything_is_stored_afterwards(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
):
    commits = Failing(monkeypatch, error)
    journal = await store_in(tmp_path).begin()
    await say(journal, QUESTION)
    commits.works = False
    journal.message(1, ANSWER)
    await asyncio.wait_for(journal.settled(), 10)
    assert journal.problem
    commits.works = True
    journal.message(2, UserMessage("And tomorrow?"))
    await until(lambda: not journal.problem, what="stored again")
    await journal.close()
    assert places(tmp_path, journal.id) == [0, 1, 2]


async def test_a_journal_that_fails_again_and_again_ends_with_a_problem(
    tmp_path: Path, store: SessionStore, monkeypatch: pytest.MonkeyPatch
):
    commits = Failing(monkeypatch, RuntimeError("a defect"))
    journal = await store.begin()
    await say(journal, QUESTION)
    commits.works = False
    journal.message(1, ANSWER)
    await until(lambda: journal._ended, what="the journal ended")
    await asyncio.wait_for(journal.settled(), 10)
    assert "internal error (RuntimeError)" in journal.problem
    assert commits.failures == background.MAX_RESTARTS + 1
    commits.works = True
    await journal.close()
    assert places(tmp_path, journal.id) == [0]


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


async def test_a_message_that_cannot_be_stored_does_not_block_the_others(store: SessionStore):
    journal = await store.begin()
    journal.message(0, QUESTION)
    journal.message(2**70, ANSWER)  # too large for SQLite
    journal.message(1, UserMessage("And now?"))
    await journal.settled()
    assert "cannot store a part of the session (" in journal.problem
    await journal.close()
    assert (await store.read(journal.id)).conversation.messages == [QUESTION, UserMessage("And now?")]
