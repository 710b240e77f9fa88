"""A configured model: where it is, how it is called, how long it may be silent."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from tui.core.ports import Usage
from tui.core.secrets.redact import Secret

FIRST_TOKEN_SECONDS = 120.0
"""How long an endpoint may take to its first data chunk; reasoning models think before they speak."""

BETWEEN_CHUNKS_SECONDS = 60.0
"""How long an endpoint may be silent between two data chunks; keep-alive comments do not count."""


@dataclass(frozen=True, slots=True)
class ModelProfile:
    """A model that can be asked.

    Attributes:
        name: what the person calls it: the NAME of `[models.NAME]`, or a provider's name.
        base_url: address of the OpenAI-compatible endpoint ("https://api.openai.com/v1").
        model: the endpoint's id of the model.
        api_key: the key, or None for endpoints without one.
        api_key_env: the environment variable that the key comes from; named in error texts.
        temperature: sent if not None.
        max_tokens: sent if not None.
        tool_protocol: how it calls tools: "auto", "native", or the name of a text protocol.
        headers: sent with each request besides the usual ones; values may be secret.
        context_window: tokens that fit into one request, or None if unknown.
        first_token_seconds: how long to wait for the first data chunk.
        between_chunks_seconds: how long to wait between two data chunks.
        keychain: the place of the key in the system's keychain, "SERVICE/NAME", or "".
        system: the system text of conversations that begin with this model, or "" for the usual one.
        source: who named it: "command line", "configuration", "environment" or "detected".
        price_in: what a million tokens of a request cost, or None if unknown.
        price_cached: what a million tokens of a request cost that the endpoint reads from its cache; None for
            as much as others.
        price_out: what a million tokens of a reply cost, or None if unknown.
        currency: of the prices.
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

    def with_model(self, model: str) -> "ModelProfile":
        """Return this profile with another model, without the window and the prices of its own."""
        return replace(
            self,
            model=model,
            context_window=None,
            price_in=None,
            price_cached=None,
            price_out=None,
        )

    @property
    def key_name(self) -> str:
        """What a mark says in place of the key: its variable, or its place in the configuration."""
        return self.api_key_env or f"models.{self.name}.api_key"

    def cost_of(self, usage: Usage) -> float | None:
        """Return what a request and its reply cost, or None without prices."""
        if self.price_in is None and self.price_out is None:
            return None
        price_in, price_out = self.price_in or 0.0, self.price_out or 0.0
        price_cached = price_in if self.price_cached is None else self.price_cached
        fresh = usage.prompt - usage.cached
        return (fresh * price_in + usage.cached * price_cached + usage.completion * price_out) / 1e6
