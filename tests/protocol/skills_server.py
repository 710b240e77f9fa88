"""A server of skills that may lie: it answers from the JSON file SITE, which a test changes while it runs.

`settings`: what it declares for the extension (none: nothing). `pages`: raw entries, page by page. `skills`:
raw entries by URI, for `skills/get`. `files`: raw contents by URI; a number waits for so many seconds.
`cursors`: those of the pages after the first, and null. Each request is a line in the file ASKED.

Without SDK it is a server of 2026-07-28, or with `legacy` of 2025-11-25. `sdk` serves both eras on stdio, and
`sdk PORT` over HTTP.
"""

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

SITE, ASKED = Path(os.environ["SITE"]), Path(os.environ["ASKED"])
EXTENSION = "io.modelcontextprotocol/skills"


class Unknown(Exception):
    """Nothing is served at this URI."""


def answered(method: str, params: dict[str, Any]) -> dict[str, Any] | None:
    with ASKED.open("a") as file:
        file.write(json.dumps([method, params.get("uri")]) + "\n")
    site = json.loads(SITE.read_text())
    uri = params.get("uri")
    match method:
        case "skills/list":
            cursors = site.get("cursors") or [*map(str, range(1, len(site["pages"]))), None]
            number = cursors.index(params["cursor"]) + 1 if "cursor" in params else 0
            following = cursors[min(number, len(cursors) - 1)]
            cursor = {} if following is None else {"nextCursor": following}
            return {
                "skills": site["pages"][min(number, len(site["pages"]) - 1)],
                "ttlMs": site.get("ttl", 0),
            } | cursor
        case "skills/get":
            if uri not in site["skills"]:
                raise Unknown
            return {"skill": site["skills"][uri]}
        case "resources/read":
            if (found := site["files"].get(uri)) is None:
                raise Unknown
            if isinstance(found, int | float):
                time.sleep(found)
                found = {"uri": uri, "text": "late"}
            return {"contents": found if isinstance(found, list) else [found]}
        case "resources/list":
            return {"resources": [{"uri": uri, "name": uri.rpartition("/")[2]} for uri in site["files"]]}
    return None


def loop(*, modern: bool) -> None:
    from answering_loop import Answer, refusal, serve  # beside this script

    def answer(method: str, params: dict[str, Any], ident: object) -> Answer:
        try:
            return answered(method, params)
        except Unknown:
            return refusal("Unknown", -32602)

    settings = json.loads(SITE.read_text()).get("settings")
    declared = {} if settings is None else {"extensions": {EXTENSION: settings}}
    serve(answer, modern=modern, offers={"resources": {}, **declared})


def sdk(port: int | None) -> None:
    from mcp.server.extension import Extension, MethodBinding
    from mcp.server.mcpserver import MCPServer
    from mcp.shared.exceptions import MCPError
    from mcp_types import INVALID_PARAMS, ReadResourceRequestParams, ReadResourceResult, RequestParams

    class Asked(RequestParams):
        uri: str | None = None
        cursor: str | None = None

    def said(method: str, params: Any) -> dict[str, Any]:
        try:
            found = answered(method, params.model_dump(exclude_none=True, mode="json"))
        except Unknown:
            raise MCPError(INVALID_PARAMS, "Unknown") from None
        return {"resultType": "complete", "cacheScope": "private", "ttlMs": 0} | (found or {})

    class Skills(Extension):
        identifier = EXTENSION

        def methods(self) -> list[MethodBinding]:
            async def list_(ctx: Any, params: Any) -> Any:
                return said("skills/list", params)

            async def get(ctx: Any, params: Any) -> Any:
                return said("skills/get", params)

            modern = frozenset({"2026-07-28"})
            return [
                MethodBinding("skills/list", Asked, list_, modern),
                MethodBinding("skills/get", Asked, get, modern),
            ]

    async def read(ctx: Any, params: Any) -> Any:
        return ReadResourceResult.model_validate(said("resources/read", params))

    server = MCPServer("skilled", extensions=[Skills()])
    server._lowlevel_server.add_request_handler("resources/read", ReadResourceRequestParams, read)
    if port is None:
        server.run()
    else:
        server.run("streamable-http", port=port)


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["sdk", *port]:
            sdk(int(port[0]) if port else None)
        case era:
            loop(modern=era != ["legacy"])
