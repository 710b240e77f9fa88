"""What other hosts do with their configuration, where that is known."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

BOM, COMMENT, COMMA = "a byte order mark", "a comment", "a trailing comma"
LINE, ARGS, ENV = "arguments in `command`", "`args` that is no list", "a value of `env` that is no string"
ENV_FILE = "an `envFile` that does not exist"
"""What mcptui reads in the file of another host, and that host may not."""


@dataclass(frozen=True, slots=True)
class Habits:
    """What a host does with an entry: what its documentation, its source or public reports say.

    A default claims nothing: what is not known of a host is left at it. Such facts age; looked up in
    November 2026.

    Attributes:
        expands: pattern of the references that it replaces, "" for none; others are passed on as they are.
            None: it is not known.
        example: how to write a variable, or "".
        from_desktop: it is started without a shell, so without its PATH; VS Code asks the shell for it.
        takes_urls: it connects to servers with a `url`.
        needs_type: the `type` of Streamable HTTP, if a `url` without a `type` is not used, or "".
        ignores: keys of an entry that it does not use.
        most_tools: how many tools it offers to a model, over all servers; 0 for no known limit.
        name_chars: the longest name of server and tool together; 0 for no known limit.
        folder: where a server without `cwd` starts, in words.
        starts_in: the path of that folder, or "" for the current one, in which a project is open.
        table: the key of the servers in its file, or "".
        accepts: what of BOM, COMMENT, … it reads; `rejects` what it does not. The rest is not known.
    """

    expands: str | None = None
    example: str = ""
    from_desktop: bool = False
    takes_urls: bool = True
    needs_type: str = ""
    ignores: tuple[str, ...] = ()
    most_tools: int = 0
    name_chars: int = 0
    folder: str = ""
    starts_in: str = ""
    table: str = ""
    accepts: tuple[str, ...] = ()
    rejects: tuple[str, ...] = ()

    def reference(self, name: str) -> str:
        """Return how to write a variable, or ""."""
        return self.example.replace("NAME", name)

    def replaces(self, text: str) -> bool:
        """Return whether it replaces a reference, or is not known to pass it on."""
        return self.expands is None or re.fullmatch(self.expands or r"(?!)", text) is not None


_ENV = r"\$\{env:\w+\}"
_FOLDERS = r"\$\{(?:workspaceFolder\w*|userHome|pathSeparator|/)\}"
# Fields, `cwd`: code.visualstudio.com/docs/copilot/reference/mcp-configuration; variables: its
# /docs/reference/variables-reference; 128 tools in a request: its /docs/agents/run/tools.
# Comments: the example of its documentation, quoted in ravitemer/mcphub.nvim#209. Trailing commas:
# vshulcz/deja-vu#3223. Table: genomoncology/biomcp#243, vercel-labs/lat.md#12. `env`, `envFile`:
# microsoft/vscode, src/vs/workbench/api/node/extHostMcpNode.ts (String(value), "Failed to read envFile").
_VSCODE = Habits(
    rf"\$\{{(?:env|input|config|command):[^}}]+\}}|{_FOLDERS}|\$\{{(?:cwd|execPath|file\w*|relativeFile\w*)\}}",
    "${env:NAME}",
    most_tools=128,
    folder="the open project, if there is one",
    table="servers",
    accepts=(COMMENT, COMMA, ENV),
    rejects=(ENV_FILE,),
)
HABITS: Mapping[str, Habits] = {
    # URLs: support.claude.com/en/articles/11503834 and its message "not valid MCP server configurations and
    # were skipped" (cboxdk/statamic-mcp#20). References: modelcontextprotocol/servers#1039,
    # anthropics/claude-code#80197. PATH: modelcontextprotocol/servers#64. Folder:
    # modelcontextprotocol.io/docs/tools/debugging, anthropics/claude-code#44764. File: its message "There was
    # an error reading or parsing claude_desktop_config.json" with the words of JSON.parse
    # (tanviet12/chat-quality-agent#49, GLips/Figma-Context-MCP#89); BOM: tradesdontlie/tradingview-mcp#406.
    "Claude Desktop": Habits(
        "",
        from_desktop=True,
        takes_urls=False,
        folder="a folder that it chooses, often /",
        starts_in="/",
        table="mcpServers",
        rejects=(BOM, COMMENT, COMMA),
    ),
    # References: code.claude.com/docs/en/mcp. `type`: huggingface/skills#160, Goldziher/ai-rulez#136.
    # Keys: anthropics/claude-code#33958, #43865 (disabled), #17565, #54786 (cwd, and the folder).
    # Table: nashsu/llm_wiki#459 ("mcpServers: expected record"). Arguments: anthropics/claude-code#6028.
    "Claude Code": Habits(
        r"\$\{\w+(?::-[^}]*)?\}",
        "${NAME}",
        needs_type="http",
        ignores=("disabled", "cwd"),
        folder="its current folder",
        table="mcpServers",
        rejects=(LINE,),
    ),
    # References: cursor.com/docs/mcp, "Config interpolation". Names: its warning "Combined server and tool
    # name length (60) exceeds 60 characters" (ComposioHQ/composio#2788, PostHog/posthog#51483: with one
    # character between them). PATH: Jellyfish-AI/jellyfish-mcp#36, bun913/mcp-testrail#138. Table:
    # its message "Invalid config: mcpServers must be an object" (z4656207/mowen-mcp-server#1).
    "Cursor": Habits(
        rf"{_ENV}|{_FOLDERS}", "${env:NAME}", from_desktop=True, name_chars=60, table="mcpServers"
    ),
    "VS Code": _VSCODE,
    "VS Code Insiders": _VSCODE,
    # References and tools: docs.devin.ai/desktop/cascade/mcp (once docs.windsurf.com), which is about its
    # agent Cascade. PATH: arcadeai-labs/smithery-cli#115, kimsungwhee/apple-docs-mcp#28.
    "Windsurf": Habits(rf"{_ENV}|\$\{{file:[^}}]+\}}", "${env:NAME}", from_desktop=True, most_tools=100),
    # RooCodeInc/Roo-Code, src/services/mcp/McpHub.ts (references, and a `url` needs a `type`;
    # JSON.parse, McpSettingsSchema, ServerConfigSchema);
    # docs.roocode.com/features/mcp/using-mcp-in-roo (type, folder).
    "Roo Code": Habits(
        rf"{_ENV}|\$\{{workspaceFolder\}}",
        "${env:NAME}",
        needs_type="streamable-http",
        folder="the open project",
        table="mcpServers",
        rejects=(BOM, COMMENT, COMMA, LINE, ARGS, ENV),
    ),
    # google-gemini/gemini-cli, packages/cli/src/utils/envVarResolver.ts (references) and
    # packages/core/src/tools/mcp-client.ts (the folder is inherited; a `url` is tried with both transports);
    # packages/cli/src/config/settings.ts (strip-json-comments).
    "Gemini CLI": Habits(
        r"\$\w+|\$\{\w+\}",
        "$NAME",
        folder="its current folder",
        table="mcpServers",
        accepts=(COMMENT,),
    ),
    # zed-industries/zed#2606 (comments and trailing commas in its settings).
    "Zed": Habits(table="context_servers", accepts=(COMMENT, COMMA)),
}
