"""Decodes images in processes with limited time, memory and pixels, which are killed when cancelled.

Images come from servers, and decoders are a common target of hostile files. So no decoder runs in the process
that has the API keys and the screen: `tui.ui.widgets.decoder` decodes each image in its own process, without
our file descriptors, keys or environment.
"""

import asyncio
import contextlib
import importlib.util
import json
import os
import signal
import sys
from pathlib import Path

from tui.core import units
from tui.core.text import clean_line
from tui.ui.widgets.picture import Picture

SECONDS = 5.0
"""Timeout for one image (measured: 40 million pixels of PNG take 0.9 s)."""

MOST_BYTES = 32 * 1024 * 1024
"""Maximum base64 characters of an image."""

MOST_PIXELS = 40_000_000
"""Maximum pixels of an image, according to its header."""

MEMORY_BYTES = 1024 * 1024 * 1024
"""Address space of the process: several copies of the maximum pixels, at four bytes per pixel."""

MOST_COLUMNS, MOST_ROWS = 80, 30
"""Maximum cells of a picture; painting a cell takes 10 µs (measured)."""

_KEPT_VARIABLES = ("PATH", "SYSTEMROOT", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")
"""Variables that Python may need to start. No others: they may contain API keys."""


class PictureError(Exception):
    """An image cannot be shown; the text says why."""


async def decoded(
    encoded: bytes,
    columns: int,
    rows: int,
    ground: tuple[int, int, int] = (0, 0, 0),
    *,
    seconds: float = SECONDS,
    python: str | None = None,
) -> Picture:
    """Return an image as a picture. If cancelled, it leaves no process behind.

    `columns` and `rows` limit its cells, `ground` is the color behind transparent parts. `python` is the
    interpreter, None for the running one.

    Raises:
        PictureError: it is too large, damaged, not an image, or takes too long; or Pillow is missing.
    """
    if len(encoded) > MOST_BYTES:
        raise PictureError(f"too large ({units.size(len(encoded))} in base64)")
    request_head = {
        "columns": max(1, min(columns, MOST_COLUMNS)),
        "rows": max(1, min(rows, MOST_ROWS)),
        "ground": ground,
        "seconds": seconds,
        "pixels": MOST_PIXELS,
        "memory": MEMORY_BYTES,
    }
    request = json.dumps(request_head).encode() + b"\n" + encoded
    try:
        async with asyncio.timeout(seconds + 1):  # the process has the same timeout and ends first
            answer = await _answer(request, sys.executable if python is None else python)
    except TimeoutError:
        answer = b""
    except OSError as error:
        raise PictureError(f"cannot start the decoder ({error.strerror or error})") from None
    return _picture(answer)


async def _answer(request: bytes, python: str) -> bytes:
    """Start the process and return its answer; b"" if it exits without one."""
    command = [python, "-I", "-S", str(Path(__file__).with_name("decoder.py")), _folder_of_pillow()]
    process = await asyncio.create_subprocess_exec(
        *command,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        env={name: os.environ[name] for name in _KEPT_VARIABLES if name in os.environ},
        start_new_session=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        with contextlib.suppress(ConnectionError):  # the process has exited: then there is no answer
            process.stdin.write(request)
            await process.stdin.drain()
            process.stdin.close()
        answer = await _read_to_end(process.stdout, 6 * MOST_COLUMNS * MOST_ROWS + 1000)
        await process.wait()
        return answer
    except BaseException:  # timeout or cancellation: kill the process
        if process.returncode is None:
            # Not `process.kill()`: it polls for the exit, which asyncio then misses.
            with contextlib.suppress(ProcessLookupError):  # the process has just exited
                os.kill(process.pid, getattr(signal, "SIGKILL", signal.SIGTERM))
        await process.stdout.read()  # asyncio also waits for the end of its output
        await process.wait()
        raise


async def _read_to_end(stream: asyncio.StreamReader, most: int) -> bytes:
    try:
        await stream.readexactly(most)
    except asyncio.IncompleteReadError as end:
        return end.partial
    raise PictureError("the decoder returned too much")


def _folder_of_pillow() -> str:
    found = importlib.util.find_spec("PIL")
    if found is None or found.origin is None:
        raise PictureError("Pillow is not installed")
    return str(Path(found.origin).parent.parent)


def _picture(answer: bytes) -> Picture:
    """Parse an answer; a compromised decoder may send anything."""
    line, _, pixels = answer.partition(b"\n")
    try:
        head = json.loads(line)
        if problem := head.get("problem"):
            raise PictureError(clean_line(str(problem), 200))
        width, height, of = (head[name] for name in ("width", "height", "of"))
        if not 0 < width <= MOST_COLUMNS or len(pixels) != 3 * width * height:
            raise ValueError(head)
        size = int(of[0]), int(of[1])
        return Picture(width, height, pixels, size, bool(head["moves"]), bool(head["cut"]))
    except (ValueError, KeyError, TypeError, AttributeError, IndexError):
        raise PictureError("it needs too much time or memory") from None
