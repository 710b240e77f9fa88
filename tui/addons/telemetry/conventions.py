"""The names of OpenTelemetry that spans and metrics have. Values only.

They are those of one release of the semantic conventions, all of which are in development: a later release
may rename them, so they change here, together, and never by a library.
"""

from collections.abc import Mapping
from typing import NamedTuple

from tui import __version__

VERSION = "0.1.0"
"""The release of github.com/open-telemetry/semantic-conventions-genai, with its part on MCP."""

SCHEMA_URL = f"https://opentelemetry.io/schemas/gen-ai/{VERSION}"

SCOPE = {"name": "mcptui", "version": __version__}

AGENT = "mcptui"
"""`gen_ai.agent.name` of a turn."""

INTERNAL, SERVER, CLIENT = 1, 2, 3
"""Kinds of spans, as numbers of `opentelemetry.proto.trace.v1.Span.SpanKind`."""

ERROR = 2
"""`STATUS_CODE_ERROR`."""

CUMULATIVE = 2
"""`AGGREGATION_TEMPORALITY_CUMULATIVE`."""

TOOL_ERROR = "tool_error"
"""`error.type` of a result with `isError`."""

OTHER = "_OTHER"
"""`error.type` of a failure without a name."""

PROVIDERS: Mapping[str, str] = {
    "gemini": "gcp.gemini",
    "mistral": "mistral_ai",
    "moonshot": "moonshot_ai",
    "xai": "x_ai",
}
"""`gen_ai.provider.name` of providers that are called something else in mcptui."""

UNKNOWN_PROVIDER = "openai"
"""That of an endpoint that is only known to speak OpenAI's API."""


class Metric(NamedTuple):
    """A histogram, or a counter if it has no bucket boundaries."""

    unit: str
    boundaries: tuple[float, ...]
    dimensions: tuple[str, ...]
    """The attributes by which it is divided. Those of single requests are not among them."""


OPERATION, SESSION = "mcp.client.operation.duration", "mcp.client.session.duration"
INFERENCE, TURN = "gen_ai.client.inference.duration", "gen_ai.invoke_agent.duration"

MODALITY = {"gen_ai.token.modality": "unknown"}
"""Of all tokens: usage does not say of each what it is."""

_INFERENCE = "gen_ai.client.inference"
USAGE: Mapping[str, str] = {
    f"{_INFERENCE}.{kind}.{part}_tokens": f"gen_ai.usage.{part}_tokens"
    for kind, parts in {
        "usage": ("input", "output", "cache_read.input", "reasoning.output"),
        "operation": ("input", "output"),
    }.items()
    for part in parts
}
"""The metrics of tokens, with the attribute of a span that each one counts."""

_SECONDS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300)
_PLACE = ("server.address", "server.port")
_NETWORK = ("error.type", "mcp.protocol.version", "network.transport", "network.protocol.name", *_PLACE)
_MODEL = (
    *("gen_ai.operation.name", "gen_ai.provider.name", "gen_ai.request.model", "gen_ai.response.model"),
    *_PLACE,
)
_CALL = ("mcp.method.name", "gen_ai.operation.name", "gen_ai.tool.name", "gen_ai.prompt.name")

METRICS: Mapping[str, Metric] = {
    OPERATION: Metric("s", _SECONDS, (*_CALL, "rpc.response.status_code", *_NETWORK)),
    SESSION: Metric("s", _SECONDS, _NETWORK),
    INFERENCE: Metric("s", tuple(0.01 * 2**power for power in range(14)), (*_MODEL, "error.type")),
    TURN: Metric("s", _SECONDS, ("gen_ai.operation.name", "gen_ai.agent.name", "error.type")),
    **{
        name: Metric("{token}", tuple(4.0**power for power in range(14)), (*_MODEL, "error.type"))
        if ".operation." in name
        else Metric("{token}", (), (*_MODEL, *MODALITY))
        for name in USAGE
    },
}
