"""Asks endpoints about their models: which they list, what each can do, which servers run on this machine.

Servers on this machine answer on their default ports on loopback, which are asked all at once and with
small limits. Other programs use these ports too, so only a list with a chat model counts. Nothing else is
ever scanned.
"""

import asyncio
import re
import ssl
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from types import ModuleType
from typing import Any
from urllib.parse import urlsplit

from tui.core.errors import McptuiError, ModelError
from tui.core.jsonrpc.reader import json_value
from tui.core.language.translate import message
from tui.core.text import list_in, mapping, object_in, text_in
from tui.core.units import whole
from tui.core.web import is_loopback, joined, tls_context, with_headers
from tui.model.endpoints import endpoint_errors as errors
from tui.model.endpoints.profile import ModelProfile, redactor_of
from tui.model.endpoints.providers import NO_KEY, is_local, provider_of, query_of, usable_key, usable_url

SECONDS = 8.0
"""Timeout of one request, response included."""

CONNECT_SECONDS = 3.0
MAX_BODY = 16 * 1024 * 1024
"""Maximum bytes of a response, ten times the longest known list of models."""

ENTER_IT = message("Enter the model id yourself.")


class Inquiry:
    """An open endpoint for small requests: JSON in and out, bounded in time and size. Made by `inquiry`."""

    def __init__(self, profile: ModelProfile, client: Any, httpx: ModuleType) -> None:
        self._profile = profile
        self._client = client
        self._httpx = httpx
        self._redactor = redactor_of(profile)
        self.base_url = usable_url(profile)

    @property
    def root(self) -> str:
        return self.base_url.removesuffix("/v1")

    async def ask(self, url: str, body: Mapping[str, Any] | None = None, *, seconds: float = 0.0) -> Any:
        """Return the JSON value at an address, or the answer to a `body`.

        Raises ModelError if it is unreachable, refused, too slow, or not JSON.
        """
        method, seconds = "GET" if body is None else "POST", seconds or SECONDS
        broken = (self._httpx.HTTPError, self._httpx.StreamError, self._httpx.InvalidURL, OSError)
        timeout = self._httpx.Timeout(seconds, connect=CONNECT_SECONDS)
        try:
            async with (
                asyncio.timeout(seconds),
                self._client.stream(method, url, json=body, timeout=timeout) as response,
            ):
                if (raw := await joined(response.aiter_bytes(), MAX_BODY)) is None:
                    large = message("the response exceeds {limit} bytes", limit=MAX_BODY)
                    raise errors.endpoint_error(self._profile, large, ENTER_IT)
        except TimeoutError:
            raise errors.stall_error(self._profile, seconds, first=True) from None
        except broken as error:
            raise errors.connection_error(self._profile, error) from None
        text = raw.decode("utf-8-sig", "replace")
        if response.status_code != 200:
            raise errors.status_error(self._profile, response.status_code, text, response.headers)
        # An id may contain a key that is an ordinary word, like `lm-studio`.
        value = json_value(self._redactor.redact_spoken(text, quotes=True))
        if not isinstance(value, dict | list):
            kind = response.headers.get("content-type", "")
            raise errors.not_a_stream(self._profile, kind, raw[:4096], "JSON")
        return value


def context_for(base_url: str) -> ssl.SSLContext:
    """Return the TLS context for an endpoint. Imports httpx2 and may read the certificates: use a thread.

    Certificates of the environment apply, like proxies, except to an endpoint on the local network. One with
    plain HTTP gets a context without certificates, which costs nothing.
    """
    import httpx2

    private = is_local(base_url)
    if private and base_url.lower().startswith("http:"):  # no proxy, so no TLS to a proxy either
        return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    return tls_context(httpx2.create_ssl_context, trust_env=not private)


def client_options(profile: ModelProfile, url: str, query: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """Return the options of an HTTP client for an endpoint, which uses only what its profile says.

    Raises ModelError for an unusable proxy. Use a thread: it imports httpx2 and may read the certificates.
    """
    return {
        "verify": context_for(url),
        "trust_env": False,  # a faulty proxy variable would be an internal error
        "proxy": errors.usable_proxy(profile, url),
        "follow_redirects": False,
        "params": query,
    }


@asynccontextmanager
async def inquiry(profile: ModelProfile) -> AsyncGenerator[Inquiry]:
    """Open an endpoint; nothing is sent yet. Raises ConfigError if the address or the key is unusable."""
    key, url, query = usable_key(profile), usable_url(profile), query_of(profile)
    headers = {"Accept": "application/json", "Accept-Encoding": "identity"}
    if key != NO_KEY:
        headers["Authorization"] = f"Bearer {key}"
        if (provider := provider_of(profile.base_url)) is not None and provider.name == "anthropic":
            # Only its chat is compatible; its list of models needs its own headers.
            headers |= {"x-api-key": key, "anthropic-version": "2023-06-01"}

    def build() -> tuple[Any, ModuleType]:
        import httpx2

        options = client_options(profile, url, query)
        return httpx2.AsyncClient(headers=with_headers(headers, profile.headers), **options), httpx2

    client, httpx = await asyncio.to_thread(build)
    try:
        yield Inquiry(profile, client, httpx)
    finally:
        await client.aclose()


MAX_MODELS = 50_000
"""Maximum models in a list, against hostile ones; the longest known list has some hundreds."""
MAX_ID = 256
MAX_WINDOW = 100_000_000

_NO_CHAT = re.compile(
    r"embed|(?:^|[/-])(?:e5|gte|bge)-|minilm|rerank|whisper|tts|clip|nomic|stable-diffusion|sdxl|flux|vae|ocr"
    r"|moderation|dall-e|gpt-image|imagen|veo|sora|realtime|transcribe|speech",
    re.IGNORECASE,
)
_NO_CHAT_KINDS = ("embedding", "embeddings", "reranker", "rerank", "image", "audio", "moderation")
_WINDOWS = (
    *("max_model_len", "context_length", "context_window", "max_context_length", "max_input_tokens"),
    *("inputTokenLimit", "n_ctx"),
)


@dataclass(frozen=True, slots=True)
class Ability:
    """The abilities of a model; None where unknown. The window is in tokens.

    `unloaded`: the server has yet to load it, and knows the window only then.
    """

    window: int | None = None
    tools: bool | None = None
    images: bool | None = None
    unloaded: bool = False


@dataclass(frozen=True, slots=True)
class OfferedModel:
    """A model that an endpoint offers; `owner` is its server's own name ("vllm", "llamacpp", "library")."""

    id: str
    chat: bool = True
    ability: Ability = Ability()
    owner: str = ""


async def offered_by(profile: ModelProfile) -> list[OfferedModel]:
    """Return the models of an endpoint, in its own order.

    Raises ConfigError if the address or the key is unusable, ModelError if there is no list of models.
    """
    async with inquiry(profile) as endpoint:
        return await models_at(endpoint, profile)


async def models_at(endpoint: Inquiry, profile: ModelProfile) -> list[OfferedModel]:
    """Return the models of an open endpoint. Raises as `offered_by` does."""
    try:
        body = await endpoint.ask(f"{endpoint.base_url}/models")
    except ModelError as error:
        missing = error.status in (404, 405) or isinstance(error, errors.NotAStream)
        if not missing or errors.has_version(endpoint.base_url):
            raise
        body = await endpoint.ask(f"{endpoint.base_url}/v1/models")
    found = {one.id: one for one in models_in(body)}
    if not found:
        raise errors.endpoint_error(profile, message("the endpoint does not list its models"), ENTER_IT)
    return list(found.values())


def models_in(body: Any) -> Iterator[OfferedModel]:
    """Yield the models in a list; skip anything else."""
    listed = body if isinstance(body, list) else body.get("data") or body.get("models")
    for entry in listed[:MAX_MODELS] if isinstance(listed, list) else ():
        if isinstance(entry, str):
            entry = {"id": entry}
        if isinstance(entry, Mapping) and (made := _offered(entry)) is not None:
            yield made


def _offered(entry: Mapping[str, Any]) -> OfferedModel | None:
    identity = next((entry[key] for key in ("id", "key", "model", "name") if entry.get(key)), None)
    if not isinstance(identity, str) or not identity.isprintable() or len(identity) > MAX_ID:
        return None
    abilities = entry.get("capabilities")
    owner, modalities = text_in(entry, "owned_by"), object_in(entry, "architecture").get("input_modalities")
    silent = mapping(abilities).get("completion_chat") is False
    ability = Ability(
        window_in(entry),
        tools=has_ability(abilities, "function_calling", "tool_use", "tools", "trained_for_tool_use")
        if abilities
        else _listed(entry.get("supported_parameters"), "tools"),
        images=has_ability(abilities, "vision", "image", "multimodal")
        if abilities
        else _listed(modalities, "image"),
    )
    chat = not silent and entry.get("type") not in _NO_CHAT_KINDS and not _NO_CHAT.search(identity)
    return OfferedModel(identity, chat, ability, owner[:64])


def window_in(entry: Mapping[str, Any]) -> int | None:
    """Return the context window in an entry of a list, under whatever name."""
    for holder in (entry, object_in(entry, "meta")):
        for name in _WINDOWS:
            if (window := count_in(holder.get(name))) is not None:
                return window
    return None


def count_in(value: Any) -> int | None:
    """Return a number of tokens, or None if it is not one."""
    window = whole(value, least=1, or_text=True)
    return window if window is not None and window <= MAX_WINDOW else None


def has_ability(abilities: Any, *names: str) -> bool | None:
    """Return whether a list of abilities, or an object of flags, has one of these names; None if unknown."""
    if isinstance(abilities, list):
        return any(name in abilities for name in names)
    if isinstance(abilities, Mapping):
        said = [abilities[name] for name in names if isinstance(abilities.get(name), bool)]
        return said[0] if said else None
    return None


def _listed(values: Any, name: str) -> bool | None:
    return name in values if isinstance(values, list) and values else None


# ---- what a model can do, and its context window: from its endpoint, or a list of known models
#
# A local server may give a model less than its maximum: Ollama truncates at 4,096 tokens by default,
# llama.cpp and vLLM at the size that they were started with. So these servers are asked.

OLLAMA_WINDOW = 4_096
"""Ollama's default, in tokens."""

KNOWN = (
    (r"gpt-4\.1", 1_047_576),
    (r"gpt-5|codex", 400_000),
    (r"(?:^|/)o[134](?:-|$)", 200_000),
    (r"gpt-oss", 131_072),
    (r"gpt-4o|gpt-4-turbo", 128_000),
    (r"claude", 200_000),
    (r"gemini", 1_048_576),
    (r"kimi-k2", 262_144),
    (r"glm-(?:4\.[6-9]|5)", 200_000),
    (r"grok-4", 256_000),
    (r"minimax-m", 204_800),
    (
        r"deepseek|kimi|glm-4|grok|qwen|mistral-(?:large|medium|small)|magistral|devstral|llama-3\.[1-3]",
        131_072,
    ),
)
"""Windows of models as their makers serve them, by a pattern in the id; the first match applies."""

_SILENT = ("openai", "anthropic", "gemini", "deepseek", "dashscope", "xai")
"""Providers whose lists of models do not include windows, so they are not asked."""


async def ability_of(profile: ModelProfile) -> Ability:
    """Return the capabilities of a model in bounded time; None where the endpoint does not say."""
    found = Ability()
    provider = provider_of(profile.base_url)
    if provider is None or provider.name not in _SILENT:
        # A server without these URLs works as well.
        with suppress(McptuiError):
            async with inquiry(profile) as endpoint:
                found = await _asked(endpoint, profile)
    return found if found.window is not None else replace(found, window=known_window(profile))


async def load_model(profile: ModelProfile) -> None:
    """Have Ollama load a model, as the first request would; takes seconds to minutes.

    A request without a prompt does only that (Ollama's API, "Load a model"). Raises ModelError if the model
    cannot be loaded; the first request would fail too.
    """
    async with inquiry(profile) as endpoint:
        url = f"{endpoint.root}/api/generate"
        body = {"model": profile.model, "stream": False}
        await endpoint.ask(url, body, seconds=profile.first_token_seconds)


def known_window(profile: ModelProfile) -> int | None:
    """Return the window of a model as its maker serves it; None if unknown, and for one on this machine."""
    if is_local(profile.base_url):
        return None
    return next((window for words, window in KNOWN if re.search(words, profile.model, re.IGNORECASE)), None)


async def _asked(endpoint: Inquiry, profile: ModelProfile) -> Ability:
    if errors.looks_like_ollama(profile):
        return await _of_ollama(endpoint, profile.model)
    offered = await models_at(endpoint, profile)
    mine = next((item for item in offered if item.id == profile.model), None)
    found = mine.ability if mine is not None else Ability()
    if not is_local(profile.base_url):
        return found
    for ask in _LOCAL.get(_kind(profile, mine or offered[0]), ()):
        try:
            better = await ask(endpoint, profile.model)
        except McptuiError:
            continue
        if better.window is not None:
            return better
    return found


def _kind(profile: ModelProfile, offered: OfferedModel) -> str:
    """Return which local server this is, by its own name, the profile's name, or the default port."""
    if offered.owner == "library":
        return "ollama"
    if offered.owner in ("llamacpp", "vllm"):
        return offered.owner
    address = profile.base_url.partition("?")[0]
    ports = {":1234": "lmstudio", ":8080": "llamacpp"}
    by_port = next((kind for port, kind in ports.items() if f"{port}/" in f"{address}/"), "")
    return profile.name if profile.name in _LOCAL else by_port or offered.owner


async def _of_ollama(endpoint: Inquiry, model: str) -> Ability:
    """Ask Ollama: the model file's own window, else that of the loaded model, else the default."""
    shown = mapping(await endpoint.ask(f"{endpoint.root}/api/show", {"model": model}))
    abilities = shown.get("capabilities")
    info = object_in(shown, "model_info").items()
    lengths = (count_in(value) for key, value in info if str(key).endswith(".context_length"))
    most = next(filter(None, lengths), OLLAMA_WINDOW)
    tools, images = has_ability(abilities, "tools"), has_ability(abilities, "vision")
    parameters = shown.get("parameters")
    set_to = re.search(r"(?m)^num_ctx\s+(\d{1,9})", parameters) if isinstance(parameters, str) else None
    if set_to:
        return Ability(int(set_to[1]), tools, images)
    window, unloaded = await _loaded_in_ollama(endpoint, model)
    if window:
        return Ability(window, tools, images)
    default = min(most, OLLAMA_WINDOW)
    return Ability(default, tools, images, unloaded)


async def _loaded_in_ollama(endpoint: Inquiry, model: str) -> tuple[int | None, bool]:
    """Return the window of a model if it is loaded, and whether it is known not to be loaded."""
    try:
        body = await endpoint.ask(f"{endpoint.root}/api/ps")
    except McptuiError:
        return None, False
    names = (model, f"{model}:latest")  # Ollama's default tag
    for entry in _dicts(body, "models"):
        if entry.get("name") in names or entry.get("model") in names:
            return count_in(entry.get("context_length")), False
    return None, isinstance(mapping(body).get("models"), list)


async def _of_lmstudio(endpoint: Inquiry, model: str) -> Ability:
    """LM Studio 0.4 or newer."""
    for entry in _dicts(await endpoint.ask(f"{endpoint.root}/api/v1/models"), "models"):
        loaded = list(_dicts(entry, "loaded_instances"))
        if model != entry.get("key") and model not in [item.get("id") for item in loaded]:
            continue
        window = count_in(object_in(loaded[0], "config").get("context_length")) if loaded else None
        able = entry.get("capabilities")
        return Ability(
            window or count_in(entry.get("max_context_length")),
            has_ability(able, "trained_for_tool_use"),
            has_ability(able, "vision"),
        )
    return Ability()


async def _of_older_lmstudio(endpoint: Inquiry, model: str) -> Ability:
    """LM Studio before 0.4."""
    for entry in _dicts(await endpoint.ask(f"{endpoint.root}/api/v0/models"), "data"):
        if model == entry.get("id"):
            window = count_in(entry.get("loaded_context_length"))
            most = count_in(entry.get("max_context_length"))
            return Ability(window or most, images=True if entry.get("type") == "vlm" else None)
    return Ability()


async def _of_llamacpp(endpoint: Inquiry, model: str) -> Ability:
    """Ask llama.cpp's server, which has only one model."""
    body = mapping(await endpoint.ask(f"{endpoint.root}/props"))
    return Ability(
        count_in(object_in(body, "default_generation_settings").get("n_ctx")) or count_in(body.get("n_ctx")),
        has_ability(body.get("chat_template_caps"), "supports_tools"),
        has_ability(body.get("modalities"), "vision"),
    )


def _dicts(body: Any, key: str) -> list[Mapping[str, Any]]:
    return [item for item in list_in(mapping(body), key) if isinstance(item, Mapping)]


_LOCAL: Mapping[str, tuple[Callable[[Inquiry, str], Awaitable[Ability]], ...]] = {
    "ollama": (_of_ollama,),
    "lmstudio": (_of_lmstudio, _of_older_lmstudio),
    "llamacpp": (_of_llamacpp,),
}


# ---- servers on this machine

PORT_SECONDS = 0.3
READ_SECONDS = 1.0


def candidates(env: Mapping[str, str]) -> list[ModelProfile]:
    """Return the places to search: default ports, and OLLAMA_HOST for Ollama if it is this machine.

    OLLAMA_HOST may lack a scheme or a port, and is often 0.0.0.0, which is an address to listen on, not to
    connect to.
    """
    said = env.get("OLLAMA_HOST", "").strip()
    try:
        parts = urlsplit(said if "://" in said else f"//{said}")
        host, port = parts.hostname or "127.0.0.1", parts.port or 11434
    except ValueError:
        host, port = "127.0.0.1", 11434
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
    places = {"lmstudio": "127.0.0.1:1234", "llamacpp": "127.0.0.1:8080", "vllm": "127.0.0.1:8000"}
    if is_loopback(host):
        places = {"ollama": f"{f'[{host}]' if ':' in host else host}:{port}", **places}
    return [ModelProfile(name, f"http://{at}/v1", "", source="detected") for name, at in places.items()]


async def detect(places: Sequence[ModelProfile]) -> list[ModelProfile]:
    """Return a profile for each place that answers as a server with a chat model, in order."""
    found = await asyncio.gather(*map(_probe, places))
    return [profile for profile in found if profile is not None]


async def _probe(place: ModelProfile) -> ModelProfile | None:
    address = urlsplit(place.base_url)
    try:
        # A closed port needs no HTTP client, whose import takes longer than all of this.
        async with asyncio.timeout(PORT_SECONDS):
            _, writer = await asyncio.open_connection(address.hostname, address.port)
        writer.transport.abort()
        async with inquiry(place) as endpoint, asyncio.timeout(READ_SECONDS):
            path = "/api/tags" if place.name == "ollama" else "/v1/models"
            models = models_in(await endpoint.ask(endpoint.root + path))
    except (OSError, TimeoutError, McptuiError):
        return None
    model = next((model.id for model in models if model.chat), None)
    return replace(place, model=model) if model else None
