"""Headers that repeat arguments of a tool call (`x-mcp-header` in its schema), by the SDK's rules.

The SDK would take them from a listing, but it never sees one (see `sdk_bridge`). MCP 2026-07-28,
basic/transports/streamable-http, "Custom headers from tool parameters".
"""

from collections.abc import Mapping
from typing import Any

from mcp.shared.inbound import find_invalid_x_mcp_header, mcp_param_headers, x_mcp_header_map

from tui.core.text import clean_line

HeaderMap = Mapping[tuple[str, ...], str]
"""The last part of a header's name, by the path of the property that the header repeats."""


def header_map(schema: Any) -> HeaderMap | str:
    """Return the headers that a schema asks for, or what is wrong with them; such a tool must not be used."""
    fault = find_invalid_x_mcp_header(schema)
    return x_mcp_header_map(schema) if fault is None else f"its headers are invalid: {clean_line(fault, 160)}"


def parameter_headers(wanted: HeaderMap, arguments: Any) -> dict[str, str]:
    """Return the headers for the arguments of a call."""
    return mcp_param_headers(wanted, arguments) if isinstance(arguments, Mapping) else {}
