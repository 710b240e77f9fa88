"""What is rejected before the person is asked to sign in."""

from pathlib import Path
from typing import Any

import pytest

from tui.host.sign_in.authorization_server import SignInFailed
from tui.host.sign_in.browser_sign_in import BrowserSignIn
from tui.host.sign_in.sign_ins import SignIns
from tui.host.sign_in.token_store import TokenStore


@pytest.mark.parametrize("address", ["javascript:alert(1)", "file:///etc/passwd", "http://auth.example/"])
async def test_a_url_that_no_browser_may_open_is_not_shown(address: str, tmp_path: Path) -> None:
    listener: Any = None
    sign_ins = SignIns(TokenStore(tmp_path))
    person = BrowserSignIn("srv", "https://srv.example/mcp", listener, sign_ins)
    with pytest.raises(SignInFailed, match="its sign-in URL"):
        await person.show(address)
