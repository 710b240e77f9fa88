"""Writing the configuration: whole or not at all."""

import builtins
import errno
import json
import os
import stat
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tui.core.eras import Era
from tui.core.errors import ConfigError
from tui.core.workbench import CallKey, CallKind
from tui.settings import save
from tui.settings.save import Document, change_config, merge, save_file, server_at, set_value
from tui.settings.state.server_memory import stored_eras
from tui.settings.state.stored_calls import StoredCalls


def choose_theme(path: Path) -> None:
    change_config(path, lambda document: set_value(document, "quay", "ui", "theme"))


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_new_file_and_the_directories_it_needs_are_private(tmp_path: Path):
    path = tmp_path / "a" / "b" / "config.toml"
    choose_theme(path)
    assert path.read_text() == '[ui]\ntheme = "quay"\n'
    assert mode(path) == 0o600
    assert mode(path.parent) == 0o700


def test_a_file_readable_by_others_becomes_private(tmp_path: Path):
    path = tmp_path / "config.toml"
    path.write_text("# mine\n")
    path.chmod(0o644)
    choose_theme(path)
    assert mode(path) == 0o600
    assert path.read_text().startswith("# mine\n")


@pytest.mark.parametrize("text", ["a = ", "\0", "x" * (5 << 20)])
def test_an_unreadable_file_is_never_overwritten(tmp_path: Path, text: str):
    path = tmp_path / "config.toml"
    path.write_text(text)
    with pytest.raises(ConfigError, match="It was not changed"):
        choose_theme(path)
    assert path.read_text() == text


def test_an_unwritable_path_is_an_error_with_a_next_step(tmp_path: Path):
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match="Nothing was changed"):
        save_file(tmp_path / "file" / "config.toml", "x = 1\n")


def test_nothing_is_written_if_nothing_changes(tmp_path: Path):
    path = tmp_path / "config.toml"
    choose_theme(path)
    before = path.stat()
    choose_theme(path)
    assert path.stat().st_ino == before.st_ino


def test_a_device_or_fifo_is_not_replaced(tmp_path: Path):
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    with pytest.raises(ConfigError, match="cannot be written"):  # a fifo without a reader must not block
        save_file(fifo, "x = 1\n")
    handle = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
    try:
        save_file(fifo, "x = 1\n")
        assert os.read(handle, 100) == b"x = 1\n" and fifo.is_fifo()
    finally:
        os.close(handle)


def test_a_file_name_of_255_bytes_is_written(tmp_path: Path):
    save_file(tmp_path / ("n" * 250 + ".toml"), "x = 1\n")
    assert [len(path.name) for path in tmp_path.iterdir()] == [255]


def change_command(path: Path) -> None:
    def change(document: Document) -> None:
        merge(server_at(document, "a"), {"command": "x"}, {"command": "y"})

    change_config(path, change)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('[servers.a]\ncommand = "theirs"\n', "`command` has changed in the file"),
        ("[servers]\n", "server 'a' not found"),
    ],
    ids=["changed", "removed"],
)
def test_a_concurrent_change_of_a_server_is_never_overwritten(tmp_path: Path, text: str, problem: str):
    path = tmp_path / "config.toml"
    path.write_text(text)
    with pytest.raises(ConfigError, match=problem):
        change_command(path)
    assert path.read_text() == text


CALLS = ("open", "write", "fsync", "fchmod", "chmod", "replace", "mkdir", "stat", "ftruncate")
NUMBERS = (errno.ENOSPC, errno.EROFS, errno.EACCES, errno.EIO)

Write = Callable[[Path, str], None]
"""Writes a text into a file."""


class FailingFile:
    """A file that fails where it is written and flushed."""

    def __init__(self, file: Any, step: Callable[[str], None]) -> None:
        self._file, self._step = file, step

    def write(self, data: Any) -> int:
        self._step("write")
        return int(self._file.write(data))

    def flush(self) -> None:
        self._step("flush")
        self._file.flush()

    def __enter__(self) -> "FailingFile":
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)


class Steps:
    """Makes one system call fail, the one that `left` counts down to."""

    def __init__(self) -> None:
        self.left = 0
        self.number = errno.ENOSPC
        self.failed = ""

    def step(self, name: str) -> None:
        self.left -= 1
        if self.left == 0:
            self.failed = name
            raise OSError(self.number, os.strerror(self.number))

    def install(self, patch: pytest.MonkeyPatch) -> None:
        for name in CALLS:
            patch.setattr(os, name, self._failing(name, getattr(os, name)))
        opened = builtins.open

        def open_failing(file: Any, mode: str = "r", *args: Any, **named: Any) -> Any:
            found = opened(file, mode, *args, **named)
            return FailingFile(found, self.step) if "w" in mode or "a" in mode else found

        patch.setattr(builtins, "open", open_failing)

    def _failing(self, name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def failing(*args: Any, **named: Any) -> Any:
            self.step(name)
            return call(*args, **named)

        return failing


def whole(path: Path, text: str) -> None:
    save.save_file(path, text)


def setting(path: Path, text: str) -> None:
    save.change_config(path, lambda document: set_value(document, text, "ui", "theme"))


def calls(path: Path, text: str) -> None:
    StoredCalls(path).write(lambda memory: memory.called(CallKey("s", CallKind.TOOL, "t"), {"text": text}))


def eras(path: Path, text: str) -> None:
    kept = stored_eras(path)
    kept.change_later({"0123456789abcdef": Era(modern=False, version=text)})
    kept.close()


SILENT: tuple[Write, ...] = (eras,)
"""Files that may be lost: a failure is only logged."""


def is_whole(text: str) -> bool:
    """Whether it is a text that one of these functions has written completely."""
    return text in ("old", "new") or bool(json.loads(text) if text.startswith("{") else tomllib.loads(text))


@pytest.fixture
def steps() -> Iterator[Steps]:
    yield Steps()


@pytest.mark.parametrize("number", NUMBERS, ids=lambda number: errno.errorcode[number])
@pytest.mark.parametrize("write", [whole, setting, calls, *SILENT])
def test_a_failed_write_leaves_a_complete_file_and_no_other(
    tmp_path: Path, steps: Steps, write: Write, number: int
):
    for step in range(1, 200):
        folder = tmp_path / str(step)
        folder.mkdir()
        path = folder / "file"
        write(path, "old")
        before = path.read_text(encoding="utf-8")
        steps.left, steps.number, steps.failed = step, number, ""
        told = ""
        with pytest.MonkeyPatch.context() as patch:
            steps.install(patch)
            try:
                write(path, "new")
            except ConfigError as error:
                told = str(error)
        assert os.listdir(folder) == ["file"], steps.failed
        after = path.read_text(encoding="utf-8")
        if not steps.failed:
            assert after != before
            assert step > 5
            return
        assert is_whole(after), steps.failed
        if after == before:
            assert write in SILENT or told, steps.failed
    raise AssertionError("it never ends")
