"""A session file that another program moves, replaces or damages is written again or read up to there."""

import os
import random
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from tests.conftest import until
from tests.unit.storage.damage import leaves, overwrite
from tests.unit.storage.session_samples import ANSWER, saved, say, store_in
from tui.core.conversation.conversation import UserMessage, sanitised
from tui.core.errors import StorageError
from tui.core.ports import Usage
from tui.storage.sessions import journal as session_journal
from tui.storage.sessions.file import is_cut, is_sound
from tui.storage.sessions.store import SessionStore

Damage = Callable[[Path], None]


def wal(path: Path) -> Path:
    return path.with_name(path.name + "-wal")


def garbage(path: Path) -> None:
    with path.open("r+b") as file:
        file.write(b"garbage!" * (path.stat().st_size // 8))


def replace(path: Path) -> None:
    path.with_suffix(".other").write_bytes(b"other")
    os.replace(path.with_suffix(".other"), path)


def remove(path: Path) -> None:
    for file in path.parent.glob(f"{path.name}*"):
        if not file.name.endswith("lock"):
            file.unlink()


def remove_folder(path: Path) -> None:
    path.parent.rename(path.parent.with_name("gone"))


MOVES: dict[str, Damage] = {
    "replaced": replace,
    "removed": remove,
    "removed with its folder": remove_folder,
    "wal removed": lambda path: wal(path).unlink(),
}
DAMAGES: dict[str, Damage] = {
    "cut to nothing": lambda path: os.truncate(path, 0),
    "cut in half": lambda path: os.truncate(path, path.stat().st_size // 2),
    "overwritten": garbage,
    "copied over": lambda path: path.write_bytes(b"x" * 100) and None,
    "wal cut": lambda path: os.truncate(wal(path), 0),
    "wal overwritten": lambda path: garbage(wal(path)),
}


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session_journal, "RETRY_SECONDS", 0.05)


@pytest.mark.parametrize("size", [10, 120_000], ids=["in the WAL", "in the file"])
@pytest.mark.parametrize("move", MOVES)
@pytest.mark.parametrize("when", ["before the next message", "before it is closed"])
async def test_nothing_is_lost_of_a_file_that_is_moved_or_replaced(
    tmp_path: Path, move: str, size: int, when: str
) -> None:
    journal = await store_in(tmp_path).begin()
    for number in range(10):
        journal.message(number, UserMessage(f"{number} " + "y" * size))
        await journal.settled()
    journal.usage("m", Usage(10, 5), 0.5)
    await journal.settled()
    MOVES[move](tmp_path / "sessions" / f"{journal.id}.mcpsession")
    count = 10
    if when == "before the next message":
        journal.message(10, UserMessage("after"))
        await journal.settled()
        await until(lambda: not journal.problem)
        count = 11
    await journal.close()
    found = await store_in(tmp_path).read(journal.id)
    texts = [message.text for message in found.conversation.messages[:10]]
    assert [text.split()[0] for text in texts] == [str(number) for number in range(10)]
    assert len(found.conversation.messages) == count
    assert (found.info.tokens, found.info.cost) == (15, 0.5)


@pytest.mark.parametrize("damage", DAMAGES)
async def test_after_damage_the_readable_part_and_all_that_follows_is_kept(
    tmp_path: Path, damage: str
) -> None:
    journal = await store_in(tmp_path).begin()
    for number in range(10):
        journal.message(number, UserMessage(f"{number} " + "y" * 120_000))
        await journal.settled()
    DAMAGES[damage](tmp_path / "sessions" / f"{journal.id}.mcpsession")
    journal.message(10, UserMessage("after"))
    await journal.settled()
    await until(lambda: journal.problem in ("", journal._writer.defect))
    await journal.close()
    found = (await store_in(tmp_path).read(journal.id)).conversation.messages
    numbers = [int(message.text.split()[0]) for message in found[:-1]]
    assert numbers == list(range(len(numbers))) and found[-1].text == "after"
    assert len(numbers) == 10 or "Only its readable part is kept" in journal.problem


async def test_the_damage_is_reported_and_the_damaged_file_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session_journal, "RETRY_SECONDS", 60)
    journal = await store_in(tmp_path).begin()
    await say(journal, UserMessage("first"))
    path = tmp_path / "sessions" / f"{journal.id}.mcpsession"
    os.truncate(wal(path), 0)
    journal.message(1, UserMessage("second"))
    await journal.settled()
    assert "was damaged by another program. mcptui saves the conversation again" in journal.problem
    await journal.close()
    assert path.with_name(path.name + ".damaged").exists()
    assert len((await store_in(tmp_path).read(journal.id)).conversation.messages) == 2


async def test_a_removed_file_is_written_again_completely_once_the_disk_has_space(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy, failures = session_journal.write_copy, []

    def full_at_first(path: Path, connection: sqlite3.Connection) -> None:
        if len(failures) < 2:
            failures.append(error := sqlite3.OperationalError("database or disk is full"))
            error.sqlite_errorcode = sqlite3.SQLITE_FULL
            raise error
        copy(path, connection)

    monkeypatch.setattr(session_journal, "write_copy", full_at_first)
    journal = await store_in(tmp_path).begin()
    await say(journal, UserMessage("first"))
    remove(tmp_path / "sessions" / f"{journal.id}.mcpsession")
    journal.message(1, UserMessage("second"))
    await until(lambda: len(failures) == 2 and not journal.problem)
    await journal.close()
    found = (await store_in(tmp_path).read(journal.id)).conversation.messages
    assert [message.text for message in found] == ["first", "second"]


async def test_a_checkpoint_by_another_program_is_not_damage(tmp_path: Path) -> None:
    journal = await store_in(tmp_path).begin()
    await say(journal, UserMessage("first"))
    path = tmp_path / "sessions" / f"{journal.id}.mcpsession"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA wal_checkpoint(PASSIVE)")
    journal.message(1, UserMessage("second"))
    await journal.settled()
    assert journal.problem == ""
    await journal.close()
    assert not list(path.parent.glob("*.damaged*"))


async def test_a_folder_that_was_a_link_is_created_once_the_link_is_removed(tmp_path: Path) -> None:
    own = tmp_path / "mcptui"
    (tmp_path / "theirs").mkdir()
    own.symlink_to(tmp_path / "theirs")
    store = store_in(own)
    assert "symbolic link" in await store.check()
    journal = await store.begin()
    journal.message(0, UserMessage("first"))
    await until(lambda: "symbolic link" in journal.problem)
    own.unlink()
    await until(lambda: not journal.problem)
    assert await store.check() == ""
    await journal.close()
    assert len((await store.read(journal.id)).conversation.messages) == 1
    assert list((tmp_path / "theirs").iterdir()) == []


TALK = [UserMessage(f"question {number} " + "x" * 500) for number in range(200)]


@pytest.fixture
async def path(tmp_path: Path) -> Path:
    session = await saved(store_in(tmp_path), *TALK)
    return tmp_path / "sessions" / f"{session}.mcpsession"


def data_of(path: Path) -> bytes:
    return path.read_bytes()


def put(path: Path, data: bytes) -> None:
    path.write_bytes(data)


async def test_a_truncated_file_is_read_up_to_the_cut_and_the_session_continues(
    store: SessionStore, path: Path
):
    size = len(data_of(path))
    os.truncate(path, size // 2)
    assert is_cut(path)
    found, journal = await store.reopen(path.stem)
    left = found.conversation.messages
    assert 50 < len(left) < 200 and left == TALK[: len(left)]
    assert f"only its first {len(left)} messages could be read" in found.info.problem
    await say(journal, ANSWER, start=len(left))
    await journal.close()
    assert is_sound(path) and not is_cut(path)
    assert (await store.read(path.stem)).conversation.messages == [*left, ANSWER]
    assert len(data_of(path.with_name(path.name + ".damaged"))) == size // 2


async def test_damage_that_would_break_only_writing_is_repaired_on_opening(store: SessionStore, path: Path):
    overwrite(path, leaves(path, "folded_data")[0])
    assert not is_sound(path)
    found, journal = await store.reopen(path.stem)
    assert found.conversation.messages == TALK
    await say(journal, ANSWER, start=200)
    await journal.close()
    assert is_sound(path)
    assert [place.index async for place in store.search("sunny")] == [200]


@pytest.mark.parametrize("seed", [*range(10), 11, 19])  # 19 is rejected
async def test_after_any_damage_a_session_opens_valid_or_is_rejected_with_a_reason(
    store: SessionStore, path: Path, seed: int
):
    dice = random.Random(seed)
    data = bytearray(data_of(path))
    for _ in range(3):
        at = dice.randrange(100, len(data))
        length = dice.choice((1, 64, 4096))
        data[at : at + length] = dice.randbytes(len(data[at : at + length]))
    put(path, data)
    await store.list()
    [place async for place in store.search("question 7")]
    try:
        found, journal = await store.reopen(path.stem)
    except StorageError as error:
        assert "damaged" in error.message
        assert data_of(path) == data
        return
    talk = found.conversation.messages
    assert sanitised(talk) == talk
    journal.message(len(talk), ANSWER)
    await journal.close()
    assert (await store.read(path.stem)).conversation.messages == [*talk, ANSWER]
