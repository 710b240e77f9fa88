"""The ports of servers: whether somebody answers, and which one is free."""

import asyncio
import socket
from urllib.parse import urlsplit

GONE_SECONDS, BACK_SECONDS, PROBE_SECONDS = 2.0, 20.0, 0.1
"""How long a remote server may take to end itself after a save, and then to come back."""


def place_of(url: str) -> tuple[str, int]:
    """Return host and port of a URL."""
    parts = urlsplit(url)
    return parts.hostname or "", parts.port or (443 if parts.scheme in ("https", "wss") else 80)


async def answers(host: str, port: int) -> bool:
    """Return whether somebody listens."""
    try:
        _, writer = await asyncio.open_connection(host, port)
    except OSError:
        return False
    writer.close()
    return True


def free_port() -> int:
    """Return a port on which nobody listens at the moment."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


async def restarted_itself(url: str) -> None:
    """Return once a remote server has restarted itself after a save, or does not seem to."""
    place, clock, is_gone = place_of(url), asyncio.get_running_loop().time, False
    until = clock() + GONE_SECONDS
    while clock() < until:
        if not await answers(*place):
            until = until if is_gone else clock() + BACK_SECONDS
            is_gone = True
        elif is_gone:
            return
        await asyncio.sleep(PROBE_SECONDS)
