"""`mcptui tap` between a host and a server: transparent to both, and everything is recorded."""

import asyncio
import hashlib
import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from tests import programs
from tests.conftest import until, wait_until
from tests.protocol.command import Done, finish, mcptui, start
from tui.core.errors import StorageError
from tui.core.traffic import Direction, Entry, Kind
from tui.storage.recordings.reader import RecordingReader

PYTHON = sys.executable
ROOT = Path(__file__).parents[2]
WEATHER = str(ROOT / "sample_config/servers/weather.py")
TAP = (PYTHON, "-m", "tui", "tap", "--")
SLEEP = "import time; time.sleep(60)"


def recordings() -> list[Path]:
    """Return the recordings of taps."""
    found = sorted(Path(os.environ["XDG_STATE_HOME"]).glob("mcptui/recordings/*.mcptrace"))
    return [path for path in found if "tap" in meta_of(path)]


def meta_of(path: Path) -> dict[str, str]:
    try:
        reader = RecordingReader(path)
    except StorageError:  # it is just being created
        return {}
    try:
        return reader.meta()
    finally:
        reader.close()


def recorded() -> list[tuple[Entry, bytes]]:
    """Return the entries of the only recording with their bodies, none while it is being created."""
    found = recordings()
    if not found:
        return []
    (path,) = found
    reader = RecordingReader(path)
    try:
        return [(entry, reader.body(entry.seq)) for entry in reader.columns(0, 1_000_000)]
    finally:
        reader.close()


def lines_of(direction: Direction) -> list[bytes]:
    return [body for entry, body in recorded() if entry.direction is direction]


async def tap(*command: str, stdin: bytes = b"", **env: str) -> Done:
    return await mcptui("tap", "--", *command, stdin=stdin, **env)


def raw_tap(*command: str, stdin: bytes) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        programs.command("-m", "tui", "tap", "--", *command), input=stdin, capture_output=True, timeout=50
    )


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\n\n\r\n" + bytes(range(256)) * 300 + b"no newline",
        b"x" * 26_000_000 + b"\n" + b"y" * 3_000_000,
    ],
    ids=["nothing", "garbage", "a huge line"],
)
def test_every_byte_passes_in_both_directions(data: bytes):
    done = raw_tap(
        PYTHON,
        "-c",
        "import shutil, sys; shutil.copyfileobj(sys.stdin.buffer, sys.stdout.buffer)",
        stdin=data,
    )
    assert done.stdout == data
    assert (done.returncode, done.stderr) == (0, b"")


async def test_stderr_is_passed_through_and_recorded():
    done = await tap(PYTHON, "-c", "import sys; sys.stderr.write('one\\ntwo')")
    assert done.err == "one\ntwo"
    assert [body for entry, body in recorded() if entry.kind is Kind.STDERR] == [b"one", b"two"]


async def test_both_directions_and_the_start_and_exit_of_the_process_are_recorded():
    request = b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t"}}'
    answer = b'{"jsonrpc":"2.0","id":1,"result":{"content":[],"isError":true}}'
    code = f"import sys; sys.stdin.readline(); print({answer.decode()!r}); sys.exit(3)"
    done = await tap(PYTHON, "-c", code, stdin=request + b"\n")
    assert done.code == 3
    found = [(entry.direction, entry.kind, entry.method, body) for entry, body in recorded()]
    assert found[0][:3] == (Direction.NONE, Kind.EVENT, "spawn")
    assert (Direction.OUT, Kind.REQUEST, "tools/call", request) in found
    assert (Direction.IN, Kind.RESPONSE, "tools/call", answer) in found
    assert found[-1][:3] == (Direction.NONE, Kind.EVENT, "exit")
    assert recorded()[-1][0].detail["code"] == 3


async def test_a_missing_server_is_reported_as_by_a_shell():
    done = await tap("there-is-no-such-program")
    assert done.code == 127
    assert "cannot start there-is-no-such-program" in done.err


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL, signal.SIGSEGV])
async def test_a_signal_that_ended_the_server_ends_the_tap_too(number: signal.Signals):
    done = await tap(PYTHON, "-c", f"import os; os.kill(os.getpid(), {int(number)})")
    assert done.code == -number
    last = recorded()[-1][0]
    assert (last.method, last.detail["signal"]) == ("exit", number.name)


async def test_signals_reach_the_server_once():
    numbers = [signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1]
    code = (
        "import signal, sys, time\n"
        f"for number in {[int(number) for number in numbers]}:\n"
        "    signal.signal(number, lambda number, _: print('got', number, flush=True))\n"
        "print('ready', flush=True)\n"
        "sys.stdin.read(); print('end', flush=True); sys.exit(9)"
    )
    process = await start("tap", "--", PYTHON, "-c", code)
    assert await process.stdout.readline() == b"ready\n"
    for number in numbers:
        process.send_signal(number)
        assert await process.stdout.readline() == f"got {int(number)}\n".encode()
    done = await finish(process)
    assert (done.code, done.out) == (9, "end\n")


async def test_the_end_of_stdin_reaches_the_server_and_its_answer_is_returned():
    code = "import sys; sys.stdin.read(); print('after the end')"
    done = await tap(PYTHON, "-c", code)
    assert done.out == "after the end\n"


async def test_the_end_of_stdout_reaches_the_host_while_the_server_lives():
    code = "import os, sys; os.write(1, b'bye'); os.close(1); sys.stdin.read(); os.write(2, b'still here')"
    process = await start("tap", "--", PYTHON, "-c", code)
    assert await process.stdout.read() == b"bye"
    assert process.returncode is None
    done = await finish(process)
    assert (done.code, done.err) == (0, "still here")


def test_a_closed_pipe_of_the_host_is_noticed_by_the_server():
    code = (
        "import os\ntry:\n    while True: os.write(1, b'x' * 1000)\nexcept BrokenPipeError:\n    os._exit(5)"
    )
    process = subprocess.Popen([*TAP, PYTHON, "-c", code], stdout=subprocess.PIPE, stdin=subprocess.PIPE)
    with process:
        process.stdout.read(10)
        process.stdout.close()
        wait_until(lambda: process.poll() is not None)
    assert process.returncode == 5


def test_a_closed_input_of_the_server_is_noticed_by_the_host():
    code = "import os, time; os.close(0); os.write(1, b'closed'); time.sleep(60)"
    process = subprocess.Popen(
        [*TAP, PYTHON, "-c", code],
        stdout=subprocess.PIPE,
        stdin=subprocess.PIPE,
        bufsize=0,
    )
    with process:
        assert process.stdout.read(6) == b"closed"

        def refused() -> bool:
            try:
                process.stdin.write(b"hello?\n")
            except BrokenPipeError:
                return True
            return False

        wait_until(refused)
        process.terminate()


async def test_killing_the_tap_closes_the_input_of_the_server():
    code = "import os, sys; print(os.getpid(), flush=True); sys.stdin.read()"
    process = await start("tap", "--", PYTHON, "-c", code)
    server = psutil.Process(int(await process.stdout.readline()))
    process.kill()
    await process.wait()
    await until(lambda: not server.is_running() or server.status() == psutil.STATUS_ZOMBIE)
    await finish(process)


STUBBORN = (
    "import os, signal, subprocess, sys, time\n"
    "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
    "if len(sys.argv) > 1:\n"
    "    child = subprocess.Popen([sys.executable, *sys.argv[1:]], start_new_session=True)\n"
    "    print(child.pid, flush=True)\n"
    "else:\n"
    "    print(0, flush=True)\n"
    "while True: time.sleep(60)"
)
"""A server that ignores the end of its input and SIGTERM. Its arguments start a child in another session."""


async def test_a_server_that_ignores_the_end_of_its_input_does_not_outlive_a_killed_tap():
    process = await start("tap", "--", PYTHON, "-c", STUBBORN, "-c", SLEEP)
    child = psutil.Process(int(await process.stdout.readline()))
    process.kill()
    server = child.parent()
    await process.wait()
    await until(lambda: not any(map(lives, (server, child))), what="the server and its child are gone")
    await finish(process)


async def test_a_tap_killed_with_its_host_leaves_no_server_behind():
    words = [*TAP, PYTHON, "-c", STUBBORN, "-c", SLEEP]
    code = f"import subprocess; subprocess.run({words!r})"
    host = await asyncio.create_subprocess_exec(
        PYTHON, "-c", code,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True,
    )  # fmt: skip
    child = psutil.Process(int(await host.stdout.readline()))
    os.killpg(host.pid, signal.SIGKILL)
    await host.wait()
    await until(lambda: not lives(child), what="the child is gone")
    host.stdin.close()
    await host.stdin.wait_closed()


async def test_a_tap_that_ends_with_its_server_leaves_no_guard_behind_and_the_grandchildren_alone():
    code = (
        "import subprocess, sys\n"
        f"child = subprocess.Popen([sys.executable, '-c', {SLEEP!r}], stdin=0, stdout=subprocess.DEVNULL)\n"
        "print(child.pid, flush=True)"
    )
    process = await start("tap", "--", PYTHON, "-c", code)
    child = psutil.Process(int(await process.stdout.readline()))
    await finish(process)
    assert lives(child)
    child.kill()


def lives(process: psutil.Process) -> bool:
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


async def test_the_recording_survives_a_killed_tap():
    process = await start("tap", "--", PYTHON, "-c", "import sys; print('{}', flush=True); sys.stdin.read()")
    await process.stdout.readline()
    await until(lambda: recordings() and b"{}" in lines_of(Direction.IN))
    process.kill()
    await finish(process)
    assert lines_of(Direction.IN) == [b"{}"]


async def test_a_grandchild_that_holds_the_pipes_open_does_not_block_the_tap():
    code = (
        "import subprocess, sys\n"
        f"child = subprocess.Popen([sys.executable, '-c', {SLEEP!r}])\n"
        "print(child.pid, flush=True)\n"
        "sys.exit(4)"
    )
    done = await tap(PYTHON, "-c", code)
    os.kill(int(done.out), signal.SIGKILL)
    assert done.code == 4


async def test_an_unwritable_folder_loses_only_the_recording(tmp_path: Path):
    in_the_way = tmp_path / "a file"
    in_the_way.write_text("")
    done = await tap("cat", stdin=b"hello", XDG_STATE_HOME=str(in_the_way))
    assert (done.code, done.out) == (0, "hello")
    (line,) = done.err.splitlines()
    assert line.startswith("mcptui tap: recording stopped. The server is not affected:")


async def test_a_full_disk_loses_only_the_recording(tmp_path: Path):
    import resource

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))

    pipes = {"stdin": -1, "stdout": -1, "stderr": -1}
    process = await asyncio.create_subprocess_exec(*TAP, "cat", **pipes, preexec_fn=limit)
    done = await finish(process, b"x" * 100_000 + b"\n")
    assert (done.code, done.out) == (0, "x" * 100_000 + "\n")
    assert done.err.count("recording stopped") == 1


async def test_secrets_are_not_in_the_recording():
    done = await tap("cat", stdin=b'{"key":"swordfish-12345"}', SERVICE_API_KEY="swordfish-12345")
    assert done.out == '{"key":"swordfish-12345"}'
    assert lines_of(Direction.OUT) == [b'{"key":"[redacted:SERVICE_API_KEY]"}']


async def test_secret_arguments_of_the_configured_server_are_not_in_the_recording(tmp_path: Path):
    config = tmp_path / "config.toml"
    config.write_text('[servers.bank]\ncommand = "cat"\nsecret_arguments = ["pay.iban"]\n', "utf-8")
    params = {"name": "pay", "arguments": {"iban": "DE02120300000000202051", "to": "ada"}}
    call = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
    line = f"{call}\n".encode()
    done = await mcptui("tap", "--name", "bank", "--", "cat", stdin=line, MCPTUI_CONFIG=str(config))
    assert done.out == line.decode()
    (recorded_call,) = lines_of(Direction.OUT)
    assert json.loads(recorded_call)["params"]["arguments"] == {"iban": "[redacted:iban]", "to": "ada"}


def everything_recorded() -> str:
    """Return the content of the only recording as text."""
    (path,) = recordings()
    files = "".join(one.read_bytes().decode("latin-1") for one in path.parent.iterdir() if one.is_file())
    return files + str(recorded()) + str(meta_of(path))


SHORT, LONG = "hunter2", "swordfish-12345"
WITH_SECRETS = (
    *("--api-key", SHORT, f"--token={SHORT}", "-e", f"API_KEY={SHORT}"),
    *("--header", f"Authorization: Bearer {SHORT}", f"postgres://ada:{SHORT}@db/notes"),
    *(f"--db=mysql://ada:{SHORT}@db/notes", f"https://host/mcp?api_key={SHORT}"),
)


async def test_secrets_of_the_command_line_reach_the_server_but_not_the_recording():
    code = "import hashlib, json, sys; print(hashlib.sha256(json.dumps(sys.argv[1:]).encode()).hexdigest())"
    done = await tap(PYTHON, "-c", code, *WITH_SECRETS)
    assert done.out.strip() == hashlib.sha256(json.dumps(list(WITH_SECRETS)).encode()).hexdigest()
    argv = recorded()[0][0].detail["argv"]
    assert argv[:2] == [PYTHON, "-c"]
    redacted = ["[redacted:" in one for one in argv[3:]]
    assert redacted == [SHORT in one for one in WITH_SECRETS]
    assert SHORT not in everything_recorded()


async def test_a_secret_of_the_command_line_is_redacted_in_server_output():
    code = "import sys; print(sys.argv[-1]); print(sys.argv[-1], file=sys.stderr)"
    done = await tap(PYTHON, "-c", code, "--token", LONG)
    assert (done.out, done.err) == (f"{LONG}\n", f"{LONG}\n")
    assert LONG not in everything_recorded()
    assert lines_of(Direction.IN) == [b"[redacted:argument.4.0]"]


def test_a_host_that_uses_sockets_is_served_like_one_with_pipes():
    ours, theirs = socket.socketpair()
    process = subprocess.Popen([*TAP, "cat"], stdin=theirs, stdout=theirs)
    theirs.close()
    with ours:
        data = os.urandom(1_000_000)
        got = bytearray()
        ours.setblocking(False)
        sent = 0

        def all_came() -> bool:
            nonlocal sent
            try:
                sent += ours.send(data[sent:]) if sent < len(data) else 0
            except BlockingIOError:
                pass
            try:
                got.extend(ours.recv(1 << 16))
            except BlockingIOError:
                pass
            return len(got) == len(data)

        wait_until(all_came)
        assert bytes(got) == data
        ours.shutdown(socket.SHUT_WR)
        assert process.wait(20) == 0


def test_the_descriptors_of_the_host_stay_blocking(tmp_path: Path):
    read, write = os.pipe()
    process = subprocess.Popen([*TAP, "cat"], stdin=read, stdout=write)
    assert os.get_blocking(read) and os.get_blocking(write)
    process.terminate()
    process.wait(20)
    assert os.get_blocking(read) and os.get_blocking(write)
    os.close(read)
    os.close(write)


def test_stdin_and_stdout_can_be_files_or_closed(tmp_path: Path):
    source, target = tmp_path / "in", tmp_path / "out"
    source.write_bytes(b"line\n" * 2_000)
    with source.open("rb") as stdin, target.open("wb") as stdout:
        done = subprocess.run([*TAP, "cat"], stdin=stdin, stdout=stdout, timeout=30)
    assert done.returncode == 0
    assert target.read_bytes() == source.read_bytes()
    closed = subprocess.run(
        ["sh", "-c", f"{PYTHON} -m tui tap -- sh -c 'echo x; exit 6' <&- >&-"], timeout=30
    )
    assert closed.returncode == 6


async def test_options_of_the_server_are_not_parsed_as_those_of_the_tap():
    done = await mcptui("tap", "--name", "mine", "--", "echo", "--name", "--", "--help")
    assert done.out == "--name -- --help\n"
    assert recorded()[0][0].source == "mine"


@pytest.mark.parametrize("args", [(), ("--listen", "8000"), ("--to", "http://127.0.0.1:1"), ("--",)])
async def test_an_invalid_command_line_is_refused(args: tuple[str, ...]):
    assert (await mcptui("tap", *args)).code == 2


async def test_a_host_starts_the_tap_added_to_its_configuration(tmp_path: Path):
    entry = {"command": PYTHON, "args": [WEATHER], "env": {"PYTHONPATH": str(ROOT)}}
    entry["env"]["XDG_STATE_HOME"] = os.environ["XDG_STATE_HOME"]
    file = tmp_path / "mcp.json"
    file.write_text(json.dumps({"mcpServers": {"weather": entry}}))
    before = await mcptui("--config", str(file), "servers", "--json")
    assert (await mcptui("tap", "--into", str(file), "weather", "--yes")).code == 0
    tapped = await mcptui("--config", str(file), "servers", "--json")
    assert json.loads(tapped.out)[0]["tools"] == json.loads(before.out)[0]["tools"] == 2
    assert any(b'"tools/list"' in line for line in lines_of(Direction.OUT))
