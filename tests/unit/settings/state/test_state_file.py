"""A file that several processes may change at the same time."""

import errno
import os
import stat
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from tui.core.background import FAILED_THREAD
from tui.core.errors import ConfigError
from tui.settings.state.state_file import Content, StateFile, WriteThread, entries


def opened(path: Path, max_bytes: int = 200_000) -> StateFile:
    return StateFile(path, "the things", max_bytes=max_bytes)


def adding(entry: str) -> Callable[[Content], Content]:
    return lambda before: {"things": [*before.get("things", ()), entry]}


def add(path: Path, *words: str, max_bytes: int = 200_000) -> None:
    file = opened(path, max_bytes)
    for word in words:
        file.change_later(adding(word))
    file.close()


def things(path: Path) -> list[str]:
    return entries(opened(path).look()[0], "things")


def test_changes_are_written_in_order_to_a_private_file(tmp_path: Path) -> None:
    path = tmp_path / "state" / "things.json"
    add(path, "one", "two", "three")
    assert things(path) == ["one", "two", "three"]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_change_gets_the_content_that_is_then_in_the_file(tmp_path: Path) -> None:
    path = tmp_path / "things.json"
    first = opened(path)
    assert first.look() == ({}, "")
    add(path, "of another process")
    first.change(adding("ours"))
    assert things(path) == ["of another process", "ours"]


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", '{"format": 2, "things": ["one"]}', '{"format": 1e999}', "[" * 100_000, "\0", "{}"],
)
def test_a_damaged_file_is_copied_before_it_is_replaced(tmp_path: Path, text: str) -> None:
    path = tmp_path / "things.json"
    path.write_text(text)
    assert things(path) == []
    assert str(path) in opened(path).look()[1]
    add(path, "new")
    assert things(path) == ["new"]
    assert [one.read_text() for one in tmp_path.iterdir() if one != path] == [text]


def no_links(*_: object, **__: object) -> None:
    raise OSError(errno.EPERM, "Operation not permitted")


def test_the_copy_of_an_older_damaged_file_is_replaced_also_without_hard_links(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "link", no_links)
    path, copy = tmp_path / "things.json", tmp_path / "things.damaged"
    for text in (b"first\r\n" * 100_000, b"\xff\0 second"):
        path.write_bytes(text)
        add(path, "new")
        assert copy.read_bytes() == text and stat.S_IMODE(copy.stat().st_mode) == 0o600
    assert things(path) == ["new"]


def test_a_damaged_file_that_cannot_be_copied_is_logged_and_not_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def full(handle: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "link", no_links)
    monkeypatch.setattr(os, "fsync", full)
    path = tmp_path / "things.json"
    path.write_text("first")
    add(path, "new")
    assert [(one.name, one.read_text()) for one in tmp_path.iterdir()] == [(path.name, "first")]
    assert "is damaged and cannot be copied to things.damaged (No space left on device)" in caplog.text


def test_a_symlink_in_place_of_the_file_is_neither_read_nor_changed(tmp_path: Path) -> None:
    path = tmp_path / "link.json"
    add(tmp_path / "real.json", "one")
    path.symlink_to(tmp_path / "real.json")
    assert things(path) == []
    with pytest.raises(ConfigError, match="is a symbolic link"):
        opened(path).change(adding("two"))
    assert things(tmp_path / "real.json") == ["one"]


def test_a_content_that_could_not_be_read_again_is_not_written(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "things.json"
    add(path, "one")
    add(path, "long" * 50, max_bytes=100)
    assert things(path) == ["one"]
    assert "cannot save the things" in caplog.text


def test_the_oldest_entries_are_dropped_to_stay_within_the_limit(tmp_path: Path) -> None:
    path = tmp_path / "things.json"
    file = StateFile(path, "the things", max_bytes=100, forgets="things")
    file.change(lambda before: {"things": list(range(100))})
    assert entries(file.look()[0], "things")[-1] == 99 and path.stat().st_size <= 100


def test_a_failed_change_is_logged_and_the_next_one_is_written(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(before: Content) -> Content:
        raise OSError("disk error")

    path = tmp_path / "things.json"
    file = opened(path)
    file.change_later(fail)
    file.change_later(adding("next"))
    file.close()
    assert things(path) == ["next"]
    assert "cannot save the things: disk error" in caplog.text


def test_a_thread_runs_only_after_a_change_and_until_it_is_closed() -> None:
    thread = WriteThread("writes")
    thread.close()
    names: list[str] = []
    thread.submit(lambda: names.append(threading.current_thread().name))
    thread.close()
    assert [name.startswith("writes") for name in names] == [True]
    assert not any(one.name.startswith("writes") for one in threading.enumerate())


def test_an_unexpected_error_is_reported_and_later_changes_are_written(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "things.json"
    file = opened(path)

    def defect(before: Content) -> Content:
        raise LookupError("a defect")

    file.change_later(defect)
    file.change_later(adding("later"))
    file.close()
    assert things(path) == ["later"]
    assert [getattr(one, FAILED_THREAD) for one in caplog.records] == ["things (LookupError, restarted)"]
