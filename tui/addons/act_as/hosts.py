"""The hosts that mcptui can act as: how each introduces itself, and which tools it takes.

Every row says where and when it was observed. What was not observed is left out, so a row may say less than
the host does. `unserved` are capabilities that a host declares and mcptui leaves out, because it could not
answer what servers may send then. What remains is answered: forms and URLs are shown, roots are those of the
server's configuration, and sampling follows its `sampling` (an error, if that is never).
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tui.core.jsonrpc.app_views import APP_MIME
from tui.core.jsonrpc.client_profile import ClientProfile
from tui.core.jsonrpc.extensions import UI
from tui.core.jsonrpc.protocol import MODERN, REVISIONS
from tui.core.schemas.portability import Provider

_APPS = {UI: {"mimeTypes": [APP_MIME]}}
_ANY, _WORD = re.compile(r".*", re.DOTALL), re.compile(r"[a-zA-Z0-9_-]*")


@dataclass(frozen=True, slots=True)
class NameRule:
    """How a host names a tool for its model, and which names it accepts.

    Attributes:
        form: its name for a tool, of `{server}` and `{tool}`.
        longest: the maximum number of characters; 0 for any.
        pattern: matches the names that it accepts.
    """

    form: str = "{tool}"
    longest: int = 0
    pattern: re.Pattern[str] = _ANY


@dataclass(frozen=True, slots=True)
class ActingHost:
    """One host.

    Attributes:
        title: its name for people.
        observed: when, as a date.
        sources: where: repositories with file and commit, or issues.
        most_tools: the maximum tools of all servers together, 0 for any.
        provider: who runs its models, if it sends schemas unchanged to one; None if it converts them.
        unserved: capabilities that it declares, and mcptui does not.
    """

    title: str
    profile: ClientProfile
    observed: str
    sources: tuple[str, ...]
    names: NameRule = NameRule()
    most_tools: int = 0
    provider: Provider | None = None
    unserved: tuple[str, ...] = ()


def _profile(
    name: str,
    version: str,
    capabilities: Mapping[str, Any],
    newest: str,
    *,
    modern: bool = False,
    **info: str,
) -> ClientProfile:
    """Return a profile that offers `newest` in the legacy era, and takes older answers, as the SDKs do."""
    older = tuple(one for one in reversed(REVISIONS) if one <= newest)
    versions = (MODERN, *older) if modern else older
    return ClientProfile({"name": name, "version": version, **info}, capabilities, versions)


HOSTS: Mapping[str, ActingHost] = {
    "claude-code": ActingHost(
        "Claude Code",
        _profile(
            "claude-code",
            "2.1.260",
            {"elicitation": {}, "roots": {"listChanged": True}},
            "2025-11-25",
            modern=True,
            title="Claude Code",
            description="Anthropic's agentic coding tool",
            websiteUrl="https://claude.com/claude-code",
        ),
        "2026-09-22",
        (
            "zoedsoupe/anubis-mcp#295 (server/discover of 2.1.260)",
            "anthropics/claude-code#96043 (initialize of 2.1.275)",
            "cl-ai-project/cl-mcp#26 (2025-11-25)",
            "MeshInspector/MeshLib#6150, barryw/ImmichMCP#8 (replaces characters in names, 2026-05)",
            "microsoft/wassette#56 (128 characters)",
        ),
        NameRule("mcp__{server}__{tool}", 128),
        provider=Provider.ANTHROPIC,
    ),
    "claude-desktop": ActingHost(
        "Claude Desktop",
        _profile("claude-ai", "0.1.0", {}, "2025-06-18"),
        "2026-01-13",
        (
            "modelcontextprotocol/go-sdk#395 (initialize, 2025-09)",
            "API-200/api200#14 and mims-harvard/ToolUniverse#3 (tool names)",
        ),
        NameRule("{tool}", 64, _WORD),
        provider=Provider.ANTHROPIC,
    ),
    "codex": ActingHost(
        "Codex",
        _profile("codex-mcp-client", "0.154.0", {"elicitation": {}}, "2025-06-18", title="Codex"),
        "2026-11-29",
        ("openai/codex@02beca9f codex-rs/codex-mcp/src/rmcp_client.rs (mcp_initialize_request_params)",),
    ),
    "cursor": ActingHost(
        "Cursor",
        _profile("cursor-vscode", "1.0.0", {"elicitation": {}, "roots": {}}, "2025-06-18"),
        "2026-11-29",
        (
            "apify/mcp-client-capabilities@178a474d mcp-clients.json",
            "easymanage.com, MCP Server Advanced (40 tools, 60 characters)",
        ),
        NameRule("{server}{tool}", 60),
        most_tools=40,
    ),
    "gemini-cli": ActingHost(
        "Gemini CLI",
        _profile("gemini-cli", "0.50.0", {"roots": {"listChanged": True}}, "2025-11-25"),
        "2026-11-29",
        (
            "google-gemini/gemini-cli@72d23f47 packages/core/src/tools/mcp-client.ts (connectToMcpServer)",
            "google-gemini/gemini-cli@03647aa5 packages/core/src/tools/mcp-tool.ts (generateValidName)",
        ),
    ),
    "goose": ActingHost(
        "goose",
        _profile(
            "goose-desktop",
            "1.50.0",
            {"extensions": _APPS, "roots": {}, "sampling": {}, "elicitation": {}},
            "2025-11-25",
            modern=True,
        ),
        "2026-11-29",
        (
            "aaif-goose/goose@1bb84339 crates/goose/src/agents/mcp_client.rs (get_info, connect)",
            "its recorded server/discover and initialize",
        ),
    ),
    "inspector": ActingHost(
        "MCP Inspector",
        _profile(
            "inspector-client",
            "0.21.1",
            {"sampling": {}, "elicitation": {}, "roots": {"listChanged": True}},
            "2025-11-25",
        ),
        "2026-11-29",
        (
            "modelcontextprotocol/inspector@006abfb8 client/src/lib/hooks/useConnection.ts (connect)",
            "its recorded initialize (0.21.1)",
        ),
        unserved=("tasks",),
    ),
    "vscode": ActingHost(
        "Visual Studio Code",
        _profile(
            "Visual Studio Code",
            "1.109.0",
            {"roots": {"listChanged": True}, "sampling": {}, "elicitation": {"form": {}, "url": {}}},
            "2025-11-25",
        ),
        "2026-11-29",
        (
            "microsoft/vscode@c5308376 src/vs/workbench/contrib/mcp/common/mcpServerRequestHandler.ts",
            "microsoft/vscode@0052d689 src/vs/workbench/contrib/mcp/common/mcpServer.ts (_normalizeTool)",
            "microsoft/vscode#291432 (2025-11-25, 1.109)",
            "microsoft/vscode-copilot-release#11653 (128 tools)",
        ),
        most_tools=128,
        unserved=("tasks",),
    ),
}
"""The hosts by the name in `act_as`."""


def acting_host(name: str) -> ActingHost:
    """Return a host; raises ValueError with the names of the known ones."""
    if name not in HOSTS:
        raise ValueError(f"has an unknown `act_as`. Known hosts: {', '.join(HOSTS)}")
    return HOSTS[name]
