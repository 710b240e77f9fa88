"""What the app shows and asks about attached commands."""

from typing import TYPE_CHECKING

from tui.addons.up.door import REFUSED

if TYPE_CHECKING:
    from tui.ui.chat.parts import ChatParts


def refuse(parts: "ChatParts") -> None:
    """Disconnect attached commands and refuse further ones until the app is closed, or allow them again."""
    door, notify = parts.runtime.door, parts.regions.notify
    if door.refuses:
        door.refuse("")
        notify("Commands may use the servers again.", timeout=4)
        return
    count = len(door.peers)
    door.refuse(REFUSED)
    notify(f"Commands are refused until you quit. {count} disconnected.", timeout=6)
