"""`keyring:` in the settings of a server."""

import pytest

from tui.core.errors import ConfigError
from tui.core.server_secrets import resolved_env, resolved_headers, resolved_oauth
from tui.core.servers import OAuthSpec, ServerSpec


@pytest.fixture(autouse=True)
def keys(keychain: dict[tuple[str, str], str]) -> None:
    keychain.update({("mcptui", "api"): "canary-key", ("mcptui", "cut"): "cana…key"})


async def test_a_client_secret_comes_from_the_keychain() -> None:
    spec = ServerSpec("api", oauth=OAuthSpec(client_secret="keyring:mcptui/api"))
    assert (await resolved_oauth(spec, lambda _: None)).client_secret == "canary-key"


async def test_a_command_variable_comes_from_the_keychain() -> None:
    spec = ServerSpec("api", "run", env={"KEY": "keyring:mcptui/api", "LEVEL": "info"})
    assert (await resolved_env(spec, lambda _: None)).env == {"KEY": "canary-key", "LEVEL": "info"}


async def test_a_missing_keychain_entry_is_reported_with_its_configuration_key() -> None:
    spec = ServerSpec("api", headers={"X-Key": "keyring:mcptui/other"})
    with pytest.raises(ConfigError, match=r"servers\.api\.headers\.X-Key.*the key is not in the keychain"):
        await resolved_headers(spec, lambda _: None)


async def test_a_value_that_is_invalid_in_a_header_is_rejected_without_showing_it() -> None:
    spec = ServerSpec("api", headers={"X-Key": "keyring:mcptui/cut"})
    with pytest.raises(ConfigError, match=r"servers\.api\.headers\.X-Key.*non-ASCII") as refused:
        await resolved_headers(spec, lambda _: None)
    assert "cana" not in str(refused.value)
