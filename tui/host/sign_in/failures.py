"""Why a sign-in failed, as a sentence with the next step. Does not import the SDK."""

from typing import TYPE_CHECKING

from tui.core.errors import ServerError
from tui.core.text import clean_line

if TYPE_CHECKING:
    from mcp.client.auth.oauth2 import OAuthContext


class SignInFailed(ServerError):
    """The sign-in failed. `is_offered`: the server supports signing in."""

    def __init__(self, message: str, *, next_step: str, is_offered: bool = True) -> None:
        super().__init__(message, next_step=next_step)
        self.is_offered = is_offered


def explained(error: Exception, message: str, server: str, context: "OAuthContext") -> SignInFailed:
    """Explain an error of the SDK to the user.

    `message` is that of the error, cleaned and redacted; `context` is the SDK's state so far.
    """
    kind = type(error).__name__
    known = context.protected_resource_metadata
    if kind == "OAuthRegistrationError" and context.oauth_metadata is None:
        if known is None:
            return SignInFailed(
                "it requires valid credentials, and offers no sign-in (no OAuth metadata).",
                next_step=f"Set a header in [servers.{server}.headers], for example"
                ' Authorization = "Bearer ${TOKEN}".',
                is_offered=False,
            )
        issuer = clean_line(str(known.authorization_servers[0]), 120)
        return SignInFailed(
            f"its authorization server {issuer} has no metadata.",
            next_step="Contact the server's operator.",
        )
    if kind == "OAuthRegistrationError":
        return SignInFailed(
            f"its authorization server did not register mcptui: {message}.",
            next_step=f"Register a client manually and set client_id in [servers.{server}.oauth].",
        )
    if "issuer" in message or "iss " in message:
        return SignInFailed(
            f"unexpected authorization server: {message}.",
            next_step=(
                f"No token was accepted. If the server has moved, run `mcptui logout {server}`, then sign in."
            ),
        )
    return SignInFailed(f"sign-in failed: {message or kind}.", next_step="Restart the server to try again.")
