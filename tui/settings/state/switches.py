"""The switches of screens that outlive a run, such as whether housekeeping is folded. They are the user's."""

from tui.core.text import object_in
from tui.settings.locations import state_dir
from tui.settings.state.state_file import Content, StateFile

MAX_FILE_BYTES = 16 * 1024


def switch(name: str, default: bool) -> bool:
    """Return a switch, the default if it was never used. Blocks, for a small file."""
    return _switches(_file().look()[0]).get(name, default)


def keep_switch(name: str, value: bool) -> None:
    """Store a switch. Blocks. A failure is only logged: the switch is lost with the run."""

    def change(content: Content) -> Content:
        return {"switches": {**_switches(content), name: value}}

    _file().try_to_change(change)


def _file() -> StateFile:
    return StateFile(state_dir() / "switches.json", "a switch of a screen", max_bytes=MAX_FILE_BYTES)


def _switches(content: Content) -> dict[str, bool]:
    return {name: on for name, on in object_in(content, "switches").items() if isinstance(on, bool)}
