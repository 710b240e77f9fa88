"""A file is written completely or not at all; links are followed, and devices and FIFOs are written to."""

import os
import pty
import select
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.cases import each_case
from tui.core.errors import encoding_of
from tui.core.files import (
    LinkError,
    NotText,
    atomic_write,
    is_replaceable,
    links_in,
    make_folder,
    open_private,
    refuse_links,
    short_path,
    text_of,
)


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


@pytest.mark.parametrize(("more", "mode"), [({}, 0o600), ({"mode": 0o640}, 0o640)])
def test_a_new_file_is_readable_by_its_owner_only_unless_requested(tmp_path: Path, more, mode):
    assert atomic_write(tmp_path / "a", ["x\n", "é"], **more) == 4
    assert (tmp_path / "a").read_bytes() == b"x\n\xc3\xa9"
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == mode


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


def test_an_open_file_is_written_at_its_current_position_and_a_closed_one_is_an_error(tmp_path: Path):
    file = tmp_path / "file"
    with file.open("w") as opened:
        opened.write("before\n")
        opened.flush()
        named = Path(f"/dev/fd/{opened.fileno()}")
        atomic_write(named, ["after\n"])
        opened.write("last\n")
    assert file.read_text() == "before\nafter\nlast\n"
    with pytest.raises(OSError, match="Bad file descriptor"):
        atomic_write(named, ["x"])


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


NEW = os.O_CREAT | os.O_WRONLY


@contextmanager
def umask(mask: int) -> Iterator[None]:
    before = os.umask(mask)
    try:
        yield
    finally:
        os.umask(before)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.lstat().st_mode)


@pytest.mark.parametrize("mask", [0, 0o022, 0o077, 0o777])
@pytest.mark.parametrize("place", ["state/mcptui/servers/files", "elsewhere/recordings"])
def test_folders_and_files_are_private_whatever_the_umask(tmp_path: Path, mask: int, place: str):
    folder = tmp_path / place
    with umask(mask):
        make_folder(folder)
        os.close(open_private(folder / "log", NEW))
    made = [one for one in (folder, *folder.parents) if one.is_relative_to(tmp_path) and one != tmp_path]
    assert [oct(mode(one)) for one in made] == [oct(0o700)] * len(made)
    assert oct(mode(folder / "log")) == oct(0o600)


def test_an_existing_folder_keeps_its_mode(tmp_path: Path):
    (tmp_path / "state").mkdir(mode=0o755)
    before = mode(tmp_path / "state")
    make_folder(tmp_path / "state" / "mcptui")
    make_folder(tmp_path / "state" / "mcptui")
    assert mode(tmp_path / "state") == before


def test_a_file_readable_by_others_is_made_private_when_written(tmp_path: Path):
    log = tmp_path / "log"
    log.write_text("old")
    log.chmod(0o644)
    os.close(open_private(log, NEW | os.O_APPEND))
    assert oct(mode(log)) == oct(0o600) and log.read_text() == "old"


@pytest.mark.parametrize("flags", [NEW, NEW | os.O_EXCL, os.O_RDONLY, os.O_WRONLY | os.O_APPEND])
@pytest.mark.parametrize("leads", ["to a file", "nowhere"])
def test_a_link_in_place_of_a_file_is_refused_with_an_explanation(tmp_path: Path, flags: int, leads: str):
    target = tmp_path / "target"
    if leads == "to a file":
        target.write_text("theirs")
    link = tmp_path / "log"
    link.symlink_to(target)
    with pytest.raises(LinkError) as refused:
        open_private(link, flags)
    assert refused.value.strerror == (
        f"{link} is a symbolic link, which mcptui does not follow here. Remove it"
    )
    assert target.exists() == (leads == "to a file") and (
        not target.exists() or target.read_text() == "theirs"
    )


@pytest.mark.parametrize("linked", ["mcptui", "mcptui/sessions"])
def test_a_link_in_place_of_mcptuis_own_folder_is_refused(tmp_path: Path, linked: str):
    state, elsewhere = tmp_path / "state", tmp_path / "elsewhere"
    (state / linked).parent.mkdir(parents=True)
    (elsewhere / "sessions").mkdir(parents=True)
    (state / linked).symlink_to(elsewhere)
    folder = state / "mcptui" / "sessions"
    for refuses in (
        lambda: make_folder(folder),
        lambda: open_private(folder / "a", NEW),
        lambda: refuse_links([folder / "a"]),
    ):
        with pytest.raises(LinkError, match=f"{linked} is a symbolic link"):
            refuses()
    assert [one.name for one in elsewhere.rglob("*")] == ["sessions"]


@pytest.mark.parametrize(
    ("link", "below"), [("state", "mcptui"), ("mcptui/state", "mcptui/sessions"), ("recordings", "")]
)
def test_links_above_the_deepest_folder_named_mcptui_and_to_chosen_folders_are_followed(
    tmp_path: Path, link: str, below: str
):
    (tmp_path / "disk").mkdir()
    (tmp_path / link).parent.mkdir(exist_ok=True)
    (tmp_path / link).symlink_to(tmp_path / "disk")
    folder = tmp_path / link / below
    make_folder(folder)
    os.close(open_private(folder / "log", NEW))
    refuse_links([folder / "log", folder / "absent", folder / "absent" / "too"])
    assert (tmp_path / "disk" / below / "log").is_file()


def test_a_fifo_without_a_reader_is_an_error_and_does_not_block(tmp_path: Path):
    os.mkfifo(tmp_path / "fifo")
    with pytest.raises(OSError, match="No such device"):
        atomic_write(tmp_path / "fifo", ["a"], wait=False)
    with pytest.raises(OSError, match="not a regular file"):
        open_private(tmp_path / "fifo", os.O_RDONLY)


def test_a_file_in_place_of_a_folder_is_an_error_with_its_path(tmp_path: Path):
    (tmp_path / "mcptui").write_text("in the way")
    with pytest.raises(NotADirectoryError) as refused:
        make_folder(tmp_path / "mcptui" / "sessions")
    assert refused.value.filename == str(tmp_path / "mcptui")


def test_no_descriptor_is_left_open(tmp_path: Path):
    folder = tmp_path / "mcptui"
    make_folder(folder)
    (folder / "link").symlink_to("/")
    before = len(os.listdir("/dev/fd"))
    for _ in range(5):
        os.close(open_private(folder / "log", NEW))
        refuse_links([folder / "log", folder / "absent" / "x"])
        for path in (folder / "link", folder / "link" / "x"):
            with pytest.raises(LinkError):
                open_private(path, os.O_RDONLY)
    assert len(os.listdir("/dev/fd")) == before


def test_links_are_found_in_a_folder(tmp_path: Path):
    folder = tmp_path / "mcptui"
    folder.mkdir()
    (folder / "mcptui.log").symlink_to("/dev/null")
    (folder / "history").write_text("")
    assert links_in(folder) == [folder / "mcptui.log"]
    (tmp_path / "linked").symlink_to(folder)
    assert links_in(tmp_path / "linked") == [tmp_path / "linked"]
    assert links_in(tmp_path / "absent") == []


JSON = '{"mcpServers": {"a": {"command": "x"}}}'


@each_case("codec", ["utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "utf-32-be"])
def test_a_text_in_utf_16_or_32_is_named_with_and_without_a_mark(codec: str):
    raw = JSON.encode(codec)
    assert encoding_of(raw) == codec[:6].upper()
    with pytest.raises(NotText, match=rf"is {codec[:6].upper()} text, not UTF-8. Save it as UTF-8"):
        text_of(raw)


@each_case(
    "raw",
    [
        *(b"", b"a", JSON.encode(), "\ufeffé".encode(), b"a\0b" * 100, b"\0" * 2, b"\0" * 200, b"\xff"),
        b"SQLite format 3\0\x10\0\1\1\0\x40\x20\x20\0\0\0\3\0\0\0\2" + b"\0" * 72,
        b"\x7fELF\2\1\1" + b"\0" * 9 + b"\3\0\x3e\0\1\0\0\0" + b"\0" * 40,
    ],
)
def test_any_other_content_is_neither(raw: bytes):
    assert encoding_of(raw) == ""


def test_other_faults_are_named_with_their_line_and_a_byte_order_mark_is_removed():
    with pytest.raises(NotText, match="is not text: null byte in line 2"):
        text_of(b"a\n\0")
    with pytest.raises(NotText, match="is not UTF-8 text: byte 0xe9 in line 3"):
        text_of(b"a\n\n\xe9")
    assert text_of("\ufeffé\r\n".encode()) == "é\r\n"


@pytest.mark.parametrize(
    ("folder", "home", "shown"),
    [
        ("/home/me/demo", "/home/me", "~/demo"),
        ("/home/me", "/home/me", "~"),
        ("/home/melanie", "/home/me", "/home/melanie"),
        ("/srv", "/", "/srv"),
    ],
)
def test_a_folder_in_the_home_folder_is_shortened(monkeypatch, folder: str, home: str, shown: str):
    monkeypatch.setenv("HOME", home)
    assert short_path(folder) == shown
