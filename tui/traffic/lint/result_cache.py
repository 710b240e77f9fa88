"""The results that a client may consider fresh (2026-07-28), as the linter remembers them. Bounded, pure.

A result belongs to a method with its params, the client's capabilities and the revision: a server may offer
something else to a client that declares something else. A public one is shared by all clients of a server.
"""

import hashlib
import json
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tui.core.jsonrpc.protocol import CAPABILITIES_KEY, VERSION_KEY
from tui.core.text import object_in

MOST_RESULTS = 1_000
"""Maximum results to remember of each client, and of all clients together."""

SKILLS = ("skills/list", "skills/get")
EXPIRES_WITH: Mapping[str, tuple[str, ...]] = {
    "server/discover": (),
    "tools/list": ("notifications/tools/list_changed",),
    "prompts/list": ("notifications/prompts/list_changed",),
    "resources/list": ("notifications/resources/list_changed",),
    "resources/templates/list": ("notifications/resources/list_changed",),
    "resources/read": ("notifications/resources/updated", "notifications/resources/list_changed"),
    **dict.fromkeys(SKILLS, ("notifications/resources/list_changed",)),
}
"""The methods with cacheable results, and the notifications that end their freshness."""

_ROUNDS = ("inputResponses", "requestState")


@dataclass(slots=True)
class CachedResult:
    """A result: seq of its entry, when it becomes stale, its hash, and whether asking again is justified."""

    seq: int
    until_ns: int
    digest: str
    ttl_ms: int
    is_public: bool
    uri: str = ""
    in_doubt: bool = False


@dataclass(slots=True)
class ResultCache:
    """The fresh results of one client (`own`), and the public ones of all clients of a server."""

    public: OrderedDict[str, CachedResult] = field(default_factory=OrderedDict)
    own: OrderedDict[str, CachedResult] = field(default_factory=OrderedDict)
    scopes: OrderedDict[str, str] = field(default_factory=OrderedDict)

    def beside(self) -> "ResultCache":
        """Return the cache of another client of the same server."""
        return ResultCache(self.public)

    def keep(self, key: str, result: CachedResult) -> None:
        for kept in (self.own, self.public) if result.is_public else (self.own,):
            kept.pop(key, None)
            kept[key] = result
            if len(kept) > MOST_RESULTS:
                kept.popitem(last=False)

    def expire(self, notification: str, uri: str = "") -> None:
        """Drop what a notification makes stale."""
        gone = {method for method, ends in EXPIRES_WITH.items() if notification in ends}
        for kept in (self.own, self.public):
            for key, one in list(kept.items()):
                if key.partition(" ")[0] in gone and uri in ("", one.uri):
                    del kept[key]


def cache_key(method: str, params: Mapping[str, Any]) -> str:
    """Return the key of the result of a request; "" if its result must not be cached."""
    if method not in EXPIRES_WITH or any(one in params for one in _ROUNDS):
        return ""
    meta = object_in(params, "_meta")
    asked = {name: value for name, value in params.items() if name != "_meta"}
    return f"{method} {digest_of([asked, meta.get(CAPABILITIES_KEY), meta.get(VERSION_KEY)])}"


def digest_of(value: Any) -> str:
    """Return the hash of a JSON value, whatever the order of keys; all that nest too deeply have the same."""
    try:
        text = json.dumps(value, sort_keys=True, default=str)
    except RecursionError:
        text = ""
    return hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest()
