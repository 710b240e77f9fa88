"""The history of messages, saved between runs."""

import errno
import os
import stat
from pathlib import Path

import pytest

from tui.core.files import LinkError
from tui.ui.chat.composer.history import MOST
from tui.ui.chat.outbox import MOST_BYTES, MOST_CHARS, HistoryEntry, add_to_history, load_history


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "state" / "input_history"


def texts_in(path: Path) -> list[str]:
    return [one.text for one in load_history(path)]


def test_messages_of_one_run_are_loaded_by_the_next(path: Path):
    texts = ["one\ntwo", "北京", "\u2028 \x85", "a\\n"]
    for text in texts:
        add_to_history(path, HistoryEntry(text))
    assert texts_in(path) == texts


def test_the_file_is_readable_by_its_owner_only(path: Path):
    path.parent.mkdir()
    path.touch(0o644)
    add_to_history(path, HistoryEntry("secret plans"))
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_without_a_file_the_history_is_empty(path: Path):
    assert texts_in(path) == []


def test_only_a_damaged_line_is_lost(path: Path):
    add_to_history(path, HistoryEntry("one"))
    with path.open("ab") as file:
        file.write(b'{"no": "text"}\n"cut off\n\xff\xfe\n[]\n')
    add_to_history(path, HistoryEntry("two"))
    assert texts_in(path) == ["one", "two"]


def test_a_text_over_the_length_limit_is_not_saved(path: Path):
    add_to_history(path, HistoryEntry("x" * (MOST_CHARS + 1)))
    assert texts_in(path) == []


def test_a_lone_surrogate_is_saved_as_a_question_mark(path: Path):
    add_to_history(path, HistoryEntry("a\ud800b"))
    assert texts_in(path) == ["a?b"]


def test_a_file_that_grows_is_shortened(path: Path):
    path.parent.mkdir()
    path.write_text("".join(f'"{number}"\n' for number in range(2 * MOST)))
    for number in range(2 * MOST, 2 * MOST + 5):
        add_to_history(path, HistoryEntry(str(number)))
    assert texts_in(path) == [str(number) for number in range(MOST + 5, 2 * MOST + 5)]
    assert len(path.read_text().splitlines()) == MOST


def test_only_the_end_of_a_huge_file_is_read(path: Path):
    path.parent.mkdir()
    path.write_bytes(b"x" * (MOST_BYTES + 100) + b'\n"last"\n')
    assert texts_in(path) == ["last"]
    assert path.stat().st_size < 100


def test_a_pipe_in_place_of_the_file_is_refused_without_blocking(path: Path):
    path.parent.mkdir()
    os.mkfifo(path)
    for uses in (lambda: load_history(path), lambda: add_to_history(path, HistoryEntry("one"))):
        with pytest.raises(OSError):
            uses()


def test_a_symlink_in_place_of_the_file_is_refused_and_its_target_unchanged(path: Path):
    path.parent.mkdir()
    target = path.with_name("target")
    target.write_text('"theirs"\n')
    path.symlink_to(target)
    for uses in (lambda: load_history(path), lambda: add_to_history(path, HistoryEntry("one"))):
        with pytest.raises(LinkError):
            uses()
    assert target.read_text() == '"theirs"\n'


def test_the_tokens_of_attachments_are_saved_with_the_text(path: Path):
    kept = [HistoryEntry("see [@a.txt] and [@b.txt]", ("[@a.txt]",)), HistoryEntry("[@c.txt]")]
    for one in kept:
        add_to_history(path, one)
    assert load_history(path) == kept


def test_a_line_truncated_by_a_full_disk_is_removed_and_reported(path: Path, monkeypatch: pytest.MonkeyPatch):
    write = os.write

    def full(handle: int, line: bytes) -> int:
        if len(line) < 7:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return write(handle, line[:4])

    add_to_history(path, HistoryEntry("before"))
    with monkeypatch.context() as patch, pytest.raises(OSError, match="No space left"):
        patch.setattr(os, "write", full)
        add_to_history(path, HistoryEntry("cut"))
    add_to_history(path, HistoryEntry("after"))
    assert texts_in(path) == ["before", "after"]
