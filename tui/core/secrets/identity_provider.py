"""The identity provider of an organization, as configured."""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class IdentityProvider:
    """Where an organization signs its members in: one sign-in for all servers that name it.

    `client_secret` is a secret, or `keyring:SERVICE/NAME`. A `callback_port` of 0 is any.
    """

    name: str
    issuer: str
    client_id: str
    client_secret: str = field(default="", repr=False)
    scopes: tuple[str, ...] = ()
    callback_port: int = 0

    @property
    def account(self) -> str:
        """The name that its sign-in is stored under: no server has a slash in its name."""
        return account_of(self.name)


def account_of(provider: str) -> str:
    """Return the account of the identity provider with this name."""
    return f"identity_providers/{provider}"
