"""The era of the protocol that a server speaks, and remembering it."""

from dataclasses import dataclass, field
from urllib.parse import urlsplit

from tui.core.jsonrpc.client_profile import ClientProfile
from tui.core.ports import Kept, KeyedStore
from tui.core.servers import EraChoice, ServerSpec, Transport

MAX_VERSION = 80
"""Maximum characters of a server's version."""


@dataclass(frozen=True, slots=True)
class Era:
    """An era of the protocol, and the version of the server that spoke it.

    There are two: with a handshake (`initialize`, up to 2025-11-25), and without (2026-07-28 and later). `at`
    is when it was stored, in seconds since the epoch, 0 if it was not.
    """

    modern: bool
    version: str = ""
    at: int = field(default=0, compare=False)


def opening_modes(
    spec: ServerSpec, known: Era | None, profile: ClientProfile | None = None
) -> tuple[str, ...]:
    """Return how to open a connection, best first: "legacy", "modern", or "auto" to probe.

    A server known to have a handshake is not probed; it may have been upgraded since. Nor does a host of
    the legacy era probe, as which mcptui acts.
    """
    if spec.transport is Transport.LINES or (profile is not None and not profile.is_modern):
        return ("legacy",)  # lines have no eras, so no handshake is ever sent
    if spec.era is not EraChoice.AUTO:
        return (spec.era.value,)
    return ("legacy", "auto") if known is not None and not known.modern else ("auto", "legacy")


def era_key(spec: ServerSpec) -> str:
    """Return the key of a remembered era: the origin of a remote server, else the launch configuration.

    Nothing is remembered for "": the era is configured, the server has none, or another host would speak it.
    """
    if spec.era is not EraChoice.AUTO or spec.transport is Transport.LINES or spec.act_as:
        return ""
    parts = urlsplit(spec.url or "")
    return ServerSpec("", url=f"{parts.scheme}://{parts.netloc}").digest() if spec.url else spec.digest()


class KnownEras:
    """The eras of servers by a hash of their launch configuration or address, so that starts need no probe.

    Servers are upgraded, so a remembered era can be wrong: after a failed start it is forgotten, and the
    other era is tried.
    """

    def __init__(self, store: KeyedStore[str, Era] | None = None) -> None:
        self._kept = Kept(store)

    def find(self, key: str) -> Era | None:
        return self._kept.all.get(key)

    def connected(self, key: str, era: Era) -> None:
        """Remember the negotiated era, but probe a server with a different version at its next start.

        It was not probed this time, and the new version may support both eras.
        """
        if not key:
            return
        era = Era(era.modern, era.version[:MAX_VERSION])
        known = self.find(key)
        if known is not None and known.modern == era.modern and known.version != era.version:
            self.forget(key)
        elif known != era:
            self._kept.change({key: era})

    def forget(self, key: str) -> None:
        if key in self._kept.all:
            self._kept.change({}, [key])
