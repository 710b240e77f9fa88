"""The revisions of MCP, their two eras, and what JSON-RPC 2.0 (section 5.1) and MCP reserve."""

MODERN = "2026-07-28"
"""The first revision without a handshake: every request names its revision, and servers send no requests."""

REVISIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", MODERN)
"""Every released revision, the oldest first."""

BATCHES = "2025-03-26"
"""The only revision with JSON-RPC batches."""


def is_modern(revision: str) -> bool:
    """Return whether a revision belongs to the era without a handshake; False if it was never released."""
    return revision >= MODERN and revision in REVISIONS


VERSION_HEADER = "mcp-protocol-version"
"""The HTTP header with the revision of a request."""

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
MISSING_CAPABILITY = -32021
UNSUPPORTED_VERSION = -32022

VERSION_KEY = "io.modelcontextprotocol/protocolVersion"
CLIENT_INFO_KEY = "io.modelcontextprotocol/clientInfo"
CAPABILITIES_KEY = "io.modelcontextprotocol/clientCapabilities"
SERVER_INFO_KEY = "io.modelcontextprotocol/serverInfo"
SUBSCRIPTION_KEY = "io.modelcontextprotocol/subscriptionId"

LISTS = ("tools", "resources", "prompts")
"""The kinds of lists whose changes a server may report."""

LISTEN = "subscriptions/listen"
STAY_OPEN = frozenset({LISTEN, "events/stream"})
"""The requests that have no response for as long as their stream is open."""

LOG_LEVEL_KEY = "io.modelcontextprotocol/logLevel"
