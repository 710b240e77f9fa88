"""The configuration files of other hosts in the corpus, and where the hosts keep them on Linux."""

import json
from pathlib import Path
from typing import Any

CORPUS = Path(__file__).parent / "corpus" / "hosts"
BECOMES: dict[str, dict[str, Any]] = json.loads((CORPUS.parent / "hosts_become.json").read_text("utf-8"))

PLACES = [
    ("amazon-q", "~/.aws/amazonq/cli-agents/dev.json", "amazon_q.json"),
    ("amp", "~/.config/amp/settings.json", "amp.json"),
    ("anythingllm", "+/anythingllm-desktop/storage/plugins/anythingllm_mcp_servers.json", "anythingllm.json"),
    ("claude-code", "~/.claude.json", "claude_code.json"),
    ("claude-desktop", "+/Claude/claude_desktop_config.json", "claude_desktop.json"),
    (
        "cline",
        "+/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json",
        "cline_mcp_settings.json",
    ),
    ("codex", "~/.codex/config.toml", "codex.toml"),
    ("codex", "./.codex/config.toml", "codex_more.toml"),
    ("continue", "~/.continue/config.yaml", "continue.yaml"),
    ("continue", "./.continue/mcpServers/more.json", "continue.json"),
    ("copilot", "~/.copilot/mcp-config.json", "copilot_cli.json"),
    ("copilot-jetbrains", "~/.config/github-copilot/intellij/mcp.json", "jetbrains_copilot.json"),
    ("crush", "./.crush.json", "crush.json"),
    ("cursor", "~/.cursor/mcp.json", "cursor.json"),
    ("gemini", "~/.gemini/settings.json", "gemini.json"),
    ("goose", "~/.config/goose/config.yaml", "goose.yaml"),
    ("junie", "./.junie/mcp/mcp.json", "junie.json"),
    ("kiro", "~/.kiro/settings/mcp.json", "kiro.json"),
    ("lmstudio", "~/.lmstudio/mcp.json", "lm_studio.json"),
    ("opencode", "~/.config/opencode/opencode.jsonc", "opencode.jsonc"),
    ("opencode", "./.opencode/opencode.jsonc", "opencode_v2.jsonc"),
    ("qwen", "~/.qwen/settings.json", "qwen.json"),
    ("roo", "./.roo/mcp.json", "roo.json"),
    ("vscode", "+/Code/User/profiles/1a2b/mcp.json", "vscode_mcp.jsonc"),
    ("warp", "./.warp/.mcp.json", "warp.json"),
    ("windsurf", "~/.codeium/windsurf/mcp_config.json", "windsurf.json"),
    ("witsy", "+/Witsy/settings.json", "witsy.json"),
    ("zed", "~/.config/zed/settings.json", "zed.jsonc"),
]
