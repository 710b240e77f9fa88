import os
import signal
import sys

import pytest

from tests.conftest import until
from tui.core.errors import ServerError
from tui.core.servers import ServerSpec
from tui.host.process.process import OWNER_VARIABLE, ServerProcess, server_environment, spawn


def spec(command=sys.executable, *args, **rest):
    return ServerSpec("x", command, tuple(args), **rest)


def close_pipes(popen):
    for pipe in (popen.stdin, popen.stdout, popen.stderr):
        pipe.close()


def test_a_server_inherits_little_and_never_a_key():
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


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("no-such-program-anywhere", "`no-such-program-anywhere` was not found on PATH."),
        ("/no/such/program", "`/no/such/program` does not exist."),
        ("/tmp", "`/tmp` is a directory."),
        ("", "it has no command."),
        ("a\0b", "its command holds a NUL character."),
    ],
)
def test_a_command_that_cannot_be_started_is_refused_with_the_reason(command, message):
    with pytest.raises(ServerError) as caught:
        spawn(spec(command), "me/1")
    assert caught.value.message == message
    assert caught.value.next_step == "Check command in [servers.x]."
    assert caught.value.where == "x"


def test_a_file_that_is_no_program_is_refused_with_the_reason(tmp_path):
    plain = tmp_path / "plain"
    plain.write_text("text")
    for command, said in ((plain, "is not executable"), (plain / "below", "does not exist")):
        with pytest.raises(ServerError, match=said):
            spawn(spec(str(command)), "me/1")


def test_a_script_without_an_interpreter_is_refused_with_the_reason(tmp_path):
    bare, lost = tmp_path / "bare", tmp_path / "lost"
    bare.write_bytes(b"\x00\x01\x02")
    lost.write_text("#!/no/such/interpreter\n")
    for file, said in ((bare, "neither a binary format nor a #! line"), (lost, "names an interpreter")):
        file.chmod(0o755)
        with pytest.raises(ServerError, match=said):
            spawn(spec(str(file)), "me/1")


def test_arguments_that_the_system_does_not_take_are_refused():
    with pytest.raises(ServerError, match="too long for the system"):
        spawn(spec(sys.executable, "x" * 10_000_000), "me/1")
    with pytest.raises(ServerError, match="not valid") as caught:
        spawn(spec(sys.executable, "a\0b"), "me/1")
    assert caught.value.next_step == "Check args in [servers.x]."


def test_a_missing_working_directory_is_named(tmp_path):
    with pytest.raises(ServerError, match=r"working directory `.*gone` does not exist"):
        spawn(spec(cwd=str(tmp_path / "gone")), "me/1")


def test_arguments_reach_the_program_as_they_are_without_a_shell(tmp_path):
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


def test_a_server_has_no_descriptor_of_ours_but_its_three_pipes():
    with open(os.devnull) as other:
        os.set_inheritable(other.fileno(), True)
        popen = spawn(
            spec(sys.executable, "-c", "import os; print(sorted(map(int, os.listdir('/proc/self/fd')))[:4])"),
            "m",
        )
        assert popen.communicate()[0].split(b",")[:3] == [b"[0", b" 1", b" 2"]
        assert popen.returncode == 0


async def test_the_end_of_a_leader_is_noted_with_code_and_time():
    said = []
    popen = spawn(spec(sys.executable, "-c", "raise SystemExit(3)"), "me/1")
    process = ServerProcess(popen, lambda: said.append("ended"))
    await until(process.exited.is_set)
    assert (process.exit.code, process.exit.signal, said) == (3, "", ["ended"])
    assert 0 < process.exit.after_seconds < 10
    process.destroy()
    close_pipes(popen)


async def test_a_signal_reaches_the_whole_group_and_none_is_sent_after_the_reaping(monkeypatch):
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
