"""The pages that mcptui serves to the user's own browser."""

import asyncio
import urllib.request

from tui.host.sign_in.loopback import HOST, NOTHING, Loopback, text_reply


async def test_a_page_loads_nothing_and_is_not_stored():
    loopback = Loopback(lambda target: text_reply(200, f"You asked for {target}."))
    await loopback.open()

    def headers() -> dict[str, str]:
        with urllib.request.urlopen(f"http://{HOST}:{loopback.port}/a?b", timeout=5) as response:
            assert "You asked for /a?b." in response.read().decode()
            return dict(response.headers)

    found = await asyncio.to_thread(headers)
    await loopback.close()
    assert (found["Content-Security-Policy"], found["Cache-Control"]) == (NOTHING, "no-store")
