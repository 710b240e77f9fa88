"""The switches of screens that outlive a run, such as whether housekeeping is folded. They are the user's."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tui.core.text import mapping
from tui.settings.files import Unreadable, read_bounded
from tui.settings.locations import state_dir

if TYPE_CHECKING:
    from tui.settings.state.state_file import Content

MAX_FILE_BYTES = 16 * 1024


def switch(name: str, default: bool) -> bool:
    """Return a switch, the default if it was never used. Blocks, for a small file."""
    try:
        content = json.loads(read_bounded(_path(), MAX_FILE_BYTES, links=False))
    except (OSError, Unreadable, ValueError, RecursionError):
        return default
    return _switches(content).get(name, default)


def keep_switch(name: str, value: bool) -> None:
    """Store a switch. Blocks. A failure is only logged: the switch is lost with the run."""
    from tui.settings.state.state_file import StateFile  # not needed for the first frame

    def change(content: "Content") -> "Content":
        return {"switches": {**_switches(content), name: value}}

    StateFile(_path(), "a switch of a screen", max_bytes=MAX_FILE_BYTES).try_to_change(change)


def _path() -> Path:
    return state_dir() / "switches.json"


def _switches(content: Any) -> dict[str, bool]:
    found = mapping(mapping(content).get("switches"))
    return {name: on for name, on in found.items() if isinstance(on, bool)}
