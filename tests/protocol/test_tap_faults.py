"""What misbehaving servers write goes through a tap as it is, and is in the recording as it was."""

import asyncio
import sys
from pathlib import Path

import pytest

from tests.protocol.command import start
from tests.protocol.test_tap import recorded
from tui.core.traffic import Direction, Kind

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
    "ansi_everywhere",
    "batch_array",
    "content_length",
    "crlf",
    "deep_json",
    "half_answer_then_exit",
    "huge_line_64mib",
    "invalid_utf8",
    "lone_surrogates",
    "no_newline",
    "nonjson_between_frames",
    "two_on_a_line",
]


async def all_of(name: str) -> bytes:
    """Return what a fault's server writes to our requests through a tap, until it is silent for a while."""
    process = await start("tap", "--", sys.executable, str(FAULTS / f"{name}.py"), FAULT_ERA="legacy")
    assert process.stdin is not None and process.stdout is not None
    process.stdin.write(ASKED)
    said = bytearray()
    try:
        while True:
            async with asyncio.timeout(0.5 if said else 5):
                chunk = await process.stdout.read(1 << 20)
            if not chunk:
                break
            said += chunk
    except TimeoutError:
        pass
    process.stdin.close()
    try:
        async with asyncio.timeout(12):
            said += await process.stdout.read()
            await process.wait()
    except TimeoutError:
        process.kill()
    await process.communicate()
    return bytes(said)


@pytest.mark.parametrize("name", NAMES)
async def test_what_came_through_is_what_was_recorded(name: str):
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
