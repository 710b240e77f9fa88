"""What the tests of this add-on share."""

from pathlib import Path

import pytest

from tui.host.sign_in.token_store import TokenStore


@pytest.fixture
def store(tmp_path: Path) -> TokenStore:
    return TokenStore(tmp_path / "sign-in", use_keychain=False)
