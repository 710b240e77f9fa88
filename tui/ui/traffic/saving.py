"""Saving what is read to a file of its own, in a thread."""

import asyncio
from pathlib import Path
from typing import Any

from textual.app import App

from tui.core import units


async def save_new(app: App[Any], path: Path, data: bytes) -> None:
    """Write a file that is not there yet, and say so; say why not, if it was there or cannot be written."""
    await saved_new(app, path, data)


async def saved_new(app: App[Any], path: Path, data: bytes) -> bool:
    """Do the same, and return whether it was written."""
    try:
        await asyncio.to_thread(_write_new, path, data)
    except OSError as error:
        app.notify(f"{path} was not saved: {error.strerror}.", severity="error")
        return False
    app.notify(f"saved {units.size(len(data))} to {path}", timeout=4)
    return True


def _write_new(path: Path, data: bytes) -> None:
    with path.open("xb") as file:
        file.write(data)
