"""Asks a process for the pixels of an image: bounded in time, memory and pixels, ended when nobody waits.

Images come from servers and are decoded by code that was not written for the worst of them. None of it runs
in the process that has the keys of the person and the screen: `tui.ui.widgets.decoder` does it, a process
for each image, without descriptors, keys or anything else of ours.
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
"""How long one image may take (measured: 40 million pixels of PNG take 0.9 s)."""

MOST_BYTES = 32 * 1024 * 1024
"""Characters of base64 beyond which nothing is tried."""

MOST_PIXELS = 40_000_000
"""Pixels of an image, told by its head before anything of it is decoded."""

MEMORY_BYTES = 1024 * 1024 * 1024
"""Of the process, all that it maps counted: several copies of the most pixels, at four bytes each."""

MOST_COLUMNS, MOST_ROWS = 80, 30
"""Cells of a picture: each has two colours of its own, and takes 10 µs to paint (measured)."""

_KEPT_VARIABLES = ("PATH", "SYSTEMROOT", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")
"""What Python itself may need to start. Nothing else: there are keys among the rest."""


class PictureError(Exception):
    """An image cannot be shown; its text says why."""


async def decoded(
    encoded: bytes,
    columns: int,
    rows: int,
    ground: tuple[int, int, int] = (0, 0, 0),
    *,
    seconds: float = SECONDS,
    python: str | None = None,
) -> Picture:
    """Return an image as a picture. Cancelled, it leaves no process behind.

    Args:
        encoded: base64.
        columns: cells that it may be wide.
        rows: cells that it may be high.
        ground: what is seen through it, as red, green and blue.
        seconds: how long it may take.
        python: the interpreter that is started; None for the one that runs this.

    Raises:
        PictureError: it is too large, broken, no image, or takes too long; or nothing can decode it.
    """
    if len(encoded) > MOST_BYTES:
        raise PictureError(f"{units.size(len(encoded))} of base64 are too much")
    asked = {
        "columns": max(1, min(columns, MOST_COLUMNS)),
        "rows": max(1, min(rows, MOST_ROWS)),
        "ground": ground,
        "seconds": seconds,
        "pixels": MOST_PIXELS,
        "memory": MEMORY_BYTES,
    }
    request = json.dumps(asked).encode() + b"\n" + encoded
    try:
        async with asyncio.timeout(seconds + 1):  # the process ends by itself before, if it can
            answer = await _answer(request, sys.executable if python is None else python)
    except TimeoutError:
        answer = b""
    except OSError as error:
        raise PictureError(f"no process could be started ({error.strerror or error})") from None
    return _picture(answer)


async def _answer(request: bytes, python: str) -> bytes:
    """Start the process, ask it and end it; return b"" if it ended before it answered."""
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
        with contextlib.suppress(ConnectionError):  # it ended meanwhile: then it has not answered
            process.stdin.write(request)
            await process.stdin.drain()
            process.stdin.close()
        answer = await _all_of_it(process.stdout, 6 * MOST_COLUMNS * MOST_ROWS + 1000)
        await process.wait()
        return answer
    except BaseException:  # too late, or cancelled: nothing of it may stay
        if process.returncode is None:
            # Not `process.kill()`: that looks after the end of the process, which asyncio then misses.
            with contextlib.suppress(ProcessLookupError):  # it ended just now
                os.kill(process.pid, getattr(signal, "SIGKILL", signal.SIGTERM))
        await process.stdout.read()  # asyncio waits for the end of what it wrote, too
        await process.wait()
        raise


async def _all_of_it(stream: asyncio.StreamReader, most: int) -> bytes:
    try:
        await stream.readexactly(most)
    except asyncio.IncompleteReadError as all_of_it:
        return all_of_it.partial
    raise PictureError("what decodes it does not stop to answer")


def _folder_of_pillow() -> str:
    """Return the folder that the process finds Pillow in; it is not loaded here."""
    found = importlib.util.find_spec("PIL")
    if found is None or found.origin is None:
        raise PictureError("Pillow is not installed")
    return str(Path(found.origin).parent.parent)


def _picture(answer: bytes) -> Picture:
    """Return what a process answered; a decoder that was taken over may answer anything."""
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
        raise PictureError("it takes more time or memory than it may") from None
