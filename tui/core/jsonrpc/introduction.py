"""What a server says about itself when a connection begins, in both eras. Tolerant, pure."""

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tui.core.jsonrpc.extensions import TASKS
from tui.core.jsonrpc.protocol import LISTS, SERVER_INFO_KEY, is_modern
from tui.core.text import object_in, text_in

_NAME_CHARS = 200
_OFFERS = ("tools", "resources", "prompts", "completions", "logging")
_SWITCHES = ("listChanged", "subscribe")


@dataclass(frozen=True, slots=True)
class Introduction:
    """What a server has said about itself, unchanged, in the protocol `version` that was agreed on.

    `at_ns` is when it said so, in monotonic nanoseconds.
    """

    version: str = ""
    said: Mapping[str, Any] = field(default_factory=dict)
    at_ns: int = field(default_factory=time.monotonic_ns, compare=False)

    @property
    def is_modern(self) -> bool:
        return is_modern(self.version)

    @property
    def capabilities(self) -> Mapping[str, Any]:
        return object_in(self.said, "capabilities")

    @property
    def offers(self) -> Mapping[str, Mapping[str, bool]]:
        """The known capabilities, with the switches that are on or off; never malformed."""
        said = self.said.get("capabilities")
        if not isinstance(said, dict):
            return {"tools": {}}  # unknown: listing tools does no harm
        return {
            name: {key: flag for key in _SWITCHES if isinstance(flag := object_in(said, name).get(key), bool)}
            for name in _OFFERS
            if said.get(name) not in (None, False)
        }

    @property
    def announced(self) -> frozenset[str]:
        """The kinds of lists whose changes the server reports."""
        return frozenset(kind for kind in LISTS if self.offers.get(kind, {}).get("listChanged"))

    @property
    def streamed(self) -> frozenset[str]:
        """The kinds of lists whose changes the server reports only on a change stream."""
        return self.announced if self.is_modern else frozenset()

    @property
    def takes_subscriptions(self) -> bool:
        """Whether the server supports subscriptions to single resources."""
        return self.offers.get("resources", {}).get("subscribe", False)

    @property
    def has_tasks(self) -> bool:
        """Whether the server supports the tasks extension; it may report their changes on a change stream."""
        return TASKS in object_in(self.capabilities, "extensions")

    @property
    def server(self) -> Mapping[str, Any]:
        """The server's name, title and version, if they are there."""
        of = object_in(self.said, "_meta") if self.is_modern else self.said
        return object_in(of, SERVER_INFO_KEY if self.is_modern else "serverInfo")

    def info(self, key: str) -> str:
        """Return the server's "name", "title" or "version"; or ""."""
        return text_in(self.server, key)[:_NAME_CHARS]
