"""Output of misbehaving servers passes through a tap unchanged, and is recorded unchanged."""

import asyncio
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.protocol.command import start
from tests.protocol.test_tap import recorded
from tui.core.traffic import Direction, Kind

pytestmark = pytest.mark.usefixtures("quick_python")

FAULTS = Path(__file__).parents[1] / "corpus" / "faults"
ASKED = (
    b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25",'
    b'"capabilities":{},"clientInfo":{"name":"t","version":"1"}}}\n'
    b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n'
    b'{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{}}\n'
    b'{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"echo","arguments":{"text":"hi"}}}\n'
)
HEAD = 256 * 1024
NAMES = [
    *("batch_array", "content_length", "crlf", "deep_json", "half_answer_then_exit", "huge_line_64mib"),
    *("invalid_utf8", "no_newline", "two_on_a_line"),
]


async def all_of(name: str) -> bytes:
    """Return the output of a faulty server through a tap, whose input ends after the requests."""
    server = (sys.executable, str(FAULTS / f"{name}.py"))
    process = await start("tap", "--", *server, FAULT_ERA="legacy", FAULT_MIB="25")
    async with asyncio.timeout(20):
        said, _ = await process.communicate(ASKED)
    return said


@pytest.mark.parametrize("name", NAMES)
async def test_the_recording_equals_what_passed_through(name: str):
    said = await all_of(name)
    assert said
    lines = said.split(b"\n")
    if not lines[-1]:
        lines.pop()
    bodies = [
        (entry, body)
        for entry, body in recorded()
        if entry.direction is Direction.IN and entry.kind is not Kind.EVENT and "batch" not in entry.detail
    ]
    assert len(bodies) == len(lines)
    for (entry, body), line in zip(bodies, lines, strict=True):
        assert entry.size == len(line)
        assert body == (line[:HEAD] if entry.sha256 else line)
    asked = [body for entry, body in recorded() if entry.direction is Direction.OUT]
    assert b"\n".join(asked) + b"\n" == ASKED


PING = b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n'


def tapped(folder: bytes, *args: bytes, script: str = 'exec "$@"', **env: bytes) -> bytes:
    """Tap `cat` in a folder, started by a shell script. Return the stderr of the tap."""
    command = [sys.executable.encode(), b"-m", b"tui", b"tap", *args]
    environ = {**os.environb, **{name.encode(): value for name, value in env.items()}}
    environ[b"PYTHONPATH"] = os.fsencode(Path(__file__).parents[2])
    done = subprocess.run(
        ["sh", "-c", script, "sh", *command],
        input=PING,
        capture_output=True,
        cwd=folder,
        env=environ,
        timeout=40,
    )
    assert (done.returncode, done.stdout) == (0, PING)
    return done.stderr


@pytest.mark.parametrize(
    ("args", "env", "source"),
    [
        ((b"--", b"sh", b"-c", b"cat", b"\xff"), {}, "cat"),
        ((b"--name", b"caf\xe9", b"--", b"cat"), {}, "caf\\udce9"),
        ((b"--", b"./caf\xe9"), {}, "caf\\udce9"),
        ((b"--", b"cat"), {"MY_TOKEN": b"caf\xe9-12345678"}, "cat"),
    ],
)
def test_invalid_utf_8_is_recorded_too(
    tmp_path: Path, args: tuple[bytes, ...], env: dict[str, bytes], source: str
):
    folder = os.fsencode(tmp_path) + b"/\xff"
    os.mkdir(folder)
    os.symlink(shutil.which("cat") or "cat", folder + b"/caf\xe9")
    assert tapped(folder, *args, **env) == b""
    entries = [entry for entry, _ in recorded()]
    assert [entry.method for entry in entries].count("ping") == 2
    assert {entry.source for entry in entries} == {source}
    assert entries[0].detail["cwd"].encode("utf-8", "surrogateescape") == folder


def test_a_tap_in_a_deleted_folder_records(tmp_path: Path):
    (tmp_path / "gone").mkdir()
    script = 'rmdir "$PWD" && exec "$@"'
    assert tapped(os.fsencode(tmp_path / "gone"), b"--", b"cat", script=script) == b""
    entries = [entry for entry, _ in recorded()]
    assert [entry.method for entry in entries].count("ping") == 2
    assert entries[0].method == "spawn" and entries[0].detail["cwd"] == ""
