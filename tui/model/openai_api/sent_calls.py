"""Ids and names of the calls in one request, as every provider takes them. Pure.

A conversation may have been begun with another model, and a model may have called what does not exist: what
one endpoint gave as an id, another refuses (OpenAI takes 40 characters, vLLM gives 46), and a name that was
made up may be no name at all. One of them in the history would have each later request refused.
"""

import hashlib
import re
from collections.abc import Sequence

from tui.core.conversation.conversation import CallRequest
from tui.model.endpoints.traits import CallIds
from tui.model.openai_api.sendable import sendable

_NAME = re.compile(r"[a-zA-Z_][a-zA-Z0-9_-]{0,63}")
_NOT_IN_NAMES = re.compile(r"[^a-zA-Z0-9_-]")
_NINE = re.compile(r"[a-zA-Z0-9]{9}")
_PLAIN = re.compile(r"[a-zA-Z0-9_-]{1,40}")


def plain_name(name: str) -> str:
    """Return the name of a tool as it may stand in a history, close to what the model wrote."""
    if _NAME.fullmatch(name):
        return name
    plain = _NOT_IN_NAMES.sub("_", name)
    return (plain if _NAME.match(plain) else f"_{plain}")[:64]


class SentIds:
    """The ids of the calls of one request, no two of them alike.

    Args:
        wanted: which ids the provider takes.
    """

    def __init__(self, wanted: CallIds) -> None:
        self._wanted = wanted
        self._taken: set[str] = set()
        self._open: dict[str, list[str]] = {}

    def of_calls(self, calls: Sequence[CallRequest], own: bool) -> list[str]:
        """Return the ids of the calls of one message; `own` if the model that is asked has made them."""
        self._open = {}
        result: list[str] = []
        for call in calls:
            identity, number = self._made(call.id, own), 0
            while identity in self._taken:
                number += 1
                identity = self._hashed(f"{call.id}\0{number}")
            self._taken.add(identity)
            self._open.setdefault(call.id, []).append(identity)
            result.append(identity)
        return result

    def of_result(self, call_id: str) -> str:
        """Return the id of the call that a result answers; each call of the last message has one."""
        return self._open[call_id].pop(0)

    def _made(self, identity: str, own: bool) -> str:
        if self._wanted is CallIds.NINE:
            fits = _NINE.fullmatch(identity) is not None
        else:
            # Its own ids go back as they came: a model may count on (`functions.NAME:7`) from the last one.
            own = own and self._wanted is CallIds.ANY
            fits = bool(identity) and (own or _PLAIN.fullmatch(identity) is not None)
        return sendable(identity) if fits else self._hashed(identity)

    def _hashed(self, identity: str) -> str:
        """Return an id made by hash, since the heads of ids are often all the same."""
        digest = hashlib.sha256(identity.encode("utf-8", "replace")).hexdigest()
        return digest[:9] if self._wanted is CallIds.NINE else f"call_{digest[:24]}"
