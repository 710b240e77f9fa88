"""A file is written completely or not at all; links are followed, and devices and FIFOs are written to."""

import os
import pty
import select
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tui.core.files import atomic_write, is_replaceable


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def test_a_new_file_is_readable_by_its_owner_only(tmp_path: Path):
    assert atomic_write(tmp_path / "a", ["x\n", "é"]) == 4
    assert (tmp_path / "a").read_bytes() == b"x\n\xc3\xa9"
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o600


def test_the_old_file_is_kept_if_writing_fails(tmp_path: Path):
    (tmp_path / "a").write_text("before")

    def failing() -> Iterator[str]:
        yield "half"
        raise OSError(28, os.strerror(28))

    with pytest.raises(OSError, match="No space"):
        atomic_write(tmp_path / "a", failing())
    assert (tmp_path / "a").read_text() == "before" and names(tmp_path) == {"a"}


@pytest.mark.parametrize("there", [True, False])
def test_a_symbolic_link_is_followed(tmp_path: Path, there: bool):
    (tmp_path / "folder").mkdir()
    target, link = tmp_path / "folder" / "target", tmp_path / "link"
    link.symlink_to(Path("folder") / "target")
    if there:
        target.write_text("before")
    atomic_write(link, ["after"])
    assert link.is_symlink() and target.read_text() == "after"
    assert names(tmp_path) == {"folder", "link"} and names(target.parent) == {"target"}


@pytest.mark.parametrize("linked", [False, True])
def test_a_fifo_is_written_to(tmp_path: Path, linked: bool):
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    (tmp_path / "link").symlink_to(fifo)
    read: list[str] = []
    reader = threading.Thread(target=lambda: read.append(fifo.read_text()))
    reader.start()
    assert atomic_write(tmp_path / "link" if linked else fifo, ["a" * 100_000, "b"]) == 100_001
    reader.join()
    assert read == ["a" * 100_000 + "b"]
    assert stat.S_ISFIFO(fifo.stat().st_mode) and names(tmp_path) == {"fifo", "link"}


def test_a_fifo_without_a_reader_is_an_error_and_does_not_block(tmp_path: Path):
    os.mkfifo(tmp_path / "fifo")
    with pytest.raises(OSError, match="No such device"):
        atomic_write(tmp_path / "fifo", ["a"], wait=False)


def test_a_device_is_written_to(tmp_path: Path):
    main, terminal = pty.openpty()
    try:
        link = tmp_path / "terminal"
        link.symlink_to(os.ttyname(terminal))
        before = os.stat(link)
        assert atomic_write(link, ["to the terminal"]) == 15
        assert os.read(main, 100) == b"to the terminal"
        assert os.path.samestat(before, os.stat(link)) and link.is_symlink()
    finally:
        os.close(main)
        os.close(terminal)


def test_a_name_of_maximum_length_is_written(tmp_path: Path):
    path = tmp_path / ("n" * 255)
    atomic_write(path, ["x"])
    atomic_write(path, ["y"])
    assert path.read_text() == "y" and len(names(tmp_path)) == 1


@pytest.mark.parametrize(
    ("name", "reason"),
    [("", "Is a directory"), ("no/file", "No such file"), ("n" * 256, "too long"), ("file/x", "Not a dir")],
)
def test_a_path_that_cannot_be_written_is_an_error(tmp_path: Path, name: str, reason: str):
    (tmp_path / "file").write_text("mine")
    with pytest.raises(OSError, match=reason):
        atomic_write(tmp_path / name, ["x"])
    assert names(tmp_path) == {"file"}


def test_the_requested_permissions_are_set(tmp_path: Path):
    atomic_write(tmp_path / "a", ["x"], mode=0o640)
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o640


@pytest.mark.parametrize("name", ["/proc/self/fd/{}", "/dev/fd/{}", "link"])
def test_an_open_file_named_by_its_descriptor_is_appended_to(tmp_path: Path, name: str):
    file = tmp_path / "file"
    file.write_text("before\n")
    with file.open("a") as opened:
        named = name.format(opened.fileno())
        if name == "link":
            (tmp_path / "link").symlink_to(f"/proc/self/fd/{opened.fileno()}")
            named = str(tmp_path / "link")
        assert not is_replaceable(Path(named))
        assert atomic_write(Path(named), ["after\n"]) == 6
        assert os.path.samestat(os.fstat(opened.fileno()), file.stat())
    assert file.read_text() == "before\nafter\n"


def test_an_open_file_is_written_at_its_current_position(tmp_path: Path):
    file = tmp_path / "file"
    with file.open("w") as opened:
        opened.write("before\n")
        opened.flush()
        atomic_write(Path(f"/dev/fd/{opened.fileno()}"), ["after\n"])
        opened.write("last\n")
    assert file.read_text() == "before\nafter\nlast\n"


@pytest.mark.skipif(sys.platform != "linux", reason="/proc")
def test_an_open_file_of_another_process_is_appended_to(tmp_path: Path):
    file = tmp_path / "file"
    file.write_text("before\n")
    with file.open("a") as opened, subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=opened) as other:
        try:
            atomic_write(Path(f"/proc/{other.pid}/fd/1"), ["after\n"])
        finally:
            other.kill()
    assert file.read_text() == "before\nafter\n"


def test_a_closed_descriptor_is_an_error(tmp_path: Path):
    with (tmp_path / "file").open("w") as opened:
        name = Path(f"/dev/fd/{opened.fileno()}")
    with pytest.raises(OSError, match="Bad file descriptor"):
        atomic_write(name, ["x"])


def test_writing_to_a_fifo_that_is_not_read_can_be_cancelled(tmp_path: Path):
    os.mkfifo(tmp_path / "fifo")
    reader = os.open(tmp_path / "fifo", os.O_RDONLY | os.O_NONBLOCK)
    stop, failed = threading.Event(), list[OSError]()

    def write() -> None:
        try:
            atomic_write(tmp_path / "fifo", ["a" * 1_000_000], wait=False, stop=stop)
        except OSError as error:
            failed.append(error)

    writer = threading.Thread(target=write, daemon=True)
    writer.start()
    try:
        assert select.select([reader], [], [], 10)[0]
        stop.set()
        writer.join(10)
        assert not writer.is_alive() and isinstance(failed[0], InterruptedError)
    finally:
        os.close(reader)


def test_cancelling_a_write_keeps_the_old_file(tmp_path: Path):
    (tmp_path / "a").write_text("before")
    stop = threading.Event()

    def pieces() -> Iterator[str]:
        yield "half"
        stop.set()
        yield "rest"

    with pytest.raises(InterruptedError):
        atomic_write(tmp_path / "a", pieces(), stop=stop)
    assert (tmp_path / "a").read_text() == "before" and names(tmp_path) == {"a"}
