"""A configured model, and which one is selected: command line, configuration, environment, detected, demo.

The demo is selected only if no other model was named or found. A named model that does not work is an error
on the screen, never a silent switch to the demo. Pure.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from tui.core.errors import UsageError
from tui.core.language.translate import message
from tui.core.matching import nearest_name
from tui.core.ports import Usage
from tui.core.secrets.commands_and_urls import secrets_in, secrets_in_arguments
from tui.core.secrets.redact import Redactor, Secret
from tui.core.secrets.secret_names import is_secret_header
from tui.core.text import quoted_name

FIRST_TOKEN_SECONDS = 120.0
"""How long an endpoint may take until its first data chunk; reasoning models think first."""

BETWEEN_CHUNKS_SECONDS = 60.0
"""How long an endpoint may be silent between two data chunks; keep-alive comments do not count."""


@dataclass(frozen=True, slots=True)
class ModelProfile:
    """A model that can be selected.

    `api_key_env` is named in error messages; `key_place` says where the key is that the user entered for the
    profile, in words, or ""; values of `headers` may be secret; `keychain` is "SERVICE/NAME"
    or "". `tool_protocol` is "auto", "native", or the name of a dialect. `context_window` is in tokens.
    `first_token_seconds` and `between_chunks_seconds` are timeouts. `source` is "command line",
    "configuration", "environment" or "detected". Prices are of a million tokens; `price_cached` is that of
    input tokens read from the endpoint's cache, None for the same as others. `effort` is one of `EFFORTS` or
    ""; `extra_body` holds fields of the request that replace mcptui's own. A model that `writes_titles` is
    asked for the title of a conversation after its first answer. `blocked` says why nothing may be
    sent to it, or is "".
    """

    name: str
    base_url: str
    model: str
    api_key: Secret | None = None
    api_key_env: str = ""
    temperature: float | None = None
    max_tokens: int | None = None
    tool_protocol: str = "auto"
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    context_window: int | None = None
    first_token_seconds: float = FIRST_TOKEN_SECONDS
    between_chunks_seconds: float = BETWEEN_CHUNKS_SECONDS
    source: str = "configuration"
    keychain: str = ""
    price_in: float | None = None
    price_out: float | None = None
    currency: str = "USD"
    system: str = ""
    price_cached: float | None = None
    effort: str = ""
    top_p: float | None = None
    seed: int | None = None
    stop: tuple[str, ...] = ()
    extra_body: Mapping[str, Any] = field(default_factory=dict, repr=False)
    writes_titles: bool = False
    blocked: str = ""
    key_place: str = ""

    def with_model(self, model: str) -> "ModelProfile":
        bare = replace(self, price_in=None, price_cached=None, price_out=None)
        return replace(bare, model=model, context_window=None)

    @property
    def key_name(self) -> str:
        """The name of the redacted key: its variable, or its place in the configuration."""
        return self.api_key_env or f"models.{self.name}.api_key"

    @property
    def lacks_key(self) -> str:
        """A sentence about the missing API key if its environment variable is not set, otherwise ""."""
        if not self.api_key_env or self.api_key:
            return ""
        return message(
            "{name} has no key: the environment variable {variable} is not set",
            name=self.name,
            variable=self.api_key_env,
        )

    def cost_of(self, usage: Usage) -> float | None:
        """Return the cost of a request and its reply, or None without prices."""
        if self.price_in is None and self.price_out is None:
            return None
        price_in, price_out = self.price_in or 0.0, self.price_out or 0.0
        price_cached = price_in if self.price_cached is None else self.price_cached
        fresh = usage.prompt - usage.cached
        return (fresh * price_in + usage.cached * price_cached + usage.completion * price_out) / 1e6


DEMO = "demo"
"""The name that selects the demo."""


def choose(wanted: str | None, profiles: Sequence[ModelProfile]) -> ModelProfile | None:
    """Return the profile of a name, or else the first one; None for the demo.

    Raises UsageError if no profile has the given name.
    """
    if wanted == DEMO or not (wanted or profiles):
        return None
    found = next((profile for profile in profiles if profile.name == wanted or not wanted), None)
    if found is None and wanted:
        names = [*(profile.name for profile in profiles), DEMO]
        near = nearest_name(wanted, names)
        hint = (
            message("Did you mean {name}?", name=quoted_name(near))
            if near
            else message("Profiles: {names}.", names=", ".join(names))
        )
        raise UsageError(
            message("model profile {wanted} not found", wanted=quoted_name(wanted)),
            where="model",
            next_step=hint,
        )
    return found


def redactor_of(profile: ModelProfile) -> Redactor:
    """Return a redactor for the secrets that are sent to a profile's endpoint."""
    place = f"models.{profile.name}"
    keys = {profile.key_name: profile.api_key.reveal()} if profile.api_key else {}
    keys |= {f"{place}.base_url.{at}": item for at, item in enumerate(secrets_in(profile.base_url))}
    for name, value in profile.headers.items():
        if is_secret_header(name):
            for at, (_, item) in enumerate(secrets_in_arguments([f"{name}: {value}"])):
                keys[f"{place}.headers.{name}.{at}"] = item
    return Redactor(keys=keys)
