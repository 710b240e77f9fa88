"""The context window of a model: from the configuration, its endpoint, or a list of known models.

A local server may give a model less than its maximum: Ollama truncates at 4,096 tokens by default, llama.cpp
and vLLM at the size that they were started with. So these servers are asked.
"""

import re
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

from tui.core.errors import McptuiError
from tui.model.endpoints.endpoint_errors import looks_like_ollama
from tui.model.endpoints.listing import (
    Ability,
    Inquiry,
    OfferedModel,
    count_in,
    has_ability,
    inquiry,
    models_at,
)
from tui.model.endpoints.profile import ModelProfile
from tui.model.endpoints.providers import is_local, provider_of

OLLAMA_WINDOW = 4_096
"""Ollama's default, in tokens."""

TABLE = (
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


async def load(profile: ModelProfile) -> None:
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
    return next((window for words, window in TABLE if re.search(words, profile.model, re.IGNORECASE)), None)


async def _asked(endpoint: Inquiry, profile: ModelProfile) -> Ability:
    if looks_like_ollama(profile):
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
    shown = _dict(await endpoint.ask(f"{endpoint.root}/api/show", {"model": model}))
    abilities = shown.get("capabilities")
    info = _dict(shown.get("model_info")).items()
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
    return None, isinstance(_dict(body).get("models"), list)


async def _of_lmstudio(endpoint: Inquiry, model: str) -> Ability:
    """LM Studio 0.4 or newer."""
    for entry in _dicts(await endpoint.ask(f"{endpoint.root}/api/v1/models"), "models"):
        loaded = list(_dicts(entry, "loaded_instances"))
        if model != entry.get("key") and model not in [item.get("id") for item in loaded]:
            continue
        window = count_in(_dict(loaded[0].get("config")).get("context_length")) if loaded else None
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
    body = _dict(await endpoint.ask(f"{endpoint.root}/props"))
    return Ability(
        count_in(_dict(body.get("default_generation_settings")).get("n_ctx")) or count_in(body.get("n_ctx")),
        has_ability(body.get("chat_template_caps"), "supports_tools"),
        has_ability(body.get("modalities"), "vision"),
    )


def _dict(body: Any) -> Mapping[str, Any]:
    return body if isinstance(body, Mapping) else {}


def _dicts(body: Any, key: str) -> list[Mapping[str, Any]]:
    listed = body.get(key) if isinstance(body, Mapping) else None
    return [item for item in listed if isinstance(item, Mapping)] if isinstance(listed, list) else []


_LOCAL: Mapping[str, tuple[Callable[[Inquiry, str], Awaitable[Ability]], ...]] = {
    "ollama": (_of_ollama,),
    "lmstudio": (_of_lmstudio, _of_older_lmstudio),
    "llamacpp": (_of_llamacpp,),
}
