"""A request as a script: Python and TypeScript, each with the SDK of its language. Pure.

A script has what it needs: imports, the connection in the era of the server, the request, and its result
printed as JSON. Their SDKs are `mcp` 2 and `@modelcontextprotocol/client` 2.
"""

from collections.abc import Mapping
from pprint import pformat
from typing import Any

from tui.core.jsonrpc.protocol import is_modern
from tui.traffic.copies.request import OURS, CopiedRequest, Template, json_text, sent_params

_WIDTH = 88
_PYTHON_LISTS = {
    "tools/list": "list_tools",
    "resources/list": "list_resources",
    "resources/templates/list": "list_resource_templates",
    "prompts/list": "list_prompts",
}
_TYPESCRIPT = {
    "tools/call": "callTool",
    "resources/read": "readResource",
    "prompts/get": "getPrompt",
    "tools/list": "listTools",
    "resources/list": "listResources",
    "resources/templates/list": "listResourceTemplates",
    "prompts/list": "listPrompts",
}


def _is_legacy(revision: str) -> bool:
    """Return whether a server is known to need a handshake."""
    return bool(revision) and not is_modern(revision)


def is_reached(request: CopiedRequest) -> bool:
    """Return whether the SDKs have the transport, and the request its name and arguments."""
    server, arguments = request.server, request.params.get("arguments", {})
    has_transport = server.transport in (("http", "sse") if server.url else ("stdio",))
    is_named = bool(request.subject) or request.method in _PYTHON_LISTS
    takes = isinstance(arguments, Mapping) and (
        request.method != "prompts/get" or all(isinstance(one, str) for one in arguments.values())
    )
    return has_transport and bool(server.url or server.command) and is_named and takes


def python(request: CopiedRequest, template: Template) -> str:
    """Return a script for Python of a request for which the SDK `is_reached`."""
    server, uses = request.server, ["asyncio"]

    def text(value: str) -> str:
        return template.expression(value, repr, "os.environ[{}]")

    def pairs(values: Mapping[str, str]) -> str:
        return "{" + ", ".join(f"{name!r}: {text(value)}" for name, value in values.items()) + "}"

    mode = "legacy" if _is_legacy(server.revision) else "auto"
    opened = "server"
    lines: list[str] = []
    imports = ["from mcp import Client"]
    if server.command:
        imports = ["from mcp import Client, StdioServerParameters"]
        program, *arguments = server.command
        lines = ["server = StdioServerParameters(", f"    command={text(program)},"]
        lines += [f"    args=[{', '.join(map(text, arguments))}],"] if arguments else []
        lines += [f"    env={pairs(server.env)},"] if server.env else []
        lines += [f"    cwd={server.cwd!r},"] if server.cwd else []
        lines.append(")")
    elif server.transport == "sse":
        imports.append("from mcp.client.sse import sse_client")
        headers = pairs(server.all_headers)
        lines = [f"server = sse_client({text(server.url)}, headers={headers})"]
    elif server.all_headers:
        uses.append("httpx2")
        imports.append("from mcp.client.streamable_http import streamable_http_client")
        lines = [f"url = {text(server.url)}", f"headers = {pairs(server.all_headers)}"]
        opened = "streamable_http_client(url, http_client=http)"
    else:
        lines = [f"server = {text(server.url)}"]
    more, asked = _python_call(request)
    inner = [f"async with Client({opened}, mode={mode!r}) as client:"]
    inner += [f"    {line}" for line in (f"result = await client.{asked}", _PRINT)]
    if "httpx2" in uses:
        timeout = "timeout=httpx2.Timeout(30, read=300)"
        inner = [
            f"async with httpx2.AsyncClient(headers=headers, {timeout}) as http:",
            *(f"    {line}" for line in inner),
        ]
    uses += ["os"] if template.needs else []
    standard = sorted(f"import {name}" for name in uses if name != "httpx2")
    third = [*(["import httpx2"] if "httpx2" in uses else []), *imports]
    head = ["# Run with: uv run FILE.py", "# /// script", '# dependencies = ["mcp>=2"]', "# ///"]
    body = ["async def main() -> None:", *(f"    {line}" for line in inner)]
    body += ["", "", "asyncio.run(main())", ""]
    return "\n".join([*head, *standard, "", *third, "", *lines, *more, "", "", *body])


_PRINT = "print(result.model_dump_json(indent=2, by_alias=True, exclude_none=True))"


def _python_call(request: CopiedRequest) -> tuple[list[str], str]:
    """Return the lines that set the arguments, and the call of the client."""
    if request.method in _PYTHON_LISTS:
        return [], f"{_PYTHON_LISTS[request.method]}()"
    if request.method == "resources/read":
        return [], f"read_resource({request.subject!r})"
    verb = "call_tool" if request.method == "tools/call" else "get_prompt"
    written = pformat(dict(request.arguments), width=_WIDTH, sort_dicts=False)
    return [f"arguments = {written}"], f"{verb}({request.subject!r}, arguments)"


def typescript(request: CopiedRequest, template: Template) -> str:
    """Return a module for Node, which strips its types."""
    server = request.server

    def text(value: str) -> str:
        return template.expression(value, json_text, "env({})")

    def pairs(values: Mapping[str, str]) -> str:
        return "{ " + ", ".join(f"{json_text(name)}: {text(value)}" for name, value in values.items()) + " }"

    package = "@modelcontextprotocol/client"
    if server.command:
        program, *arguments = server.command
        imports = [f'import {{ Client }} from "{package}";']
        imports.append(f'import {{ StdioClientTransport }} from "{package}/stdio";')
        members = [f"command: {text(program)}"]
        members += [f"args: [{', '.join(map(text, arguments))}]"] if arguments else []
        members += [f"env: {pairs(server.env)}"] if server.env else []
        members += [f"cwd: {json_text(server.cwd)}"] if server.cwd else []
        made = "\n".join(["new StdioClientTransport({", *(f"  {one}," for one in members), "})"])
    else:
        kind = "SSEClientTransport" if server.transport == "sse" else "StreamableHTTPClientTransport"
        imports = [f'import {{ Client, {kind} }} from "{package}";']
        headers = server.all_headers
        options = f", {{ requestInit: {{ headers: {pairs(headers)} }} }}" if headers else ""
        made = f"new {kind}(new URL({text(server.url)}){options})"
    options = "" if _is_legacy(server.revision) else ', { versionNegotiation: { mode: "auto" } }'
    is_list = request.method in _PYTHON_LISTS
    given = "" if is_list else _literal(_typescript_params(request))
    helper = ["", *_ENV] if template.needs else []
    return "\n".join(
        [
            f"// Run with: npm install {package} && node FILE.mts (Node 22.18 or later, else npx tsx)",
            *imports,
            *helper,
            "",
            f"const transport = {made};",
            f"const client = new Client({json_text(OURS)}{options});",
            "await client.connect(transport);",
            "try {",
            f"  const result = await client.{_TYPESCRIPT[request.method]}({given});",
            "  console.log(JSON.stringify(result, null, 2));",
            "} finally {",
            "  await client.close();",
            "}",
            "",
        ]
    )


_ENV = """\
function env(name: string): string {
  const value = process.env[name];
  if (value === undefined) throw new Error(`Set ${name} first`);
  return value;
}""".splitlines()


def _typescript_params(request: CopiedRequest) -> dict[str, Any]:
    params = sent_params(request)
    names = ("uri",) if request.method == "resources/read" else ("name", "arguments")
    return {name: params[name] for name in names if name in params}


def _literal(value: Any) -> str:
    """Return a value as an expression: JSON, except that a literal would take `__proto__` for a prototype."""
    text = json_text(value, indent=2)
    return f"JSON.parse({json_text(text)})" if '"__proto__"' in text else text.replace("\n", "\n  ")
