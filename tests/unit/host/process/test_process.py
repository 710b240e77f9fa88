import os
import signal
import stat
import subprocess
import sys

import psutil
import pytest

from tests.cases import each_case
from tests.conftest import until, wait_until
from tui.core.errors import ServerError
from tui.core.servers import ServerSpec
from tui.host.process import process as exits
from tui.host.process.guard import OWNER_VARIABLE
from tui.host.process.process import (
    ProcessExit,
    ProcessUsage,
    ServerProcess,
    exit_sentence,
    peek,
    server_environment,
    spawn,
    starting_folder,
    usage,
)


def spec(command=sys.executable, *args, **rest):
    return ServerSpec("x.py", command, tuple(args), **rest)


def close_pipes(popen):
    for pipe in (popen.stdin, popen.stdout, popen.stderr):
        pipe.close()


def test_a_server_inherits_few_variables_and_never_a_key():
    ours = {
        "PATH": "/bin",
        "HOME": "/h",
        "LC_ALL": "C",
        "TERM": "xterm",
        "OPENAI_API_KEY": "sk-1",
        "HTTPS_PROXY": "http://me:secret@proxy",
        "LD_PRELOAD": "/evil.so",
        "SHELL": "() { :; }; echo",
    }
    assert server_environment({"TOKEN": "t", "PATH": "/opt"}, "me/1", ours) == {
        "PATH": "/opt",
        "HOME": "/h",
        "LC_ALL": "C",
        "TOKEN": "t",
        OWNER_VARIABLE: "me/1",
    }


@each_case(
    ("command", "message"),
    [
        ("no-such-program-anywhere", "`no-such-program-anywhere` was not found on PATH."),
        ("/no/such/program", "`/no/such/program` does not exist."),
        ("/tmp", "`/tmp` is a directory."),
        ("", "no command."),
        ("a\0b", "the command contains a NUL character."),
    ],
)
def test_a_command_that_cannot_be_started_is_rejected_with_the_reason(command, message):
    with pytest.raises(ServerError) as caught:
        spawn(spec(command), "me/1")
    assert caught.value.message == message
    assert caught.value.next_step == 'Check command in [servers."x.py"].'
    assert caught.value.where == "x.py"


def test_a_file_that_is_not_a_program_is_rejected_with_the_reason(tmp_path):
    plain, bare, lost = tmp_path / "plain", tmp_path / "bare", tmp_path / "lost"
    plain.write_text("text")
    bare.write_bytes(b"\x00\x01\x02")
    lost.write_text("#!/no/such/interpreter\n")
    bare.chmod(0o755)
    lost.chmod(0o755)
    for file, said in (
        (plain, "is not executable"),
        (plain / "below", "does not exist"),
        (bare, "is not a program: no binary format and no #! line"),
        (lost, "the interpreter in the first line of"),
    ):
        with pytest.raises(ServerError, match=said):
            spawn(spec(str(file)), "me/1")


def test_arguments_that_the_system_does_not_accept_are_rejected():
    with pytest.raises(ServerError, match="arguments and environment are too long"):
        spawn(spec(sys.executable, "x" * 10_000_000), "me/1")
    with pytest.raises(ServerError, match="invalid command line or environment") as caught:
        spawn(spec(sys.executable, "a\0b"), "me/1")
    assert caught.value.next_step == 'Check args in [servers."x.py"].'


def test_a_missing_working_directory_is_named(tmp_path):
    with pytest.raises(ServerError, match=r"working directory `.*gone` does not exist"):
        spawn(spec(cwd=str(tmp_path / "gone")), "me/1")


def folder_of(popen):
    return popen.communicate()[0].decode().strip()


WHERE = ("-c", "import os; print(os.getcwd())")


def test_a_server_without_a_working_directory_starts_in_its_own_private_folder(tmp_path):
    own = tmp_path / "state" / "servers" / "x"
    assert folder_of(spawn(spec(sys.executable, *WHERE, folder=str(own)), "me/1")) == str(own)
    assert {stat.S_IMODE(place.stat().st_mode) for place in (own, *list(own.parents)[:2])} == {0o700}


def test_files_in_the_folder_of_a_server_are_kept(tmp_path):
    (tmp_path / "x").mkdir()
    (tmp_path / "x" / "kept").write_text("")
    assert starting_folder(spec(folder=str(tmp_path / "x"))) == str(tmp_path / "x")
    assert (tmp_path / "x" / "kept").exists()


def test_a_server_does_not_import_modules_from_the_current_directory(tmp_path, monkeypatch):
    (tmp_path / "mine.py").write_text("print('executed')")
    monkeypatch.chdir(tmp_path)
    popen = spawn(spec(sys.executable, "-m", "mine", folder=str(tmp_path / "own")), "me/1")
    said, error = popen.communicate()
    assert said == b""
    assert b"No module named mine" in error


def test_a_folder_that_cannot_be_created_is_replaced_by_the_root(tmp_path):
    (tmp_path / "file").write_text("")
    (tmp_path / "mcptui").mkdir()
    (tmp_path / "mcptui" / "link").symlink_to(tmp_path)
    for place in (tmp_path / "file" / "x", tmp_path / "mcptui" / "link"):
        assert starting_folder(spec(folder=str(place))) == "/"


def test_a_relative_command_is_rejected_with_the_reason(tmp_path):
    with pytest.raises(ServerError, match="is relative, and the server starts in a folder of its own"):
        spawn(spec("./server", folder=str(tmp_path / "own")), "me/1")


@pytest.mark.parametrize("command", ["npx -y @scope/pkg", "no-such-x server.py"])
def test_a_command_line_in_command_is_rejected_as_such(command, tmp_path):
    with pytest.raises(ServerError) as caught:
        spawn(spec(command, folder=str(tmp_path / "own")), "me/1")
    assert caught.value.message == f"`{command}` is a command line, not a program."
    assert caught.value.next_step.startswith(f"Put `{command.split()[0]}` in command and the rest in args")


def test_a_relative_folder_on_path_is_not_searched(tmp_path, monkeypatch):
    (tmp_path / "npx").write_text("#!/bin/sh\n")
    (tmp_path / "npx").chmod(0o755)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", f".{os.pathsep}{os.pathsep}/nowhere")
    with pytest.raises(ServerError, match="`npx` was not found on PATH"):
        spawn(spec("npx"), "me/1")


def test_arguments_reach_the_program_unchanged_and_without_a_shell(tmp_path):
    popen = spawn(
        spec(
            sys.executable,
            "-c",
            "import sys,os; print(sys.argv[1:], os.getcwd())",
            "$HOME; ls",
            "*",
            cwd=str(tmp_path),
        ),
        "me/1",
    )
    said = popen.communicate()[0].decode()
    assert said == f"['$HOME; ls', '*'] {os.path.realpath(tmp_path)}\n"


def test_a_server_inherits_no_descriptors_except_its_three_pipes():
    with open(os.devnull) as other:
        os.set_inheritable(other.fileno(), True)
        popen = spawn(
            spec(sys.executable, "-c", "import os; print(sorted(map(int, os.listdir('/proc/self/fd')))[:4])"),
            "m",
        )
        assert popen.communicate()[0].split(b",")[:3] == [b"[0", b" 1", b" 2"]
        assert popen.returncode == 0


@pytest.mark.parametrize("platform", [sys.platform, "other"])
async def test_the_exit_of_the_leader_is_recorded_with_code_and_time(monkeypatch, platform):
    """With a pidfd, or by polling."""
    said = []
    popen = spawn(spec(sys.executable, "-c", "raise SystemExit(3)"), "me/1")
    monkeypatch.setattr(exits.sys, "platform", platform)
    process = ServerProcess(popen, lambda: said.append("ended"))
    await until(process.exited.is_set)
    assert (process.exit.code, process.exit.signal, said) == (3, "", ["ended"])
    assert 0 < process.exit.after_seconds < 10
    os.killpg(process.pid, signal.SIGKILL)  # the group still exists: its dead leader is not reaped
    process.destroy()
    close_pipes(popen)


async def test_a_signal_reaches_the_whole_group_and_none_is_sent_after_reaping(monkeypatch):
    grandchild = "print(1, flush=True); import time; time.sleep(60)"
    code = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {grandchild!r}])"
    popen = spawn(spec(sys.executable, "-c", code), "me/1")
    process = ServerProcess(popen, lambda: None)
    assert popen.stdout.read(1) == b"1"
    process.signal_group(signal.SIGKILL)
    assert popen.stdout.read() == b"\n"  # the grandchild held this pipe
    process.destroy()
    assert process.exit.signal == "SIGKILL"
    monkeypatch.setattr(os, "killpg", lambda *_: pytest.fail("a signal to a group that may be a stranger's"))
    process.signal_group(signal.SIGKILL)
    close_pipes(popen)


# ---- exits ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("returncode", "sentence"),
    [
        (0, "exited with code 0 after 0.3 s"),
        (17, "exited with code 17 after 0.3 s"),
        (-9, "was terminated by SIGKILL after 0.3 s"),
        (-63, "was terminated by signal 63 after 0.3 s"),
    ],
)
def test_an_exit_is_described_in_a_sentence(returncode, sentence):
    assert ProcessExit.from_returncode(returncode, 0.3).sentence() == sentence


def test_an_exit_sentence_includes_the_reason_and_the_last_line():
    ended = ProcessExit(3, "", 0.3)
    assert exit_sentence(ended, "", "") == "the server exited with code 3 after 0.3 s."
    assert exit_sentence(ended, "", "bye " + "x" * 300).endswith("Its log: bye…")
    assert exit_sentence(ended, "it was deaf", "bye") == (
        "the server exited with code 3 after 0.3 s: it was deaf. Its log: bye"
    )


def test_without_waitid_an_exit_is_still_detected(monkeypatch):
    monkeypatch.delattr(os, "waitid")
    process = subprocess.Popen([sys.executable, "-c", "raise SystemExit(5)"])
    wait_until(lambda: peek(process) is not None)
    assert peek(process) == 5


# ---- usage ----------------------------------------------------------------------------------------------


@pytest.mark.skipif(sys.platform == "win32", reason="there are no groups")
def test_descendants_and_the_rest_of_the_group_belong_to_the_leader():
    code = (
        "import subprocess, sys, time\n"
        "own = subprocess.Popen(['sleep', '60'], start_new_session=True)\n"
        "left = subprocess.run(['sh', '-c', 'sleep 60 >&2 & echo $!'], stdout=subprocess.PIPE).stdout\n"
        "print(own.pid, int(left), flush=True)\n"
        "time.sleep(60)"
    )
    leader = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, start_new_session=True)
    own, left = map(int, leader.stdout.readline().split())
    try:
        assert set(usage(leader.pid).pids) == {leader.pid, own, left}
    finally:
        os.kill(own, signal.SIGKILL)
        os.killpg(leader.pid, signal.SIGKILL)
        leader.communicate()
    assert usage(leader.pid) == ProcessUsage()


def test_without_a_process_list_only_the_leader_is_found(monkeypatch):
    monkeypatch.setattr(psutil, "pids", list)
    assert usage(100) == ProcessUsage((100,))


@pytest.mark.skipif(sys.platform == "win32", reason="not reported there")
def test_the_resource_usage_of_this_process_is_measured():
    found = usage(os.getpid())
    assert found.pids[0] == os.getpid()
    assert found.memory is not None
    assert found.memory > 1_000_000
    assert found.cpu_seconds is not None
    assert found.cpu_seconds > 0
