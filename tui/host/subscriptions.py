"""The resources of one server that the user has subscribed to; they outlive its connections."""

import asyncio
from collections.abc import Mapping
from dataclasses import replace

from tui.core.workbench import ResourceSubscription

MOST = 500
"""Maximum subscriptions of one server."""


class Subscriptions:
    """The subscribed resources, and how often each was updated.

    Attributes:
        turned: set when a subscription was added or removed, or a new session began.
        session: counts the sessions of the server, each of which begins without subscriptions.
    """

    def __init__(self) -> None:
        self.turned = asyncio.Event()
        self.session = 0
        self._by_uri: dict[str, ResourceSubscription] = {}

    @property
    def by_uri(self) -> Mapping[str, ResourceSubscription]:
        return self._by_uri

    @property
    def uris(self) -> tuple[str, ...]:
        return tuple(self._by_uri)

    def add(self, uri: str) -> None:
        if len(self._by_uri) < MOST:
            self._by_uri.setdefault(uri, ResourceSubscription())
            self.turned.set()

    def remove(self, uri: str) -> None:
        if self._by_uri.pop(uri, None) is not None:
            self.turned.set()

    def updated(self, uri: object) -> None:
        """Count an update; an update of a part of a resource counts for the resource."""
        if not isinstance(uri, str):
            return
        if uri not in self._by_uri:
            whole = (one for one in self._by_uri if uri.startswith(one) and uri[len(one) :][:1] in "/?#")
            uri = max(whole, key=len, default="")
        if (known := self._by_uri.get(uri)) is not None:
            # A server that reports updates has subscribed mcptui, even if it answered otherwise.
            self._by_uri[uri] = ResourceSubscription(known.updates + 1)

    def missed(self) -> None:
        """Count an update of each, because updates were missed while no stream was open."""
        for uri, known in self._by_uri.items():
            self._by_uri[uri] = replace(known, updates=known.updates + 1)

    def begin_session(self) -> None:
        """Record a new session of the server, which has no subscriptions yet."""
        self.session += 1
        self.missed()
        self.turned.set()

    def settle(self, uri: str, problem: str) -> None:
        """Record that a server accepted a subscription, or the `problem`."""
        if (known := self._by_uri.get(uri)) is not None:
            self._by_uri[uri] = replace(known, problem=problem)
