"""Conversations are restored unchanged, whatever happened to their file."""

import asyncio
import os
import select
import sqlite3
import stat
import tempfile
import threading
from contextlib import closing
from pathlib import Path
from typing import Any, NoReturn

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.conftest import until
from tests.unit.storage.session_samples import (
    ANSWER,
    ASKING,
    FEW_IDS,
    QUESTION,
    RESULT,
    messages,
    saved,
    say,
    slow_reopen,
    store_in,
)
from tui.core.conversation.conversation import (
    AssistantMessage,
    Compaction,
    Intent,
    Remark,
    SessionMeta,
    ToolMessage,
    UserMessage,
    sanitised,
)
from tui.core.conversation.sessions import NEVER_SENT, UNKNOWN_OUTCOME
from tui.core.errors import StorageError
from tui.core.ports import Usage
from tui.core.secrets.redact import Redactor
from tui.storage.files.live_lock import is_live
from tui.storage.files.private_file import write_whole
from tui.storage.sessions.store import SessionStore

INTENT = Intent("c1", "weather", "get", {"city": "Beijing"}, "once", 1)


def file_of(folder: Path, session: str) -> Path:
    return folder / "sessions" / f"{session}.mcpsession"


async def test_a_session_survives_a_round_trip(store: SessionStore):
    second = ToolMessage("c2", "weather__get", "rain", kept="r1")
    talk = [QUESTION, ASKING, RESULT, second, ANSWER]
    journal = await store.begin()
    journal.describe(SessionMeta(system="Be brief.", profile="local", model="demo"))
    await say(journal, *talk)
    journal.result("r1", "rain " * 1000)
    journal.usage("demo", Usage(100, 20), 0.25)
    journal.usage("demo", Usage(200, 30), 0.5)
    journal.describe(SessionMeta(compaction=Compaction(0, "", 2, ((0, 900),))))
    await journal.close()
    found, journal = await store.reopen(journal.id)
    await journal.close()
    assert found.conversation.messages == talk
    assert found.conversation.system == "Be brief."
    assert found.conversation.compaction == Compaction(0, "", 2, ((0, 900),))
    assert found.results == {"r1": "rain " * 1000}
    assert (found.meta.profile, found.meta.model) == ("local", "demo")
    info = found.info
    assert (info.title, info.turns, info.messages) == (QUESTION.text, 1, 5)
    assert (info.tokens, info.cost, info.model) == (350, 0.75, "demo")


async def test_only_the_newest_complete_results_are_restored_but_an_export_contains_all(store: SessionStore):
    journal = await store.begin()
    await say(journal, QUESTION)
    for number in range(1, 121):
        journal.result(f"result-{number}", f"text {number}")
    await journal.close()
    found, journal = await store.reopen(journal.id)
    await journal.close()
    assert list(found.results or ()) == [f"result-{number}" for number in range(21, 121)]
    assert 'text 1"' in await store.exported(journal.id, "json")


async def test_no_file_is_created_before_the_first_message(tmp_path: Path, store: SessionStore):
    journal = await store.begin()
    journal.describe(SessionMeta(system="x"))
    await journal.settled()
    await journal.close()
    assert not (tmp_path / "sessions").exists()
    assert await store.list() == []


async def test_session_files_are_private_and_only_one_file_is_left(tmp_path: Path):
    old = os.umask(0)
    try:
        session = await saved(store_in(tmp_path), QUESTION)
    finally:
        os.umask(old)
    folder = tmp_path / "sessions"
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert [path.name for path in folder.iterdir()] == [f"{session}.mcpsession"]
    assert stat.S_IMODE(file_of(tmp_path, session).stat().st_mode) == 0o600


async def test_secrets_are_never_in_the_file(tmp_path: Path):
    store = store_in(tmp_path, KEY="a-configured-secret")
    journal = await store.begin()
    await say(journal, UserMessage("it is a-configured-secret"))
    journal.draft("a-configured-secret", "a-configured-secret")
    journal.intent(Intent("c", "s", "t", {"key": "a-configured-secret"}))
    journal.decision("c", "no", "a-configured-secret")
    journal.remark(Remark(1, "error", "the key a-configured-secret is wrong", "model"))
    journal.result("r", "a-configured-secret")
    journal.describe(SessionMeta(system="a-configured-secret", title="a-configured-secret"))
    await journal.close()
    assert b"a-configured-secret" not in file_of(tmp_path, journal.id).read_bytes()
    assert (await store.read(journal.id)).results == {"r": "[redacted:KEY]"}


async def test_calls_without_a_result_get_one_that_is_stored(tmp_path: Path, store: SessionStore):
    journal = await store.begin()
    journal.intent(INTENT)
    await say(journal, QUESTION, ASKING)
    await journal.close()
    found, journal = await store.reopen(journal.id)
    await journal.close()
    assert [message.text for message in found.conversation.messages[2:]] == [UNKNOWN_OUTCOME, NEVER_SENT]
    assert found.unknown == {"c1"}
    with closing(sqlite3.connect(file_of(tmp_path, journal.id))) as connection:
        assert connection.execute("SELECT count(*) FROM messages").fetchone() == (4,)
    assert (await store.read(journal.id)).conversation.messages == found.conversation.messages


async def test_a_partial_reply_is_kept_and_marked_until_the_complete_one_replaces_it(store: SessionStore):
    journal = await store.begin()
    await say(journal, QUESTION)
    journal.draft("It is su", "look outside")
    await journal.settled()
    found = await store.read(journal.id)
    assert found.conversation.messages[1] == AssistantMessage("It is su", "look outside", partial=True)
    await say(journal, ANSWER, start=1)
    await journal.close()
    assert (await store.read(journal.id)).conversation.messages == [QUESTION, ANSWER]


async def test_an_open_session_cannot_be_opened_deleted_or_renamed_elsewhere(tmp_path: Path):
    store, other = store_in(tmp_path), store_in(tmp_path)
    journal = await store.begin()
    await say(journal, QUESTION)
    journal.describe(SessionMeta(title="trip"))
    await journal.settled()
    assert [info.in_use for info in await other.list()] == [True]
    assert [info.in_use for info in await store.list()] == [False]
    for deed in (store.reopen, store.delete):
        with pytest.raises(StorageError, match="open"):
            await deed(journal.id)
    for refused in (other.reopen(journal.id), other.delete(journal.id), other.rename(journal.id, "x")):
        with pytest.raises(StorageError) as caught:
            await refused
        assert str(caught.value) == "“trip” is open in another mcptui. Close it there first."
    assert (await other.read(journal.id)).conversation.messages == [QUESTION]
    await journal.close()
    assert [info.in_use for info in await other.list()] == [False]


async def test_a_branch_copies_the_messages_before_it_and_its_parent_is_unchanged(store: SessionStore):
    kept = ToolMessage("c1", "weather__get", "sun…", kept="r1")
    parent = await store.begin()
    parent.describe(SessionMeta(system="Be brief.", title="Weather"))
    asking = AssistantMessage(calls=ASKING.calls[:1])
    await say(parent, QUESTION, asking, kept, ANSWER, UserMessage("And tomorrow?"))
    parent.result("r1", "sun " * 99)
    parent.result("r2", "of another message")
    branch = await store.begin(parent=parent.id, upto=4)
    assert len(await store.list()) == 1
    await say(branch, UserMessage("And on Mars?"), start=4)
    found = await store.read(branch.id)
    await branch.close()
    await parent.close()
    assert found.conversation.messages == [QUESTION, asking, kept, ANSWER, UserMessage("And on Mars?")]
    assert (found.info.parent, found.info.branched_at) == (parent.id, 4)
    assert (found.info.title, found.meta.system) == ("Weather", "Be brief.")
    assert found.results == {"r1": "sun " * 99}
    assert (await store.read(parent.id)).info.messages == 5


async def test_a_branch_drops_compaction_after_the_branch_point(store: SessionStore):
    parent = await store.begin()
    await say(parent, QUESTION, ANSWER, UserMessage("And tomorrow?"), ANSWER)
    parent.describe(SessionMeta(compaction=Compaction(0, "", 4, ((0, 900), (2, 700)))))
    branch = await store.begin(parent=parent.id, upto=2)
    await say(branch, UserMessage("And on Mars?"), ANSWER, start=2)
    found = await store.read(branch.id)
    await branch.close()
    await parent.close()
    assert found.conversation.compaction == Compaction(0, "", 2, ((0, 900),))


async def test_a_session_can_be_renamed_whether_open_or_not(tmp_path: Path, store: SessionStore):
    session = await saved(store, QUESTION)
    await store.rename(session, "Weather")
    _, journal = await store.reopen(session)
    assert [info.title for info in await store.list("weath")] == ["Weather"]
    await store.rename(session, "北京")
    assert [info.title for info in await store.list()] == ["北京"]
    await journal.close()
    assert [path.suffix for path in (tmp_path / "sessions").iterdir()] == [".mcpsession"]


async def test_a_missing_session_is_reported(store: SessionStore):
    for name in ("20260101T000000Z-abcdef", "../../etc/passwd", "", "a/b", "x" * 500):
        for deed in (store.read, store.reopen, store.delete, store.restore):
            with pytest.raises(StorageError):
                await deed(name)


async def test_a_file_that_is_not_a_session_is_listed_with_its_problem_and_not_changed(
    tmp_path: Path, store: SessionStore
):
    await saved(store, QUESTION)
    path = file_of(tmp_path, "broken")
    path.write_bytes(b"\xde\xad" * 9000)
    infos = {info.id: info for info in await store.list()}
    assert infos["broken"].problem and len(infos) == 2
    with pytest.raises(StorageError):
        await store.reopen("broken")
    assert path.read_bytes() == b"\xde\xad" * 9000


async def test_a_newer_session_is_rejected(tmp_path: Path, store: SessionStore):
    session = await saved(store, QUESTION)
    with closing(sqlite3.connect(file_of(tmp_path, session))) as connection:
        connection.execute("PRAGMA user_version = 99")
    with pytest.raises(StorageError, match="the session was saved by a newer mcptui"):
        await store.read(session)


async def test_a_session_that_cannot_be_written_is_opened_and_the_reason_reported(
    store: SessionStore, monkeypatch
):
    session = await saved(store, QUESTION)
    real = os.open

    def read_only(path, flags, *more, **named):
        if flags & (os.O_CREAT | os.O_RDWR):
            raise PermissionError(13, "Permission denied", str(path))
        return real(path, flags, *more, **named)

    monkeypatch.setattr(os, "open", read_only)
    found, journal = await store.reopen(session)
    assert found.conversation.messages == [QUESTION]
    assert "no permission to write to" in journal.problem
    journal.message(1, ANSWER)
    await journal.settled()
    await journal.close()


async def test_a_file_in_place_of_the_folder_is_detected_in_advance(tmp_path: Path):
    (tmp_path / "home").write_text("in the way")
    folder = tmp_path / "home" / "mcptui" / "sessions"
    assert await SessionStore(folder, Redactor).check() == f"cannot write to {folder}: Not a directory"


async def test_a_full_disk_is_detected_in_advance(tmp_path: Path, monkeypatch):
    assert await SessionStore(tmp_path / "a" / "sessions", Redactor).check() == ""
    assert os.listdir(tmp_path) == []

    def full(*_: object, **__: object) -> NoReturn:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(tempfile, "TemporaryFile", full)
    assert "is full. Free some space" in await SessionStore(tmp_path, Redactor).check()


entries = st.one_of(
    st.tuples(st.just("message"), messages(FEW_IDS)),
    st.tuples(st.just("draft"), st.text(max_size=5)),
    st.tuples(st.just("intent"), FEW_IDS),
)


@given(st.lists(entries, min_size=1, max_size=10))
@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
async def test_any_sequence_of_journal_operations_opens_as_a_valid_conversation(store: SessionStore, said):
    journal = await store.begin()
    written = [QUESTION]
    await say(journal, QUESTION)
    for kind, what in said:
        match kind:
            case "message":
                journal.message(len(written), what)
                written.append(what)
            case "draft":
                journal.draft(what, "")
            case _:
                journal.intent(Intent(what, "s", "t", {}))
    await journal.close()
    found, journal = await store.reopen(journal.id)
    await journal.close()
    talk = found.conversation.messages
    assert sanitised(talk) == talk
    users = [message for message in written if isinstance(message, UserMessage)]
    assert [message for message in talk if isinstance(message, UserMessage)] == users
    assert (await store.read(journal.id)).conversation.messages == talk


async def test_cancelling_an_open_releases_the_lock_and_another_open_waits_for_that(
    tmp_path: Path, store: SessionStore, monkeypatch: pytest.MonkeyPatch
):
    session = await saved(store, QUESTION, ANSWER)
    read, go = slow_reopen(store, monkeypatch)
    opening = asyncio.create_task(store.reopen(session))
    await asyncio.to_thread(read.wait, 10)
    opening.cancel()
    await asyncio.wait({opening})
    assert opening.cancelled() and is_live(file_of(tmp_path, session))
    assert [info.in_use for info in await store.list()] == [False]
    again = asyncio.create_task(store.reopen(session))
    assert [info.in_use for info in await store.list()] == [False] and not again.done()
    go.set()
    _, journal = await again  # once the first one has released it
    await journal.close()


async def test_a_session_that_is_still_closing_is_opened_once_it_is_closed(store: SessionStore):
    journal = await store.begin()
    await say(journal, QUESTION)
    journal.message(1, ANSWER)
    closing_first = asyncio.create_task(journal.close())
    await asyncio.sleep(0)
    found, again = await store.reopen(journal.id)
    await closing_first
    await again.close()
    assert found.conversation.messages == [QUESTION, ANSWER]


async def test_an_export_into_a_fifo_that_is_not_read_can_be_cancelled(
    tmp_path: Path, store: SessionStore, monkeypatch: pytest.MonkeyPatch
):
    session = await saved(store, UserMessage("words " * 50_000))
    os.mkfifo(tmp_path / "fifo")
    reader = os.open(tmp_path / "fifo", os.O_RDONLY | os.O_NONBLOCK)
    ended = threading.Event()

    def written(*args: Any, **options: Any) -> int:
        try:
            return write_whole(*args, **options)
        finally:
            ended.set()

    monkeypatch.setattr("tui.storage.sessions.store.write_whole", written)
    try:
        export = asyncio.create_task(store.export(session, "markdown", tmp_path / "fifo"))
        await until(lambda: select.select([reader], [], [], 0)[0])
        export.cancel()
        await asyncio.wait({export}, timeout=10)
        await until(ended.is_set)
    finally:
        os.close(reader)
