"""Reading files and state files."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tui.core.errors import ConfigError
from tui.settings.files import Unreadable, locked, read_bounded, refused_links, toml_of
from tui.settings.state.stored_calls import StoredCalls
from tui.ui.chat.outbox import load_history


def test_text_is_read_without_its_byte_order_mark(tmp_path: Path):
    path = tmp_path / "a"
    path.write_bytes(b"\xef\xbb\xbfx = 1\r\n")
    assert read_bounded(path) == "x = 1\r\n"


def test_a_file_of_exactly_the_limit_is_read_and_one_byte_more_is_not(tmp_path: Path):
    path = tmp_path / "a"
    path.write_bytes(b"x" * 10)
    assert read_bounded(path, 10) == "x" * 10
    with pytest.raises(Unreadable, match="is larger than"):
        read_bounded(path, 9)


def test_a_missing_file_differs_from_an_unreadable_one(tmp_path: Path):
    (tmp_path / "file").touch()
    for missing in ("nothing", "no folder/nothing", "file/nothing"):
        with pytest.raises(FileNotFoundError):
            read_bounded(tmp_path / missing)


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir])
def test_anything_but_a_regular_file_is_refused_without_leaking_a_descriptor(tmp_path: Path, make):
    make(tmp_path / "a")
    before = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0
    for _ in range(5):
        with pytest.raises(Unreadable):
            read_bounded(tmp_path / "a")
    assert not before or len(os.listdir("/proc/self/fd")) == before


def test_a_device_is_refused():
    with pytest.raises(Unreadable, match="not a regular file"):
        read_bounded(Path("/dev/zero"))


def test_a_path_with_a_null_byte_is_refused():
    with pytest.raises(Unreadable):
        read_bounded(Path("a\0b"))


ROUNDS = 25

CHANGES = {
    "approvals": """
from tui.settings.save import change_config
from tui.settings.save import set_value, texts_at
KEY = "approvals", "remembered"
def change(name): change_config(path, lambda doc: set_value(doc, [*texts_at(doc, *KEY), name], *KEY))
""",
    "calls": """
from tui.core.workbench import CallKey, CallKind
from tui.settings.state.stored_calls import StoredCalls
key = CallKey("s", CallKind.TOOL, "t")
def change(name): StoredCalls(path).write(lambda memory: memory.with_saved(key, name, {}))
""",
    "history": """
from tui.ui.chat import outbox
from tui.ui.chat.outbox import HistoryEntry, add_to_history, load_history
outbox.MOST = 50
def change(name):
    add_to_history(path, HistoryEntry(name))
    load_history(path)
""",
}

READ: dict[str, Callable[[Path], set[str]]] = {
    "approvals": lambda path: set(_toml(path)["approvals"]["remembered"]),
    "calls": lambda path: {name for calls in StoredCalls(path).read().saved.values() for name in calls},
    "history": lambda path: {kept.text for kept in load_history(path)},
}

PROGRAM = """
import sys
from pathlib import Path
path, who = Path(sys.argv[1]), sys.argv[2]
{change}
print("ready", flush=True)
sys.stdin.readline()
for number in range({rounds}):
    change(f"{{who}}{{number}}")
"""


def _toml(path: Path) -> dict[str, dict[str, list[str]]]:
    import tomllib

    return tomllib.loads(path.read_text())


@pytest.mark.parametrize("what", CHANGES)
def test_two_processes_that_change_one_file_lose_nothing(tmp_path: Path, what: str):
    path = tmp_path / ("history" if what == "history" else "file.toml")
    if what == "history":  # long enough that the first load shortens it
        path.write_text("".join(json.dumps(f"old {number}") + "\n" for number in range(1_000)))
    code = PROGRAM.format(change=CHANGES[what], rounds=ROUNDS)
    pipe = subprocess.PIPE
    programs = [
        subprocess.Popen([sys.executable, "-c", code, str(path), who], stdin=pipe, stdout=pipe)
        for who in ("a", "b")
    ]
    for program in programs:
        assert program.stdout is not None and program.stdout.readline() == b"ready\n"
    for program in programs:
        assert program.stdin is not None
        program.stdin.write(b"\n")
        program.stdin.flush()
    for program in programs:
        program.communicate(timeout=50)
        assert program.returncode == 0
    expected = {f"{who}{number}" for who in ("a", "b") for number in range(ROUNDS)}
    assert expected - READ[what](path) == set()
    assert [one.name for one in tmp_path.iterdir()] == [path.name]


def test_waiting_for_a_lock_ends_with_an_error(tmp_path: Path):
    with locked(tmp_path / "file"):
        with pytest.raises(ConfigError, match=r"being changed by another mcptui\. Nothing was changed"):
            with locked(tmp_path / "file", seconds=0):
                raise AssertionError("two have the lock")
    with locked(tmp_path / "file", seconds=0):
        pass


def test_a_folder_that_cannot_be_created_is_not_reported_as_a_lock_error(tmp_path: Path):
    (tmp_path / "taken").write_text("")
    with locked(tmp_path / "taken" / "file"):
        pass


def test_the_lock_of_a_killed_process_is_released(tmp_path: Path):
    code = (
        "import sys; from pathlib import Path; from tui.settings.files import locked\n"
        "with locked(Path(sys.argv[1])): print('held', flush=True); sys.stdin.read()"
    )
    pipe = subprocess.PIPE
    holder = subprocess.Popen([sys.executable, "-c", code, str(tmp_path / "f")], stdin=pipe, stdout=pipe)
    assert holder.stdout is not None and holder.stdout.readline() == b"held\n"
    with pytest.raises(ConfigError), locked(tmp_path / "f", seconds=0):
        pass
    holder.kill()
    holder.communicate()
    with locked(tmp_path / "f", seconds=0):
        pass


def test_each_symlink_in_the_state_and_data_folder_is_reported(tmp_path: Path):
    folders = tmp_path / "state" / "mcptui", tmp_path / "data" / "mcptui"
    assert refused_links(*folders) == []
    (tmp_path / "state" / "mcptui").mkdir(parents=True)
    (tmp_path / "state" / "mcptui" / "mcptui.log").symlink_to("/etc/passwd")
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "mcptui").symlink_to(tmp_path)
    log, data = refused_links(*folders)
    assert log == (
        f"{tmp_path}/state/mcptui/mcptui.log is a symbolic link, which mcptui does not follow here. "
        "Nothing is saved there. Replace the link with the file or folder itself."
    )
    assert data.startswith(f"{tmp_path}/data/mcptui is a symbolic link")


@pytest.mark.parametrize("key", ["a", "'a b'"])
def test_a_key_of_thousands_of_parts_is_refused_at_once(key: str):
    with pytest.raises(ValueError, match=r"20,001 parts \(at line 2"):
        toml_of(f"x = 1\n{'.'.join([key] * 20_001)} = 1\n")


def test_a_text_with_many_dots_is_no_key():
    assert toml_of(f'x = "{"." * 5_000}"') == {"x": "." * 5_000}
