"""The names of OpenTelemetry that spans and metrics have. Values only.

They are those of one release of the semantic conventions, all of which are in development: a later release
may rename them, so they change here, together, and never by a library.
"""

from collections.abc import Mapping

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

_MCP_SECONDS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300)

OPERATION, SESSION = "mcp.client.operation.duration", "mcp.client.session.duration"
MODEL_OPERATION, TOKENS = "gen_ai.client.operation.duration", "gen_ai.client.token.usage"

METRICS: Mapping[str, tuple[str, tuple[float, ...]]] = {
    OPERATION: ("s", _MCP_SECONDS),
    SESSION: ("s", _MCP_SECONDS),
    MODEL_OPERATION: ("s", tuple(0.01 * 2**power for power in range(14))),
    TOKENS: ("{token}", tuple(4.0**power for power in range(14))),
}
"""The metrics, all of them histograms, with unit and bucket boundaries."""

_PLACE = ("server.address", "server.port")
_MODEL = ("gen_ai.operation.name", "gen_ai.provider.name", "gen_ai.request.model", "gen_ai.response.model")
_NETWORK = ("mcp.protocol.version", "network.transport", "network.protocol.name", *_PLACE)

DIMENSIONS: Mapping[str, tuple[str, ...]] = {
    OPERATION: (
        *("mcp.method.name", "gen_ai.operation.name", "gen_ai.tool.name", "gen_ai.prompt.name"),
        *("rpc.response.status_code", "error.type", *_NETWORK),
    ),
    SESSION: ("error.type", *_NETWORK),
    MODEL_OPERATION: (*_MODEL, "error.type", *_PLACE),
    TOKENS: (*_MODEL, "gen_ai.token.type", *_PLACE),
}
"""The attributes by which each metric is divided. Those of single requests are not among them."""
