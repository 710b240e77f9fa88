"""What is rejected before the person is asked to sign in."""

import asyncio
import urllib.error
import urllib.request
from contextlib import suppress

import pytest

from tui.core.secrets.oauth_values import Callback
from tui.host.sign_in.browser_sign_in import CallbackListener
from tui.host.sign_in.loopback import HEAD_BYTES, HOST

# ---- callbacks ------------------------------------------------------------------------------------------


STATE = "s3cret-state"


async def get(url: str, method: str = "GET", **headers: str) -> tuple[int, str]:
    def send() -> tuple[int, str]:
        request = urllib.request.Request(url, method=method, headers=headers)
        try:
            with urllib.request.urlopen(request, timeout=5) as response:
                return response.status, response.read().decode()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.read().decode()

    return await asyncio.to_thread(send)


async def listening() -> tuple[CallbackListener, "asyncio.Task[Callback]"]:
    listener = await CallbackListener().open()
    waiting = asyncio.create_task(listener.wait(STATE))
    await asyncio.sleep(0)
    return listener, waiting


async def test_a_second_callback_is_refused() -> None:
    listener, waiting = await listening()
    async with listener:
        await get(f"{listener.address}?code=one&state={STATE}")
        with pytest.raises(OSError):
            await get(f"{listener.address}?code=two&state={STATE}")
        assert (await waiting).code == "one"


async def test_nothing_listens_after_closing() -> None:
    listener, waiting = await listening()
    await listener.close()
    with pytest.raises(OSError):
        await get(f"{listener.address}?code=one&state={STATE}")
    with pytest.raises(asyncio.CancelledError):
        await waiting


@pytest.mark.parametrize(
    ("path", "method", "host", "status"),
    [
        ("/callback?code=a&state=s3cret-state", "GET", "evil.example", 400),
        ("/callback?code=a&state=s3cret-state", "POST", "", 405),
        ("/favicon.ico", "GET", "", 404),
        ("/callback", "GET", "", 400),
        ("/callback?code=a&code=b&state=s3cret-state", "GET", "", 400),
    ],
)
async def test_a_request_that_is_not_a_callback_is_refused(
    path: str, method: str, host: str, status: int
) -> None:
    listener, waiting = await listening()
    async with listener:
        headers = {"Host": host} if host else {}
        answered = await get(f"http://127.0.0.1:{listener.port}{path}", method, **headers)
        assert answered[0] == status and not waiting.done()
        waiting.cancel()


async def test_a_request_that_is_too_large_is_closed_and_not_logged(caplog: pytest.LogCaptureFixture) -> None:
    listener, waiting = await listening()
    async with listener:
        reader, writer = await asyncio.open_connection(HOST, listener.port)
        writer.write(b"GET /callback?code=" + b"x" * HEAD_BYTES)
        with suppress(ConnectionError):
            assert await reader.read() == b""
        assert not waiting.done()
        writer.close()
        waiting.cancel()
    assert not caplog.records


async def test_an_error_callback_is_returned_and_its_text_is_not_on_the_page() -> None:
    listener, waiting = await listening()
    async with listener:
        text = "%3Cscript%3Ealert(1)%3C%2Fscript%3E"
        _, page = await get(f"{listener.address}?error=access_denied&error_description={text}&state={STATE}")
        assert "Sign-in rejected." in page and "script" not in page
        answer = await waiting
        assert (answer.error, answer.code) == ("access_denied", "")


async def test_a_client_that_never_finishes_its_request_does_not_delay_closing() -> None:
    listener, waiting = await listening()
    _, writer = await asyncio.open_connection("127.0.0.1", listener.port)
    writer.write(b"GET /callback")
    await writer.drain()
    async with asyncio.timeout(4):
        await listener.close()
    writer.close()
    with pytest.raises(asyncio.CancelledError):
        await waiting
