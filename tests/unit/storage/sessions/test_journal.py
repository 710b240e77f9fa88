"""Messages are stored soon and in batches, without blocking."""

import asyncio
import sqlite3
import threading
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import until
from tests.unit.storage.session_samples import ANSWER, QUESTION, say, store_in
from tui.core.conversation.conversation import AssistantMessage, CallRequest, Intent, UserMessage
from tui.storage.sessions import journal as session_journal
from tui.storage.sessions.file import open_for_reading


def stored(journal, folder: Path) -> int:
    path = folder / "sessions" / f"{journal.id}.mcpsession"
    with closing(open_for_reading(path)) as connection:
        return connection.execute("SELECT count(*) FROM messages").fetchone()[0]


def threads() -> list[str]:
    return [thread.name for thread in threading.enumerate() if thread.name.startswith("session ")]


async def test_after_settled_everything_is_in_the_file(tmp_path: Path):
    journal = await store_in(tmp_path).begin()
    for number in range(20):
        journal.message(number, UserMessage(str(number)))
        await journal.settled()
        assert stored(journal, tmp_path) == number + 1
    await journal.close()


async def test_data_that_nobody_awaits_is_stored_too(tmp_path: Path):
    journal = await store_in(tmp_path).begin()
    await say(journal, QUESTION)
    journal.message(1, ANSWER)
    await until(lambda: stored(journal, tmp_path) == 2)
    await journal.close()


async def test_messages_sent_together_are_stored_in_few_transactions(tmp_path: Path, monkeypatch):
    commits = []
    real = session_journal.SessionWriter.store
    monkeypatch.setattr(
        session_journal.SessionWriter,
        "store",
        lambda self, ops, *more: commits.append(len(ops)) or real(self, ops, *more),
    )
    journal = await store_in(tmp_path).begin()
    for number in range(100):
        journal.message(number, UserMessage(str(number)))
    await journal.settled()
    await journal.close()
    assert sum(commits) == 100 and len([each for each in commits if each]) <= 3


async def test_arguments_whose_names_suggest_a_secret_are_not_in_the_file(tmp_path: Path):
    journal = await store_in(tmp_path).begin()
    journal.message(0, UserMessage("log in"))
    call = CallRequest("c", "auth__login", '{"password": "hunter2", "user": "ada"}')
    journal.message(1, AssistantMessage(calls=(call,)))
    journal.intent(Intent("c", "auth", "login", {"password": "hunter2", "user": "ada"}))
    await journal.close()
    files = b"".join(file.read_bytes() for file in (tmp_path / "sessions").iterdir() if file.is_file())
    assert b"hunter2" not in files
    assert files.count(b"[redacted:password]") == 2


async def test_the_thread_starts_with_the_first_message_and_ends_with_the_journal(tmp_path: Path):
    journal = await store_in(tmp_path).begin()
    assert threads() == []
    journal.message(0, QUESTION)
    assert threads() == [f"session {journal.id}"]
    await journal.close()
    assert threads() == []


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


async def test_drafts_are_stored_at_intervals(tmp_path: Path, monkeypatch):
    writes = []
    real = session_journal.SessionWriter.store
    monkeypatch.setattr(
        session_journal.SessionWriter,
        "store",
        lambda self, ops, *more: writes.append(len(ops)) or real(self, ops, *more),
    )
    journal = await store_in(tmp_path).begin()
    await say(journal, QUESTION)
    began = time.monotonic()
    for number in range(100):
        journal.draft("word " * number, "")
        await asyncio.sleep(0.002)
    took = time.monotonic() - began
    assert 1 <= len(writes) - 1 <= 2 + took / session_journal.DRAFT_SECONDS
    await journal.close()


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


async def test_a_missing_file_is_reported_and_written_again(tmp_path: Path, monkeypatch):
    monkeypatch.setattr(session_journal, "RETRY_SECONDS", 0.2)
    journal = await store_in(tmp_path).begin()
    await say(journal, QUESTION)
    for path in (tmp_path / "sessions").iterdir():
        path.unlink()
    journal.message(1, ANSWER)
    await journal.settled()
    assert "was moved or deleted. mcptui saves the conversation again" in journal.problem
    await until(lambda: not journal.problem)
    await journal.close()
    assert stored(journal, tmp_path) == 2


async def test_a_folder_that_cannot_be_created_is_reported_and_retried(tmp_path: Path, monkeypatch):
    monkeypatch.setattr(session_journal, "RETRY_SECONDS", 0.01)
    (tmp_path / "sessions").write_text("in the way")
    journal = await store_in(tmp_path).begin()
    journal.message(0, QUESTION)
    await journal.settled()
    assert journal.problem
    (tmp_path / "sessions").unlink()
    await until(lambda: not journal.problem)
    await journal.close()
    assert stored(journal, tmp_path) == 1


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


async def test_a_lock_by_another_program_is_retried_soon_however_long_it_was_held(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session_journal, "RETRY_SECONDS", 0.01)
    monkeypatch.setattr("tui.storage.sessions.file.WRITER_BUSY_MS", 1)
    journal = await store_in(tmp_path).begin()
    await say(journal, QUESTION)
    tries: list[bool] = []
    real = session_journal.SessionWriter.store

    def store(self: session_journal.SessionWriter, *given: Any) -> bool:
        tries.append(real(self, *given))
        return tries[-1]

    monkeypatch.setattr(session_journal.SessionWriter, "store", store)
    with closing(sqlite3.connect(tmp_path / "sessions" / f"{journal.id}.mcpsession")) as other:
        other.execute("BEGIN IMMEDIATE")
        journal.message(1, ANSWER)
        await until(lambda: len(tries) > 12)
        assert journal._retry_at - journal._failed_at < 0.02
    await until(lambda: not journal.problem)
    await journal.close()
