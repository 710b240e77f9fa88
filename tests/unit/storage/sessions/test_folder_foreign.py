"""A folder with session files of somebody else: they are listed with their problem and never run for long."""

import sqlite3
import tracemalloc
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import pytest

from tests.unit.storage.foreign_files import become_view, change, share_a_page
from tests.unit.storage.session_samples import ANSWER, QUESTION, saved, store_in
from tui.core.conversation.conversation import AssistantMessage
from tui.core.errors import StorageError
from tui.storage.sessions.stored_session import read_stored

TABLES = ("meta", "messages", "intents", "decisions", "usage", "results", "draft", "remarks", "folded")


@pytest.mark.parametrize("table", TABLES)
async def test_a_session_with_a_view_for_a_table_is_listed_with_its_problem(tmp_path: Path, table: str):
    store = store_in(tmp_path)
    good, bad = await saved(store, QUESTION, ANSWER), await saved(store, QUESTION, ANSWER)
    become_view(store.files.path_of(bad), table)
    found = {info.id: info.problem for info in await store.list()}
    assert found[good] == ""
    assert "contains a view" in found[bad]


@pytest.mark.parametrize("table", TABLES)
async def test_a_session_with_a_view_for_a_table_is_neither_opened_nor_searched(tmp_path: Path, table: str):
    store = store_in(tmp_path)
    session = await saved(store, QUESTION, ANSWER)
    become_view(store.files.path_of(session), table)
    with pytest.raises(StorageError, match="contains a view"):
        await store.reopen(session)
    with pytest.raises(StorageError, match="contains a view"):
        await store.read(session)
    assert [place async for place in store.search("weather")] == []


async def test_a_session_with_a_trigger_is_not_continued(tmp_path: Path):
    store = store_in(tmp_path)
    session = await saved(store, QUESTION, ANSWER)
    change(store.files.path_of(session), "CREATE TRIGGER t AFTER INSERT ON messages BEGIN SELECT 1; END")
    with pytest.raises(StorageError, match="contains a trigger"):
        await store.rename(session, "Other")


async def test_a_page_with_many_parents_is_not_read_more_often_than_the_file_can_hold(tmp_path: Path):
    store = store_in(tmp_path)
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


async def test_a_damaged_session_that_claims_many_messages_is_read_in_bounded_time(tmp_path: Path):
    store = store_in(tmp_path)
    session = await saved(store, QUESTION, ANSWER)
    path = store.files.path_of(session)
    change(
        path, f"UPDATE meta SET value = '{2**53 - 1}' WHERE name = 'messages'; UPDATE messages SET body = 'x'"
    )
    stored = read_stored(path)
    assert stored.damaged and not stored.messages


async def test_a_session_with_a_huge_title_is_listed_with_its_problem(tmp_path: Path):
    store = store_in(tmp_path)
    session = await saved(store, QUESTION, ANSWER)
    script = "UPDATE meta SET value = hex(zeroblob(6000000)) WHERE name = 'title'"
    change(store.files.path_of(session), script)
    tracemalloc.start()
    found = {info.id: info.problem for info in await store.list()}
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert "damaged" in found[session]
    assert most < 1_000_000


async def test_values_that_a_list_does_not_show_are_not_read_for_it(tmp_path: Path):
    store = store_in(tmp_path)
    session = await saved(store, QUESTION, ANSWER)
    change(store.files.path_of(session), "INSERT INTO meta VALUES ('compaction', hex(zeroblob(6000000)))")
    assert {info.id: info.problem for info in await store.list()} == {session: ""}


async def test_a_deleted_session_that_vanishes_while_it_is_listed_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    store = store_in(tmp_path)
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
