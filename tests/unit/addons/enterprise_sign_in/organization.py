"""An identity provider, a server that trusts it, and an authenticator whose settings name both."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from tests.protocol.enterprise import AT_IDP, AT_SERVER, EnterpriseServer, IdentityProvider
from tests.unit.host.sign_in.people import Around, Person
from tui.core.secrets.identity_provider import IdentityProvider as Provider
from tui.host.sign_in.token_store import TokenStore


def settings(idp: IdentityProvider, server: EnterpriseServer, **other: Any) -> dict[str, Any]:
    """Return the sign-in settings of a server."""
    provider = Provider("acme", idp.origin, AT_IDP[0], AT_IDP[1])
    client = {"client_id": AT_SERVER[0], "client_secret": AT_SERVER[1]}
    return {"identity_provider": provider, "issuer": server.origin, **client, **other}


@asynccontextmanager
async def organization(
    store: TokenStore,
    idp: Mapping[str, Any] | None = None,
    server: Mapping[str, Any] | None = None,
    *,
    person: Person | None = None,
    **oauth: Any,
) -> AsyncIterator[tuple[IdentityProvider, EnterpriseServer, Around]]:
    """Run both; yield them and the authenticator."""
    async with (
        IdentityProvider(**(idp or {})) as at,
        EnterpriseServer(**{"trusts": at, **(server or {})}) as one,
    ):
        yield at, one, Around(store, one.url, person, **settings(at, one, **oauth))
