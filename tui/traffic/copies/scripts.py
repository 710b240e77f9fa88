"""A request as a script: Python and TypeScript, each with the SDK of its language. Pure.

A script has what it needs: imports, the connection in the era of the server, the request, and its result
printed as JSON. Their SDKs are `mcp` 2 and `@modelcontextprotocol/client` 2.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pprint import pformat
from typing import Any

from tui.core.jsonrpc.protocol import is_modern
from tui.core.text import text_in
from tui.traffic.copies.request import (
    METHODS,
    OURS,
    CopiedRequest,
    CopiedServer,
    Template,
    is_text,
    json_text,
    sent_params,
)

_LARGE = re.compile(r"\d{16}")
"""An integer that JavaScript may round."""


def scripts(request: CopiedRequest) -> Mapping[str, str]:
    """Return the languages that can send a request, with their labels."""
    server, params = request.server, request.params
    arguments = params.get("arguments", {})
    has_transport = server.transport in (("http", "sse") if server.url else ("stdio",))
    takes = isinstance(arguments, Mapping) and (
        request.method != "prompts/get" or all(isinstance(one, str) for one in arguments.values())
    )
    is_reached = has_transport and bool(server.url or server.command) and takes
    if not is_reached or not (request.subject or request.is_list):
        return {}
    found, text = {}, json.dumps(dict(params), ensure_ascii=False)
    if is_text(text):  # Python encodes no lone surrogate
        found["python"] = "Python (SDK)"
    large = list[str]()
    if _LARGE.search(text):  # perhaps in a string
        json.loads(text, parse_int=lambda digits: large.append(digits) if _LARGE.search(digits) else None)
    return found if large else found | {"typescript": "TypeScript (SDK)"}


@dataclass(frozen=True, slots=True)
class _Language:
    """Expressions of a language. `write` makes a literal, `variable` has `{}` for the name of a variable."""

    template: Template
    write: Callable[[str], str]
    variable: str

    def text(self, value: str) -> str:
        return self.template.expression(value, self.write, self.variable)

    def pairs(self, values: Mapping[str, str]) -> str:
        return "{" + ", ".join(f"{self.write(name)}: {self.text(one)}" for name, one in values.items()) + "}"

    def launch(self, server: CopiedServer) -> Iterator[tuple[str, str]]:
        """Yield how a server is started, by the names that both SDKs have for it."""
        program, *arguments = server.command
        yield "command", self.text(program)
        if arguments:
            yield "args", f"[{', '.join(map(self.text, arguments))}]"
        if server.env:
            yield "env", self.pairs(server.env)
        if server.cwd:
            yield "cwd", self.write(server.cwd)


def _is_legacy(revision: str) -> bool:
    """Return whether a server is known to need a handshake."""
    return bool(revision) and not is_modern(revision)


def python(request: CopiedRequest, template: Template) -> str:
    """Return a script for Python."""
    server, write = request.server, _Language(template, repr, "os.environ[{}]")
    imports, entered = "from mcp import Client", ""
    if server.command:
        imports += ", StdioServerParameters"
        words = (f"    {name}={value}," for name, value in write.launch(server))
        made = "\n".join(["server = StdioServerParameters(", *words, ")"])
    elif server.transport == "sse":
        imports += "\nfrom mcp.client.sse import sse_client"
        made = f"server = sse_client({write.text(server.url)}, headers={write.pairs(server.all_headers)})"
    elif server.all_headers:
        imports = f"import httpx2\n{imports}\nfrom mcp.client.streamable_http import streamable_http_client"
        made = f"""\
headers = {write.pairs(server.all_headers)}
http = httpx2.AsyncClient(headers=headers, timeout=httpx2.Timeout(30, read=300))
server = streamable_http_client({write.text(server.url)}, http_client=http)"""
        entered = "http, "
    else:
        made = f"server = {write.text(server.url)}"
    given = [repr(request.subject)] if request.subject else []
    if request.method in ("tools/call", "prompts/get"):
        made += f"\narguments = {pformat(dict(request.arguments), width=88, sort_dicts=False)}"
        given.append("arguments")
    mode = "legacy" if _is_legacy(server.revision) else "auto"
    given += [f"cursor={cursor!r}"] if (cursor := text_in(request.params, "cursor")) else []
    imports = f"import os\n\n{imports}" if template.needs else f"\n{imports}"
    return f"""\
# Run with: uv run FILE.py
# /// script
# dependencies = ["mcp>=2"]
# ///
import asyncio
{imports}

{made}


async def main() -> None:
    async with {entered}Client(server, mode={mode!r}) as client:
        result = await client.{METHODS[request.method]}({", ".join(given)})
        print(result.model_dump_json(indent=2, by_alias=True, exclude_none=True))


asyncio.run(main())
"""


def typescript(request: CopiedRequest, template: Template) -> str:
    """Return a module for Node, which strips its types."""
    server, write = request.server, _Language(template, json_text, "env({})")
    package = "@modelcontextprotocol/client"
    if server.command:
        imports = f'import {{ Client }} from "{package}";\n'
        imports += f'import {{ StdioClientTransport }} from "{package}/stdio";'
        words = (f"  {name}: {value}," for name, value in write.launch(server))
        made = "\n".join(["new StdioClientTransport({", *words, "})"])
    else:
        kind = "SSEClientTransport" if server.transport == "sse" else "StreamableHTTPClientTransport"
        imports = f'import {{ Client, {kind} }} from "{package}";'
        headers = server.all_headers
        options = f", {{ requestInit: {{ headers: {write.pairs(headers)} }} }}" if headers else ""
        made = f"new {kind}(new URL({write.text(server.url)}){options})"
    options = "" if _is_legacy(server.revision) else ', { versionNegotiation: { mode: "auto" } }'
    first, *more = METHODS[request.method].split("_")
    params = sent_params(request)
    given = {name: params[name] for name in ("name", "uri", "arguments", "cursor") if name in params}
    return f"""\
// Run with: npm install {package} && node FILE.mts (Node 22.18 or later, else npx tsx)
{imports}
{_ENV if template.needs else ""}
const transport = {made};
const client = new Client({json_text(OURS)}{options});
await client.connect(transport);
try {{
  const result = await client.{first}{"".join(map(str.title, more))}({_literal(given) if given else ""});
  console.log(JSON.stringify(result, null, 2));
}} finally {{
  await client.close();
}}
"""


_ENV = """
function env(name: string): string {
  const value = process.env[name];
  if (value === undefined) throw new Error(`Set ${name} first`);
  return value;
}
"""


def _literal(value: Any) -> str:
    """Return a value as an expression: JSON, except that a literal would take `__proto__` for a prototype."""
    text = json_text(value, indent=2)
    return f"JSON.parse({json_text(text)})" if '"__proto__"' in text else text.replace("\n", "\n  ")
