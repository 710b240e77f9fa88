"""Sockets between processes of one user: their place, their peers, and those that dead processes leave."""

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tui.runtime.local_socket import (
    MAX_PATH,
    Peer,
    connected,
    is_own,
    line_of,
    listening,
    object_of,
    peer_of,
    removed,
    socket_files,
    sockets_folder,
)
from tui.settings.locations import state_dir


@pytest.fixture
def short() -> Iterator[Path]:
    """Yield a folder whose path is short enough for sockets."""
    with TemporaryDirectory(prefix="up") as folder:
        yield Path(folder)


def test_the_runtime_folder_is_used_only_if_it_is_the_users_alone(short: Path):
    runtime = short / "runtime"
    runtime.mkdir(mode=0o700)
    env = {"XDG_RUNTIME_DIR": str(runtime)}
    assert sockets_folder("up", env).parent == runtime / "mcptui"
    runtime.chmod(0o755)
    assert "runtime" not in str(sockets_folder("up", env))
    for unusable in ("", "relative", str(short / "missing")):
        assert "runtime" not in str(sockets_folder("up", {"XDG_RUNTIME_DIR": unusable}))


def test_processes_with_another_state_folder_do_not_meet(short: Path, monkeypatch: pytest.MonkeyPatch):
    short.chmod(0o700)
    found = set()
    for home in ("a", "b"):
        monkeypatch.setenv("XDG_STATE_HOME", str(short / home))
        found.add(sockets_folder("up", {"XDG_RUNTIME_DIR": str(short)}))
    assert {one.parent for one in found} == {short / "mcptui"} and len(found) == 2


def test_without_one_it_is_the_state_folder(short: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(short))
    assert sockets_folder("up", {}) == state_dir() / "run" / "up"


def test_a_path_that_is_too_long_for_a_socket_gets_a_short_one(short: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(short / ("x" * MAX_PATH)))
    path = sockets_folder("up", {}) / "app-4194304.sock"
    assert len(os.fsencode(path)) <= MAX_PATH
    with closing(listening(path)):
        assert path.parent.stat().st_mode & 0o777 == 0o700 and socket_files(path.parent) == [path]
    removed(path)
    assert not path.parent.exists()


def test_a_socket_is_private_and_both_ends_know_the_other(short: Path):
    path = short / "run" / "a.sock"
    with closing(listening(path)) as server:
        server.setblocking(True)
        assert path.stat().st_mode & 0o777 == 0o600 and path.parent.stat().st_mode & 0o777 == 0o700
        client = connected(path)
        assert client is not None
        with client, server.accept()[0] as accepted:
            assert peer_of(accepted) == peer_of(client) == Peer(os.getpid(), os.geteuid())


def test_others_have_no_access_to_the_folder_or_nothing_listens(short: Path):
    short.chmod(0o755)
    with pytest.raises(PermissionError, match=str(short)):
        listening(short / "a.sock")
    assert socket_files(short) == ()


def test_a_socket_of_a_dead_process_is_noticed_and_removed(short: Path):
    path = short / "a.sock"
    program = (
        "import os, sys; from pathlib import Path; from tui.runtime.local_socket import listening;"
        "held = listening(Path(sys.argv[1])); os.kill(os.getpid(), 9)"
    )
    subprocess.run([sys.executable, "-c", program, str(path)], check=False)
    assert path.exists() and connected(path) is None and not path.exists()


def test_a_new_process_takes_the_place_of_a_dead_one(short: Path):
    path = short / "a.sock"
    listening(path).close()
    with closing(listening(path)), connected(path) or pytest.fail("not connected"):
        pass


def test_only_a_process_of_the_user_is_accepted():
    assert is_own(Peer(1, os.geteuid())) and not is_own(Peer(1, os.geteuid() + 1)) and not is_own(None)
    assert not is_own(Peer(1, 0), uid=1000) and not is_own(Peer(1, 1000), uid=0)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can be another user")
def test_another_user_is_recognized(short: Path):
    path = short / "a.sock"
    with closing(listening(path)) as server:
        server.setblocking(True)
        short.chmod(0o755)
        path.chmod(0o666)
        program = "import os, socket, sys; os.setuid(65534); made = socket.socket(socket.AF_UNIX);"
        program += "made.connect(sys.argv[1]); made.recv(1)"
        with subprocess.Popen([sys.executable, "-c", program, str(path)]) as other:
            accepted, _ = server.accept()
            with accepted:
                assert peer_of(accepted) == Peer(other.pid, 65534) and not is_own(peer_of(accepted))


def test_what_is_no_socket_of_a_process_has_no_peer():
    ours, theirs = socket.socketpair(socket.AF_INET) if sys.platform == "win32" else _inet_pair()
    with ours, theirs:
        assert not is_own(peer_of(ours), uid=12345)


def _inet_pair() -> tuple[socket.socket, socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        client = socket.create_connection(server.getsockname())
        return client, server.accept()[0]


def test_lines_are_bounded_objects(monkeypatch: pytest.MonkeyPatch):
    assert object_of(line_of({"a": "é\n"})) == {"a": "é\n"}
    for damaged in (b"", b"[1]\n", b"{\n", b"[" * 100_000):
        assert object_of(damaged) == {}
    monkeypatch.setattr("tui.runtime.local_socket.MAX_LINE", 10)
    with pytest.raises(ValueError, match="too large"):
        line_of("x" * 10)
