"""Private folders and files: their modes under any umask, and links in their place."""

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tui.core.files import LinkError, links_in, make_folder, open_private, refuse_links

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


def test_links_above_mcptuis_own_folder_are_followed(tmp_path: Path):
    (tmp_path / "disk").mkdir()
    (tmp_path / "state").symlink_to(tmp_path / "disk")
    folder = tmp_path / "state" / "mcptui"
    make_folder(folder)
    os.close(open_private(folder / "log", NEW))
    refuse_links([folder / "log", folder / "absent", folder / "absent" / "too"])
    assert (tmp_path / "disk" / "mcptui" / "log").is_file()


def test_a_link_above_the_deepest_folder_named_mcptui_is_followed(tmp_path: Path):
    home = tmp_path / "mcptui"
    (tmp_path / "disk").mkdir()
    home.mkdir()
    (home / "state").symlink_to(tmp_path / "disk")
    make_folder(home / "state" / "mcptui" / "sessions")
    assert (tmp_path / "disk" / "mcptui" / "sessions").is_dir()


def test_a_folder_chosen_by_the_person_may_be_a_link(tmp_path: Path):
    (tmp_path / "disk").mkdir()
    (tmp_path / "recordings").symlink_to(tmp_path / "disk")
    make_folder(tmp_path / "recordings")
    os.close(open_private(tmp_path / "recordings" / "one", NEW))
    assert (tmp_path / "disk" / "one").is_file()


def test_a_pipe_in_place_of_a_file_is_refused_without_blocking(tmp_path: Path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="not a regular file"):
        open_private(tmp_path / "pipe", os.O_RDONLY)


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
