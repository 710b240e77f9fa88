"""Where a profile's endpoint is and what it is asked with, checked before anything is opened."""

from urllib.parse import urlsplit

from tui.core.errors import ConfigError
from tui.core.secrets.secret_places import masked
from tui.model.endpoints.profile import ModelProfile
from tui.model.endpoints.providers import host_of, is_private, provider_of

NO_KEY = "none"
"""Sent where there is no key: the client refuses to be made without one."""


def usable_url(profile: ModelProfile) -> str:
    """Return the base URL as it is meant: with a scheme, without the path of one endpoint."""
    url = profile.base_url.strip()
    if "://" not in url:
        url = ("http://" if is_private("http://" + url) else "https://") + url
    url = url.rstrip("/")
    for ending in ("/chat/completions", "/completions", "/models"):
        url = url.removesuffix(ending)
    if not host_of(url) or not url.startswith(("http://", "https://")) or any(char.isspace() for char in url):
        raise ConfigError(
            f"base_url {masked(url)[:80]!r} is no http address",
            where=profile.name,
            next_step="It looks like https://HOST/v1.",
        )
    return url


def usable_key(profile: ModelProfile) -> str:
    """Return the key as it can be sent. The key itself is never put into a message.

    Raises:
        ConfigError: it cannot be one, or there is none for a provider that answers nobody without.
    """
    key = profile.api_key.reveal().strip() if profile.api_key else ""
    if not key and (wanted := missing_key(profile)):
        provider = provider_of(profile.base_url)
        page = f"A key is had at {provider.key_page}." if provider else ""
        raise ConfigError(wanted, where=profile.name, next_step=page)
    if not (key.isascii() and (key.isprintable())) or " " in key:
        raise ConfigError(
            f"the key in {profile.api_key_env or 'api_key'} holds characters that no key has",
            where=profile.name,
            next_step="Copy it again.",
        )
    return key or NO_KEY


def missing_key(profile: ModelProfile) -> str:
    """Return what is missing where a provider will want a key and the profile has none, or "".

    Headers of the profile's own may carry one.
    """
    provider = provider_of(profile.base_url)
    if provider is None or profile.api_key or profile.keychain:
        return ""
    if any(word in name.lower() for name in profile.headers for word in ("auth", "key", "token")):
        return ""
    return f"{profile.api_key_env or provider.keys[0]} is not set"


def endpoint_key(profile: ModelProfile) -> str:
    """Return what an endpoint is remembered by: its address without what in it may be secret.

    Raises:
        ConfigError: it has no address that can be used.
    """
    return without_secrets(usable_url(profile))


def without_secrets(url: str) -> str:
    """Return a URL without the name, the password and the query that it may hold."""
    try:
        parts = urlsplit(url)
        host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname or ""
        return f"{parts.scheme}://{host}{f':{parts.port}' if parts.port else ''}{parts.path}"
    except ValueError:
        return url.rpartition("@")[2].partition("?")[0]
