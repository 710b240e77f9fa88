"""What the app says about commands that use a server."""

from types import SimpleNamespace
from typing import Any

from tui.addons.up.door import Door
from tui.core.language.translate import Message


def test_it_can_be_translated_and_whether_commands_are_refused_comes_first():
    door: Any = object.__new__(Door)
    door.used, door.refuses = {"weather": 1, "notes": 2}, False
    door.peers = [SimpleNamespace(server="notes", words=f"mcptui call {n}") for n in (1, 2)]
    words = door.attached_words()
    assert words == {"weather": "used by 1 command", "notes": "attached: mcptui call 1, mcptui call 2"}
    assert all(isinstance(one, Message) for one in words.values())
    door.refuses = True
    assert set(door.attached_words().values()) == {"commands are refused"}
