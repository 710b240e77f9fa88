"""Finds model servers on this machine: Ollama, LM Studio, llama.cpp, vLLM.

Asks their default ports on loopback for a list of models, all at once and with small limits. Other programs
use these ports too, so only a list with a chat model counts. Nothing else is ever scanned.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, replace
from urllib.parse import urlsplit

from tui.core.errors import McptuiError
from tui.model.endpoints.listing import inquiry, models_in
from tui.model.endpoints.profile import ModelProfile

CONNECT_SECONDS = 0.3
READ_SECONDS = 1.0

_LOOPBACK = ("127.0.0.1", "localhost", "::1")


@dataclass(frozen=True, slots=True)
class Candidate:
    """A place where a model server may listen: its name, host, port, and the path that lists its models."""

    name: str
    host: str
    port: int
    path: str = "/v1/models"


def candidates(env: Mapping[str, str]) -> list[Candidate]:
    """Return the places to search: default ports, and OLLAMA_HOST for Ollama if it is this machine.

    OLLAMA_HOST may lack a scheme or a port, and is often 0.0.0.0, which is an address to listen on, not to
    connect to.
    """
    found = [
        Candidate("lmstudio", "127.0.0.1", 1234),
        Candidate("llamacpp", "127.0.0.1", 8080),
        Candidate("vllm", "127.0.0.1", 8000),
    ]
    said = env.get("OLLAMA_HOST", "").strip()
    try:
        parts = urlsplit(said if "://" in said else f"//{said}")
        host, port = parts.hostname or "127.0.0.1", parts.port or 11434
    except ValueError:
        host, port = "127.0.0.1", 11434
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
    if host in _LOOPBACK:
        found.insert(0, Candidate("ollama", host, port, "/api/tags"))
    return found


async def detect(places: list[Candidate]) -> list[ModelProfile]:
    """Return a profile for each place that answers as a server with a chat model, in order."""
    found = await asyncio.gather(*(_probe(place) for place in places))
    return [profile for profile in found if profile is not None]


async def _probe(place: Candidate) -> ModelProfile | None:
    host = f"[{place.host}]" if ":" in place.host else place.host
    root = f"http://{host}:{place.port}"
    profile = ModelProfile(place.name, f"{root}/v1", "", source="detected")
    try:
        # A closed port needs no HTTP client, whose import takes longer than all of this.
        async with asyncio.timeout(CONNECT_SECONDS):
            _, writer = await asyncio.open_connection(place.host, place.port)
        writer.transport.abort()
        async with inquiry(profile) as endpoint, asyncio.timeout(READ_SECONDS):
            models = models_in(await endpoint.ask(root + place.path))
    except (OSError, TimeoutError, McptuiError):
        return None
    model = next((model.id for model in models if model.chat), None)
    return replace(profile, model=model) if model else None
