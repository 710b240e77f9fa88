"""What outlives a run: the subscriptions with their positions, and the inbox, in one file.

One file, so that an event and the cursor after it are written together: after a crash, the server repeats
what was not written, and the ids recognize what was. Only the owner can read it: arguments may be secret, and
are sent again.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from tui.addons.events.inbox import MAX_ITEMS, Inbox, InboxItem
from tui.addons.events.rules import ActingState, acting_entry, read_acting
from tui.addons.events.subscription import MAX_SEEN, Position
from tui.addons.events.wire import MAX_CURSOR, MAX_ID, MAX_NAME, MODES
from tui.core.text import list_in, mapping, object_in, text_in
from tui.core.units import bounded, whole
from tui.settings.locations import state_dir
from tui.settings.state.state_file import Content, StateFile

MAX_SUBSCRIPTIONS = 100
MAX_BYTES = 24 * 1024 * 1024


@dataclass(slots=True)
class KeptSubscription:
    """A subscription as the user agreed to it.

    Attributes:
        origin: that of the server: another program or address of the same name gets none of it.
        account: the sign-in with which it was made, "" without one: it belongs to that account.
        at: when the user agreed, in seconds since the epoch.
        ended: why it has ended, or "".
    """

    server: str
    origin: str
    name: str
    arguments: Mapping[str, Any]
    mode: str
    at: float
    account: str = ""
    is_paused: bool = False
    ended: str = ""
    position: Position = field(default_factory=Position)


class EventStore:
    """The file. A damaged one counts as empty, and is copied before it is replaced."""

    def __init__(self, path: Path | None = None) -> None:
        self.path = path or events_file()
        self._file = StateFile(
            self.path, "subscriptions to events", max_bytes=MAX_BYTES, forgets="inbox", indent=None
        )
        self.close = self._file.close

    def read(self) -> tuple[list[KeptSubscription], Inbox, ActingState, str]:
        """Return the content, and why the file cannot be read, or "". Blocks."""
        content, problem = self._file.look()
        kept = [one for entry in list_in(content, "subscriptions") if (one := _subscription(entry))]
        items = [item for entry in list_in(content, "inbox")[-MAX_ITEMS:] if (item := _item(entry))]
        inbox = Inbox(items, whole(content.get("dropped")) or 0)
        return kept[:MAX_SUBSCRIPTIONS], inbox, read_acting(object_in(content, "acting")), problem

    def write_later(self, kept: Sequence[KeptSubscription], inbox: Inbox, acting: ActingState) -> None:
        """Replace the content, in a thread."""
        content = {**_content(kept, inbox), "acting": acting_entry(acting)}
        self._file.change_later(lambda _: content)

    def change(self, change: Callable[[Content], Content]) -> None:
        """Change the content as JSON. Blocks; may raise ConfigError."""
        self._file.change(change)


def events_file() -> Path:
    """Return the file, which exists once there was a subscription."""
    return state_dir() / "events.json"


def forget_server(server: str, runtime: object = None) -> None:
    """Delete the subscriptions to a server and its events, when it is removed or signed out. Blocks.

    A `runtime` that has events loaded follows its configuration, and does so itself.
    """
    if "events" in getattr(runtime, "__dict__", {}):
        return

    def change(content: Content) -> Content:
        others = {
            part: [one for one in list_in(content, part) if text_in(mapping(one), "server") != server]
            for part in ("subscriptions", "inbox")
        }
        return {**content, **others} if content else content

    if (path := events_file()).exists():
        with suppress(Exception):  # what cannot be read is not used either
            EventStore(path).change(change)


def _content(kept: Sequence[KeptSubscription], inbox: Inbox) -> Content:
    subscriptions = [{**_entry(one), "position": _entry(one.position)} for one in kept]
    return {"subscriptions": subscriptions, "inbox": list(map(_entry, inbox.items)), "dropped": inbox.dropped}


def _entry(one: Any) -> dict[str, Any]:
    """Return the fields of a dataclass; `asdict` would copy the data of every event."""
    return {field.name: getattr(one, field.name) for field in fields(one)}


def _subscription(entry: Any) -> KeptSubscription | None:
    one = mapping(entry)
    server, name, mode = text_in(one, "server"), text_in(one, "name"), text_in(one, "mode")
    if not server or not 0 < len(name) <= MAX_NAME or mode not in MODES:
        return None
    position = object_in(one, "position")
    cursor = position.get("cursor")
    seen = [known for known in list_in(position, "seen") if isinstance(known, str) and len(known) <= MAX_ID]
    is_cursor = isinstance(cursor, str) and len(cursor) <= MAX_CURSOR
    return KeptSubscription(
        server,
        text_in(one, "origin"),
        name,
        object_in(one, "arguments"),
        mode,
        bounded(one.get("at")) or 0.0,
        text_in(one, "account"),
        one.get("is_paused") is True,
        text_in(one, "ended"),
        Position(cursor if is_cursor else None, tuple(seen[-MAX_SEEN:])),
    )


def _item(entry: Any) -> InboxItem | None:
    one = mapping(entry)
    number, data = whole(one.get("number"), least=1), one.get("data")
    if number is None or not text_in(one, "server"):
        return None
    return InboxItem(
        number,
        text_in(one, "server"),
        text_in(one, "event"),
        text_in(one, "id"),
        text_in(one, "timestamp"),
        bounded(one.get("at")) or 0.0,
        data if isinstance(data, Mapping) else None,
        text_in(one, "problem"),
        one.get("is_read") is True,
    )
