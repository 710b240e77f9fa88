"""Providers as data, profiles from the environment, and the address and key of a profile. Pure.

Names of models change. A new account can use the ones in the table, and each can be overridden with
`NAME_MODEL` in the environment or with a profile in the configuration.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import parse_qsl, urlsplit

from tui.core.errors import ConfigError
from tui.core.language.translate import message
from tui.core.secrets.commands_and_urls import masked
from tui.core.secrets.redact import Secret
from tui.core.secrets.secret_names import is_secret_header
from tui.core.text import clean_line, quoted_name
from tui.core.web import host_of, is_private
from tui.model.endpoints.profile import ModelProfile


@dataclass(frozen=True, slots=True)
class Provider:
    """One provider of models, or a program on this machine; its name in capitals begins its variables.

    `address` is that of its API and `page` where to get a key, both without https://; without a page, it
    needs none. `domain` is the one that belongs to it with all its subdomains, if it is not just the host of
    its API. Without a name, it is any endpoint.
    """

    name: str
    title: str
    address: str = ""
    model: str = ""
    page: str = ""
    domain: str = ""
    second_key: str = ""

    @property
    def base_url(self) -> str:
        return f"https://{self.address}" if self.address and "://" not in self.address else self.address

    @property
    def key_page(self) -> str:
        return f"https://{self.page}" if self.page else ""

    @property
    def keys(self) -> tuple[str, ...]:
        """The environment variables for its key; the first is the one to set."""
        if not self.page:
            return ()
        return tuple(filter(None, (f"{self.name.upper()}_API_KEY", self.second_key)))

    def has(self, host: str) -> bool:
        domain = self.domain or host_of(self.base_url)
        return host == domain or host.endswith("." + domain)


_ALIBABA = "dashscope.aliyuncs.com/compatible-mode/v1"
_GOOGLE = "generativelanguage.googleapis.com/v1beta/openai"
_MISTRAL, _CONSOLE = "console.mistral.ai/api-keys", "console.anthropic.com/settings/keys"
_STUDIO = "aistudio.google.com/apikey"
_DEEPSEEK, _MOONSHOT = "platform.deepseek.com/api_keys", "platform.moonshot.ai/console/api-keys"

PROVIDERS = (
    Provider("openai", "OpenAI", "api.openai.com/v1", "gpt-5.1", "platform.openai.com/api-keys"),
    Provider("openrouter", "OpenRouter", "openrouter.ai/api/v1", "openrouter/auto", "openrouter.ai/keys"),
    Provider("deepseek", "DeepSeek", "api.deepseek.com/v1", "deepseek-chat", _DEEPSEEK, "deepseek.com"),
    Provider("moonshot", "Moonshot", "api.moonshot.ai/v1", "kimi-latest", _MOONSHOT, "moonshot.ai"),
    Provider("dashscope", "DashScope", _ALIBABA, "qwen-plus", "bailian.console.aliyun.com", "aliyuncs.com"),
    Provider("gemini", "Gemini", _GOOGLE, "gemini-flash-latest", _STUDIO, second_key="GOOGLE_API_KEY"),
    Provider("mistral", "Mistral", "api.mistral.ai/v1", "mistral-medium-latest", _MISTRAL),
    Provider("groq", "Groq", "api.groq.com/openai/v1", "openai/gpt-oss-120b", "console.groq.com/keys"),
    Provider("anthropic", "Anthropic", "api.anthropic.com/v1", "claude-sonnet-4-5", _CONSOLE),
    Provider("xai", "xAI", "api.x.ai/v1", "grok-4", "console.x.ai"),
)


def is_local(base_url: str) -> bool:
    """Whether a URL leads to this machine or its private network, which no proxy can reach."""
    return is_private(host_of(base_url))


def provider_of(base_url: str) -> Provider | None:
    """Return the provider that a URL belongs to, or None."""
    host = host_of(base_url)
    return next((item for item in PROVIDERS if item.has(host)), None)


def from_environment(env: Mapping[str, str]) -> list[ModelProfile]:
    """Return a profile for each provider with a key in the environment, in the table's order.

    Empty values count as unset. OPENAI_BASE_URL binds OPENAI_API_KEY to another host; without it the
    key goes to OpenAI only. It may also be set alone, for an endpoint without a key.
    """
    values = {name: value.strip() for name, value in env.items()}
    found = []
    for provider in PROVIDERS:
        variable = next((name for name in provider.keys if values.get(name)), "")
        prefix = provider.name.upper()
        base_url = values.get(f"{prefix}_BASE_URL", "")
        if variable or base_url:
            profile = ModelProfile(
                name=provider.name,
                base_url=base_url or provider.base_url,
                model=values.get(f"{prefix}_MODEL") or provider.model,
                api_key=Secret(values[variable]) if variable else None,
                api_key_env=variable or provider.keys[0],
                source="environment",
            )
            found.append(profile)
    return found


BLOCKED_STEP = message(
    "If you trust it, run `mcptui config trust` with the same --config, or add --trust-config for this run."
)
MAX_QUERY = 50
NO_KEY = "none"
"""Sent if there is no key, because the client requires one."""


_PATHS = ("/chat/completions", "/completions", "/responses", "/embeddings", "/models")
"""Ends of addresses that providers' pages show for copying; mcptui appends them itself."""


def without_endpoint(url: str) -> str:
    """Return a URL without the path of one endpoint at its end."""
    url = url.rstrip("/")
    for ending in _PATHS:
        if url.lower().endswith(ending):
            url = url[: -len(ending)].rstrip("/")
    return url


def usable_url(profile: ModelProfile) -> str:
    """Return the base URL, completed: with a scheme, without the path of one endpoint, query and fragment.

    Every request needs it, so it raises ConfigError for a profile that is blocked.
    """
    if profile.blocked:
        raise ConfigError(profile.blocked, where=profile.name, next_step=BLOCKED_STEP)
    url = profile.base_url.strip().partition("#")[0].partition("?")[0]
    if "://" not in url:
        url = ("http://" if is_local("http://" + url) else "https://") + url
    url = without_endpoint(url)
    if not host_of(url) or not url.startswith(("http://", "https://")) or any(char.isspace() for char in url):
        raise ConfigError(
            message("base_url {url} is not an HTTP URL", url=quoted_name(masked(url), 80)),
            where=profile.name,
            next_step=message("Use a URL like https://HOST/v1."),
        )
    return url


def query_of(profile: ModelProfile) -> tuple[tuple[str, str], ...]:
    """Return the query of the base URL (Azure's `api-version`), which every request carries."""
    query = profile.base_url.strip().partition("#")[0].partition("?")[2]
    try:
        return tuple(parse_qsl(query, keep_blank_values=True, max_num_fields=MAX_QUERY))
    except ValueError:
        raise ConfigError(
            message("base_url has more than {limit} parameters", limit=MAX_QUERY),
            where=profile.name,
            next_step=message("Use a URL like https://HOST/v1."),
        ) from None


def usable_key(profile: ModelProfile) -> str:
    """Return the key in the form to send. The key itself never gets into a message.

    Raises ConfigError if it is invalid, or missing for a provider that requires one.
    """
    if profile.blocked:
        raise ConfigError(profile.blocked, where=profile.name, next_step=BLOCKED_STEP)
    key = profile.api_key.reveal().strip() if profile.api_key else ""
    if not key and (wanted := missing_key(profile)):
        provider = provider_of(profile.base_url)
        page = message("Get a key at {url}", url=provider.key_page) if provider else ""
        steps = message(
            "Set it and start mcptui again, or paste a key: {profile}.", profile=enter_key(profile)
        )
        raise ConfigError(wanted, where=profile.name, next_step=f"{steps}{page}".removesuffix(".") + ".")
    named = profile.key_place or f"in {profile.api_key_env or 'api_key'}"
    return checked_key(key, message("the key {named}", named=named), where=profile.name) or NO_KEY


_THE_KEY = message("the key")


def checked_key(key: str, named: str = _THE_KEY, *, where: str = "") -> str:
    """Return a key that can be sent. Raises ConfigError, which contains no part of it."""
    if not (key.isascii() and key.isprintable()) or " " in key:
        raise ConfigError(
            message("{named} contains invalid characters", named=named),
            where=where,
            next_step=message("Copy it again."),
        )
    return key


def missing_key(profile: ModelProfile) -> str:
    """Return which key is missing for a provider that requires one, or "".

    The profile's own headers may carry one.
    """
    provider = provider_of(profile.base_url)
    if provider is None or profile.api_key or profile.keychain:
        return ""
    if any(map(is_secret_header, profile.headers)):
        return ""
    return message("{variable} is not set", variable=profile.api_key_env or provider.keys[0])


def enter_key(profile: ModelProfile) -> str:
    """Return how the user enters a key for a profile, on the screen and in a shell."""
    return message("/key, or `mcptui config key {name}`", name=clean_line(profile.name, 64))


def endpoint_key(profile: ModelProfile) -> str:
    """Return an endpoint's address without secrets. Raises ConfigError if it is unusable."""
    return bare_url(usable_url(profile))


def bare_url(url: str) -> str:
    """Return a URL without user name, password and query."""
    try:
        parts = urlsplit(url)
        host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname or ""
        return f"{parts.scheme}://{host}{f':{parts.port}' if parts.port else ''}{parts.path}"
    except ValueError:
        return url.rpartition("@")[2].partition("?")[0]
