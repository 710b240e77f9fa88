"""App views (MCP Apps, SEP-1865): what a raw definition says about one. mcptui does not render them. Pure."""

from collections.abc import Mapping
from typing import Any

from tui.core.text import object_in

APP_SCHEME = "ui://"
APP_MIME = "text/html;profile=mcp-app"
MAX_URI = 4_096
OLD_KEY = "ui/resourceUri"
"""A deprecated place of the URI, directly in `_meta`."""


def app_view(definition: Mapping[str, Any]) -> str:
    """Return the URI of the resource that shows the results of a tool, raw; "" if it has none."""
    meta = object_in(definition, "_meta")
    uri = object_in(meta, "ui").get("resourceUri", meta.get(OLD_KEY))
    return uri if isinstance(uri, str) and len(uri) <= MAX_URI else ""


def is_app_only(definition: Mapping[str, Any]) -> bool:
    """Return whether a tool is meant for apps and must not be offered to models."""
    visibility = object_in(object_in(definition, "_meta"), "ui").get("visibility")
    return isinstance(visibility, list) and "model" not in visibility
