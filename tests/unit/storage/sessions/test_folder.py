"""The list is fast and correct, also of files of somebody else, and deleted sessions can be restored."""

import json
import os
import sqlite3
import time
import tracemalloc
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import pytest

from tests.unit.storage.foreign_files import become_view, change, share_a_page
from tests.unit.storage.session_samples import ANSWER, QUESTION, saved, say, store_in
from tui.core.conversation.conversation import AssistantMessage
from tui.core.errors import StorageError
from tui.storage.sessions import folder as session_folder
from tui.storage.sessions.folder import NAME, SessionFolder, load_known
from tui.storage.sessions.store import SessionStore
from tui.storage.sessions.stored_session import read_stored

DAY = 24 * 3600.0


class Moved:
    """The folder's clock."""

    def __init__(self) -> None:
        self.days = 0.0

    def __call__(self) -> float:
        return time.time() + self.days * DAY


async def test_a_session_that_is_being_written_is_listed_with_its_current_state(tmp_path: Path):
    store, other = store_in(tmp_path), store_in(tmp_path)
    journal = await store.begin()
    for number in range(5):
        await say(journal, QUESTION, start=number)
        assert [info.messages for info in await other.list()] == [number + 1]
    await journal.close()


async def test_a_deleted_session_is_restored_completely(store: SessionStore):
    session = await saved(store, QUESTION, ANSWER)
    await store.delete(session)
    assert await store.list() == []
    assert [(info.id, info.title) for info in await store.deleted()] == [(session, QUESTION.text)]
    with pytest.raises(StorageError):
        await store.read(session)
    await store.restore(session)
    assert (await store.read(session)).conversation.messages == [QUESTION, ANSWER]
    assert await store.deleted() == []


async def test_the_session_of_a_killed_process_is_deleted_and_restored_with_all_its_messages(
    tmp_path: Path, store: SessionStore
):
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


async def test_restoring_does_not_overwrite_an_existing_session(tmp_path: Path, store: SessionStore):
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


TABLES = ("meta", "messages", "intents", "decisions", "usage", "results", "draft", "remarks", "folded")


@pytest.mark.parametrize("table", TABLES)
async def test_a_session_with_a_view_for_a_table_is_listed_with_its_problem_and_not_read(
    store: SessionStore, table: str
):
    good, bad = await saved(store, QUESTION, ANSWER), await saved(store, QUESTION, ANSWER)
    become_view(store.files.path_of(bad), table)
    found = {info.id: info.problem for info in await store.list()}
    assert found[good] == "" and "contains a view" in found[bad]
    for deed in (store.reopen, store.read):
        with pytest.raises(StorageError, match="contains a view"):
            await deed(bad)
    assert {place.session.id async for place in store.search("weather")} == {good}


async def test_a_session_with_a_trigger_is_not_continued(store: SessionStore):
    session = await saved(store, QUESTION, ANSWER)
    change(store.files.path_of(session), "CREATE TRIGGER t AFTER INSERT ON messages BEGIN SELECT 1; END")
    with pytest.raises(StorageError, match="contains a trigger"):
        await store.rename(session, "Other")


async def test_a_page_with_many_parents_is_not_read_more_often_than_the_file_can_hold(store: SessionStore):
    large = AssistantMessage("x" * 400_000, model="demo")
    session = await saved(store, QUESTION, large, *[AssistantMessage("y" * 1500, model="demo")] * 200)
    path = store.files.path_of(session)
    share_a_page(path, "messages", 0)
    with closing(sqlite3.connect(path)) as connection:
        rows = connection.execute("SELECT length(body) FROM messages").fetchall()
    assert sum(size for (size,) in rows) > 10 * path.stat().st_size, "the file is forged"
    stored = read_stored(path)
    assert stored.damaged
    assert sum(len(one.text) for one in stored.in_order) <= path.stat().st_size


async def test_a_damaged_session_that_claims_many_messages_is_read_in_bounded_time(store: SessionStore):
    session = await saved(store, QUESTION, ANSWER)
    path = store.files.path_of(session)
    change(
        path, f"UPDATE meta SET value = '{2**53 - 1}' WHERE name = 'messages'; UPDATE messages SET body = 'x'"
    )
    stored = read_stored(path)
    assert stored.damaged and not stored.messages


async def test_a_session_with_a_huge_title_is_listed_with_its_problem(store: SessionStore):
    session = await saved(store, QUESTION, ANSWER)
    script = "UPDATE meta SET value = hex(zeroblob(6000000)) WHERE name = 'title'"
    change(store.files.path_of(session), script)
    tracemalloc.start()
    found = {info.id: info.problem for info in await store.list()}
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert "damaged" in found[session]
    assert most < 1_000_000


async def test_values_that_a_list_does_not_show_are_not_read_for_it(store: SessionStore):
    session = await saved(store, QUESTION, ANSWER)
    change(store.files.path_of(session), "INSERT INTO meta VALUES ('compaction', hex(zeroblob(6000000)))")
    assert {info.id: info.problem for info in await store.list()} == {session: ""}


async def test_a_deleted_session_that_vanishes_while_it_is_listed_is_left_out(
    store: SessionStore, monkeypatch: pytest.MonkeyPatch
):
    sessions = [await saved(store, QUESTION, ANSWER) for _ in range(2)]
    for session in sessions:
        store.files.delete(session)
    real = store.files._trashed

    def trashed_then_gone(whole: bool = False) -> Sequence[Path]:
        found = real(whole)
        found[0].unlink()
        return found

    monkeypatch.setattr(store.files, "_trashed", trashed_then_gone)
    assert len(store.files.deleted()) == 1


@pytest.fixture
async def folder(tmp_path: Path) -> Path:
    """Make forty sessions."""
    session = await saved(store_in(tmp_path), QUESTION, ANSWER)
    folder = tmp_path / "sessions"
    data = (folder / f"{session}.mcpsession").read_bytes()
    for number in range(39):
        (folder / f"copy-{number}.mcpsession").write_bytes(data)
    return folder


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    found: list[str] = []
    real = session_folder.read_info
    monkeypatch.setattr(session_folder, "read_info", lambda path: found.append(path.stem) or real(path))
    return found


async def test_this_and_another_process_read_only_sessions_that_changed(
    tmp_path: Path, store: SessionStore, folder: Path, reads: list[str]
):
    first = await store_in(tmp_path).list()
    assert len(reads) == 40
    reads.clear()
    assert await store_in(tmp_path).list() == first and reads == []
    _, journal = await store.reopen("copy-3")
    await say(journal, QUESTION, start=2)
    await store.rename("copy-3", "Another")
    assert (await store_in(tmp_path).list())[0].title == "Another"
    assert reads == ["copy-3"]
    await journal.close()
    await store.list()
    reads.clear()
    await store.delete("copy-1")
    assert len(await store.list()) == len(await store_in(tmp_path).list()) == 39
    assert (folder / NAME).stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{}",
        "[]",
        "[" * 5000,
        '{"form": 2, "sessions": {}}',
        '{"form": 1, "sessions": []}',
        '{"form": 1, "sessions": {"copy-1": []}}',
        '{"form": 1, "sessions": {"copy-1": [[1, 2, 3, "x"], []]}}',
        '{"form": 1, "sessions": {"copy-1": [[1, 2, 3, 4], ["copy-1", 5]]}}',
        "\ud800",
    ],
)
async def test_an_invalid_cached_list_is_ignored(tmp_path: Path, folder: Path, text: str):
    (folder / NAME).write_text(text, errors="surrogatepass")
    assert load_known(folder) == {}
    assert len(await store_in(tmp_path).list()) == 40


async def test_a_cached_list_with_wrong_types_is_ignored(tmp_path: Path, folder: Path):
    await store_in(tmp_path).list()
    found = json.loads((folder / NAME).read_text())
    found["sessions"]["copy-1"][1][1] = 7
    (folder / NAME).write_text(json.dumps(found))
    assert load_known(folder) == {}
