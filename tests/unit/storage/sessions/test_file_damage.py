"""The readable part of a damaged session is kept, and the session continues in a new file."""

import random
from pathlib import Path

import pytest

from tests.unit.storage.damage import leaves, overwrite
from tests.unit.storage.session_samples import ANSWER, saved, say, store_in
from tui.core.conversation.conversation import UserMessage, sanitised
from tui.core.errors import StorageError
from tui.storage.sessions.file import is_cut, is_sound

TALK = [UserMessage(f"question {number} " + "x" * 500) for number in range(200)]


@pytest.fixture
async def path(tmp_path: Path) -> Path:
    session = await saved(store_in(tmp_path), *TALK)
    return tmp_path / "sessions" / f"{session}.mcpsession"


def data_of(path: Path) -> bytes:
    return path.read_bytes()


def put(path: Path, data: bytes) -> None:
    path.write_bytes(data)


def cut_in_half(path: Path) -> int:
    size = path.stat().st_size
    put(path, data_of(path)[: size // 2])
    return size


async def test_a_truncated_file_is_read_up_to_the_cut_and_the_session_continues(tmp_path: Path, path: Path):
    store = store_in(tmp_path)
    size = cut_in_half(path)
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


async def test_damage_that_would_break_only_writing_is_repaired_on_opening(tmp_path: Path, path: Path):
    store = store_in(tmp_path)
    overwrite(path, leaves(path, "folded_data")[0])
    assert not is_sound(path)
    found, journal = await store.reopen(path.stem)
    assert found.conversation.messages == TALK
    await say(journal, ANSWER, start=200)
    await journal.close()
    assert is_sound(path)
    assert [place.index async for place in store.search("sunny")] == [200]


@pytest.mark.parametrize("seed", range(20))
async def test_after_any_damage_a_session_opens_valid_or_is_rejected_with_a_reason(
    tmp_path: Path, path: Path, seed: int
):
    store = store_in(tmp_path)
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
