"""What the app shows and asks about attached commands."""

from typing import TYPE_CHECKING

from tui.addons.up.door import REFUSED
from tui.core.language.translate import _

if TYPE_CHECKING:
    from tui.ui.chat.parts import ChatParts


def refuse(parts: "ChatParts") -> None:
    """Disconnect attached commands and refuse further ones until the app is closed, or allow them again."""
    door, notify = parts.runtime.door, parts.regions.notify
    if door.refuses:
        door.refuse("")
        notify(_("Commands may use the servers again."), timeout=4)
        return
    count = len(door.peers)
    door.refuse(REFUSED)
    notify(_("Commands are refused until you quit. {n} disconnected.", n=count), timeout=6)
