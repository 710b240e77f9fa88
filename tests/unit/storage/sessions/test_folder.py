"""The list is fast and correct, and deleted sessions can be restored."""

import os
import sqlite3
import time
from contextlib import closing
from pathlib import Path

import pytest

from tests.unit.storage.session_samples import ANSWER, QUESTION, saved, say, store_in
from tui.core.errors import StorageError
from tui.storage.sessions import folder as session_folder
from tui.storage.sessions.folder import SessionFolder

DAY = 24 * 3600.0


class Moved:
    """The folder's clock."""

    def __init__(self) -> None:
        self.days = 0.0

    def __call__(self) -> float:
        return time.time() + self.days * DAY


async def test_a_thousand_known_sessions_are_listed_without_reading_them(tmp_path: Path, monkeypatch):
    store = store_in(tmp_path)
    session = await saved(store, QUESTION, ANSWER)
    folder = tmp_path / "sessions"
    data = (folder / f"{session}.mcpsession").read_bytes()
    for number in range(999):
        (folder / f"copy-{number}.mcpsession").write_bytes(data)
    assert len(await store.list(limit=2000)) == 1000
    reads = []
    real = session_folder.read_info
    monkeypatch.setattr(session_folder, "read_info", lambda path: reads.append(path) or real(path))
    assert len(await store.list(limit=2000)) == 1000
    assert reads == []
    _, journal = await store.reopen("copy-7")
    await say(journal, QUESTION, start=2)
    await journal.close()
    assert (await store.list())[0].id == "copy-7"
    assert [path.stem for path in reads] == ["copy-7"]


async def test_a_session_that_is_being_written_is_listed_with_its_current_state(tmp_path: Path):
    store, other = store_in(tmp_path), store_in(tmp_path)
    journal = await store.begin()
    for number in range(5):
        await say(journal, QUESTION, start=number)
        assert [info.messages for info in await other.list()] == [number + 1]
    await journal.close()


async def test_a_deleted_session_is_restored_completely(tmp_path: Path):
    store = store_in(tmp_path)
    session = await saved(store, QUESTION, ANSWER)
    await store.delete(session)
    assert await store.list() == []
    assert [(info.id, info.title) for info in await store.deleted()] == [(session, QUESTION.text)]
    with pytest.raises(StorageError):
        await store.read(session)
    await store.restore(session)
    assert (await store.read(session)).conversation.messages == [QUESTION, ANSWER]
    assert await store.deleted() == []


async def test_the_session_of_a_killed_process_is_deleted_and_restored_with_all_its_messages(tmp_path: Path):
    store = store_in(tmp_path)
    journal = await store.begin()
    await say(journal, QUESTION, ANSWER)
    folder, crashed = tmp_path / "sessions", store_in(tmp_path / "crashed")
    crashed.files.folder.mkdir(parents=True)
    for path in folder.iterdir():  # in its current state: most of it in the WAL
        (crashed.files.folder / path.name).write_bytes(path.read_bytes())
    await journal.close()
    await crashed.delete(journal.id)
    left = {path.name for path in crashed.files.folder.iterdir()}
    assert left == {"trash"}
    await crashed.restore(journal.id)
    assert (await crashed.read(journal.id)).conversation.messages == [QUESTION, ANSWER]


async def test_a_deleted_session_is_purged_after_thirty_days(tmp_path: Path):
    session = await saved(store_in(tmp_path), QUESTION)
    now = Moved()
    files = SessionFolder(tmp_path / "sessions", now)
    files.delete(session)
    now.days = 29.9
    files.purge()
    assert len(files.deleted()) == 1
    now.days = 30.1
    assert files.deleted() == []
    with pytest.raises(StorageError, match="30 days"):
        files.restore(session)
    files.purge()
    assert list(files.trash.iterdir()) == []


async def test_an_empty_session_is_not_listed_and_is_removed_after_a_day(tmp_path: Path):
    session = await saved(store_in(tmp_path), QUESTION)
    now = Moved()
    files = SessionFolder(tmp_path / "sessions", now)
    (files.folder / "a.mcpsession").touch()
    with closing(sqlite3.connect(files.folder / "b.mcpsession")) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
    os.utime(files.folder / "b.mcpsession")
    assert [info.id for info in files.list()] == [session]
    files.purge()
    assert len(list(files.folder.glob("*.mcpsession"))) == 3
    now.days = 2
    files.purge()
    assert [path.stem for path in files.folder.iterdir()] == [session]


async def test_restoring_does_not_overwrite_an_existing_session(tmp_path: Path):
    store = store_in(tmp_path)
    session = await saved(store, QUESTION)
    path = tmp_path / "sessions" / f"{session}.mcpsession"
    data = path.read_bytes()
    await store.delete(session)
    path.write_bytes(data)
    with pytest.raises(StorageError, match="a session with this name already exists"):
        await store.restore(session)


def test_a_missing_folder_is_not_an_error(tmp_path: Path):
    files = SessionFolder(tmp_path / "none")
    files.purge()
    assert (files.list(), files.deleted()) == ([], [])
