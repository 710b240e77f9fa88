"""Fills in the secrets of a server's configuration from the keychain: `keyring:SERVICE/NAME`."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import replace

from tui.core.background import first_of
from tui.core.errors import ConfigError
from tui.core.language.translate import message
from tui.core.secrets.identity_provider import IdentityProvider
from tui.core.secrets.keychain import key_in_keychain
from tui.core.secrets.secret_names import keychain_entry
from tui.core.servers import OAuthSpec, ServerSpec, Transport
from tui.core.web import header_value_fault

Remember = Callable[[Mapping[str, str]], None]
"""Takes secrets to redact from now on, by name."""


async def resolved(value: str, where: str, remember: Remember) -> str:
    """Return a value with its keychain entry filled in, also after a scheme: `Bearer keyring:SERVICE/NAME`.

    Raises ConfigError.
    """
    if (entry := keychain_entry(value)) is None:
        return value
    secret = await key_in_keychain(entry[1], where=where, otherwise=message('Or use "${VARIABLE}".'))
    remember({where: secret.reveal()})
    return f"{entry[0]}{secret.reveal()}"


async def resolved_header(value: str, where: str, remember: Remember) -> str:
    """Return the value of a header.

    Raises ConfigError, also for a value from the keychain that cannot be sent.
    """
    found = await resolved(value, where, remember)
    if found != value and (fault := header_value_fault(found)):
        raise ConfigError(message("its value in the keychain {problem}.", problem=fault), where=where)
    return found


async def resolved_headers(spec: ServerSpec, remember: Remember) -> dict[str, str]:
    """Return the configured headers of a server. Raises ConfigError."""
    return {
        name: await resolved_header(value, f"servers.{spec.name}.headers.{name}", remember)
        for name, value in spec.headers.items()
    }


async def resolved_env(spec: ServerSpec, remember: Remember) -> ServerSpec:
    """Return a server with the keychain entries of its variables filled in. Raises ConfigError."""
    env = {
        name: await resolved(value, f"servers.{spec.name}.env.{name}", remember)
        for name, value in spec.env.items()
    }
    return replace(spec, env=env)


async def resolved_oauth(spec: ServerSpec, remember: Remember) -> OAuthSpec:
    """Return the sign-in settings with secrets filled in. Raises ConfigError."""
    oauth = spec.oauth
    is_provider = "/" in spec.name  # as no server is named
    where = spec.name.replace("/", ".") if is_provider else f"servers.{spec.name}.oauth"
    return replace(
        oauth,
        client_secret=await resolved(oauth.client_secret, f"{where}.client_secret", remember),
        private_key=await resolved(oauth.private_key, f"{where}.private_key", remember),
    )


def provider_spec(provider: IdentityProvider) -> ServerSpec:
    """Return an identity provider as a server that one signs in to."""
    oauth = OAuthSpec(
        client_id=provider.client_id,
        client_secret=provider.client_secret,
        scopes=provider.scopes,
        issuer=provider.issuer,
        callback_port=provider.callback_port,
    )
    return ServerSpec(provider.account, transport=Transport.HTTP, url=provider.issuer, oauth=oauth)


async def with_secrets(spec: ServerSpec, remember: Remember, stop: asyncio.Event) -> ServerSpec:
    """Return `spec` with keychain values in its environment, unchanged if `stop` is set meanwhile.

    Raises ConfigError.
    """
    if not any(map(keychain_entry, spec.env.values())):
        return spec
    reading = asyncio.ensure_future(resolved_env(spec, remember))
    await first_of(asyncio.wait([reading]), stop.wait())
    if not reading.done():
        reading.cancel()
        return spec
    return await reading
