"""Keeps the stream open on which a server of the older era sends its own messages (Streamable HTTP).

A server or a proxy may close it at any time, and most close idle ones, so it is reopened until the connection
ends. A stream without event ids cannot be resumed: messages may be lost meanwhile.
"""

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager, aclosing

import httpx2

from tui.host.lifecycle import RetryDelay
from tui.host.transports.http_faults import HttpFault, SessionLost, is_passing
from tui.host.transports.http_link import HttpLink, is_stream, stream_of
from tui.host.transports.remote import RemoteTransport

LONGEST_RETRY = 60.0
"""Maximum delay in seconds, after streams that ended without a message."""


async def keep_listening(
    remote: RemoteTransport,
    open_stream: Callable[[bytes], AbstractAsyncContextManager[httpx2.Response]],
    reopen: Callable[[SessionLost], Awaitable[None]],
    seconds: float,
) -> None:
    """Listen until the server says that it has no such stream, or `reopen` has started another listener.

    `open_stream` takes the id of the last event, or b"", and may raise HttpFault. `seconds` is the delay
    before the stream is reopened, if the server does not name one.
    """
    last_id, has_stream = b"", False
    retry = RetryDelay(longest=LONGEST_RETRY)
    while True:
        worked, retry.first = 0.0, seconds
        try:
            async with open_stream(last_id) as response:
                if is_stream(response) and response.is_success:
                    if has_stream and not last_id:
                        remote.missed()
                    has_stream, began = True, time.monotonic()
                    heard = await _listen(remote.link, response)
                    stream = stream_of(response)
                    last_id = last_id if stream.last_id is None else stream.last_id
                    if stream.retry_ms is not None:
                        retry.first = stream.retry_ms / 1000
                    # It is no failure to close the stream after each message, or to name a delay for it.
                    ended_well = heard or stream.retry_ms is not None
                    worked = LONGEST_RETRY if ended_well else time.monotonic() - began
                elif response.status_code == 405 or not (has_stream or is_passing(response.status_code)):
                    return
                elif not is_passing(response.status_code):
                    last_id = b""  # it may be the reason
        except SessionLost as lost:
            if not has_stream:  # 404 for every stream: a new session would be "lost" at once, again and again
                return
            with contextlib.suppress(HttpFault):
                await reopen(lost)
                return
        except HttpFault:
            pass
        await asyncio.sleep(retry.after_failure(worked))


async def _listen(link: HttpLink, response: httpx2.Response) -> bool:
    """Take the messages of a stream until it ends or breaks; return whether there was one."""
    heard = False
    with contextlib.suppress(HttpFault):
        async with aclosing(link.events(response)) as events:
            async for event in events:
                heard = True
                await link.event(event)
    return heard
