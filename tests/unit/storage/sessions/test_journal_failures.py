"""An unexpected error in the thread of a journal: it is started again, and nobody waits for ever."""

import asyncio
from contextlib import closing
from pathlib import Path

import pytest

from tests.conftest import until
from tests.unit.storage.session_samples import ANSWER, QUESTION, say, store_in
from tui.core import daemon_thread
from tui.core.conversation.conversation import UserMessage
from tui.storage.sessions import journal as session_journal
from tui.storage.sessions.file import open_for_reading
from tui.storage.sessions.tables import SessionTables

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
        monkeypatch.setattr(daemon_thread, "PAUSE_SECONDS", 0.0)


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
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    commits = Failing(monkeypatch, RuntimeError("a defect"))
    monkeypatch.setattr(session_journal, "MOST_RETRY_SECONDS", 0.01)
    store = store_in(tmp_path)
    journal = await store.begin()
    await say(journal, QUESTION)
    commits.works = False
    journal.message(1, ANSWER)
    await until(lambda: journal._ended, what="the journal ended")
    await asyncio.wait_for(journal.settled(), 10)
    assert "internal error (RuntimeError)" in journal.problem
    assert commits.failures == daemon_thread.MAX_RESTARTS + 1
    commits.works = True
    await journal.close()
    assert places(tmp_path, journal.id) == [0]


async def test_a_part_that_cannot_be_stored_does_not_block_the_data_after_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    def decision(*given: object) -> None:
        raise LookupError("a defect")

    monkeypatch.setattr(SessionTables, "decision", decision)
    journal = await store_in(tmp_path).begin()
    journal.message(0, QUESTION)
    journal.decision("c1", "allowed", "")
    journal.message(1, ANSWER)
    await asyncio.wait_for(journal.settled(), 10)
    assert "cannot store a part of the session" in journal.problem
    await journal.close()
    assert places(tmp_path, journal.id) == [0, 1]
