"""The file of a list, which several processes may change at the same time."""

import stat
import threading
from pathlib import Path

import pytest

from tui.core.daemon_thread import FAILED_THREAD
from tui.settings.state.list_file import ListFile, WriteThread


def opened(path: Path, max_bytes: int = 10_000) -> ListFile:
    return ListFile(path, "things", "the things", max_bytes=max_bytes)


def add(path: Path, *entries: str, max_bytes: int = 10_000) -> None:
    file = opened(path, max_bytes)
    for entry in entries:
        file.change(lambda before, entry=entry: [*before, entry])
    file.close()


def test_changes_are_written_in_order_to_a_private_file(tmp_path: Path) -> None:
    path = tmp_path / "state" / "things.json"
    add(path, "one", "two", "three")
    assert opened(path).read() == ["one", "two", "three"]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_change_gets_the_entries_that_are_then_in_the_file(tmp_path: Path) -> None:
    path = tmp_path / "things.json"
    first = opened(path)
    assert first.read() == []
    add(path, "of another process")
    first.change(lambda before: [*before, "ours"])
    first.close()
    assert opened(path).read() == ["of another process", "ours"]


def test_a_missing_file_has_no_entries_and_no_damage(tmp_path: Path) -> None:
    file = opened(tmp_path / "things.json")
    assert (file.read(), file.damage()) == ([], "")
    file.close()


@pytest.mark.parametrize("text", ["{", "[]", '{"format": 2, "things": ["one"]}'])
def test_a_damaged_file_is_copied_before_it_is_replaced(tmp_path: Path, text: str) -> None:
    path = tmp_path / "things.json"
    path.write_text(text)
    assert opened(path).read() == []
    assert str(path) in opened(path).damage()
    add(path, "new")
    assert opened(path).read() == ["new"]
    assert [one.read_text() for one in tmp_path.iterdir() if one != path] == [text]


def test_a_list_that_could_not_be_read_again_is_not_written(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "things.json"
    add(path, "one")
    add(path, "long" * 50, max_bytes=100)
    assert opened(path).read() == ["one"]
    assert "cannot save the things" in caplog.text


def test_a_failed_change_is_logged_and_the_next_one_is_written(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(before: list[str]) -> list[str]:
        raise OSError("disk error")

    path = tmp_path / "things.json"
    file = opened(path)
    file.change(fail)
    file.change(lambda before: [*before, "next"])
    file.close()
    assert opened(path).read() == ["next"]
    assert "cannot save the things: disk error" in caplog.text


def test_a_thread_runs_only_after_a_change_and_until_it_is_closed(tmp_path: Path) -> None:
    thread = WriteThread("writes")
    thread.close()
    names: list[str] = []
    thread.change(tmp_path / "file", lambda: names.append(threading.current_thread().name), "a file")
    thread.close()
    assert [name.startswith("writes") for name in names] == [True]
    assert not any(one.name.startswith("writes") for one in threading.enumerate())


def test_an_unexpected_error_is_reported_and_later_changes_are_written(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    file = opened(tmp_path / "things.json")

    def defect(before: list[str]) -> list[str]:
        raise LookupError("a defect")

    file.change(defect)
    file.change(lambda before: [*before, "later"])
    file.close()
    assert opened(tmp_path / "things.json").read() == ["later"]
    assert [getattr(one, FAILED_THREAD) for one in caplog.records] == ["things (LookupError, restarted)"]
