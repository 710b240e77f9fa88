"""What is rejected before the person is asked to sign in."""

from typing import Any

import pytest

from tui.core.questions import Refuser
from tui.host.sign_in.authorization_server import SignInFailed
from tui.host.sign_in.browser_sign_in import BrowserSignIn


@pytest.mark.parametrize("address", ["javascript:alert(1)", "file:///etc/passwd", "http://auth.example/"])
async def test_a_url_that_no_browser_may_open_is_not_shown(address: str) -> None:
    listener: Any = None
    person = BrowserSignIn(
        "srv",
        "https://srv.example/mcp",
        listener,
        Refuser(),
        waiting=lambda words: None,
        remember=lambda secrets: None,
        open_browser=lambda address: False,
    )
    with pytest.raises(SignInFailed, match="its sign-in URL"):
        await person.show(address)
