"""A server whose resources and prompts are malformed in many ways; it logs its input to stderr.

`ODD_ERA=modern` selects revision 2026-07-28; with `ODD_COMPLETES` it suggests the request that it got, and
malformed values.
"""

import json
import os
import sys

MODERN = os.environ.get("ODD_ERA") == "modern"
LOGS = {"logging": {}} if "ODD_LOGS" in os.environ else {}
CAPABILITIES = {"tools": {}, "resources": {"x": 1}, "prompts": {}, "experimental": {"y": {}}, **LOGS}
if "ODD_COMPLETES" in os.environ:
    CAPABILITIES["completions"] = {}
INFO = {"name": "odd", "title": "Odd", "version": "0"}
RESOURCES = [
    {"uri": "a://1", "name": "one", "size": 3, "mimeType": "text/plain"},
    {"uri": 7},
    "x",
    {"uri": "a://2", "size": -1, "title": ["no"]},
]
PROMPTS = [{"name": "p", "arguments": [{"name": "who", "required": True}, 3, {"name": None}]}, {"name": 1}]
ONE = [{"uri": "a://1", "text": "hello\x1b[31m"}, {"uri": "a://1", "blob": "AAEC"}, {"odd": 1}]
CONTENTS = {"a://1": {"contents": ONE}, "a://none": {"contents": "none"}, "a://nothing": {}}
MESSAGES = {
    "p": {
        "description": "d",
        "messages": [
            {"role": "assistant", "content": {"type": "text", "text": "hi"}},
            {"role": "wizard", "content": [{"type": "text", "text": "a"}, "b"]},
            "c",
            {"role": "user"},
        ],
    },
    "none": {"messages": None},
}


COMMON = {"capabilities": CAPABILITIES, "instructions": "Be kind."}
TOOL = {"name": "t", "inputSchema": {"type": "object"}, "outputSchema": {"type": "object"}}
HELLO = (
    {
        "server/discover": {
            "supportedVersions": ["2026-07-28"],
            "_meta": {"io.modelcontextprotocol/serverInfo": INFO},
            **COMMON,
        }
    }
    if MODERN
    else {"initialize": {"protocolVersion": "2025-11-25", "serverInfo": INFO, **COMMON}}
)


def completed(params):
    asked = json.dumps([params["ref"], params["argument"], params.get("context")])
    odd = [asked, asked, 7, "red\x1b[31m", "", "x" * 3000]
    return {"completion": {"values": odd, "total": 900}}


def page(params):
    start = int(params.get("cursor") or 0)
    more = {"nextCursor": str(start + 2)} if start + 2 < len(RESOURCES) else {}
    return {"resources": RESOURCES[start : start + 2], **more}


ANSWERS = {
    **{method: lambda params, said=said: said for method, said in HELLO.items()},
    "tools/list": lambda params: {"tools": [TOOL]},
    "tools/call": lambda params: {"content": [], "structuredContent": params.get("arguments")},
    "resources/list": page,
    "resources/read": lambda params: CONTENTS[params["uri"]],
    "prompts/list": lambda params: {"prompts": PROMPTS},
    "prompts/get": lambda params: MESSAGES[params["name"]],
    **({"completion/complete": completed} if "ODD_COMPLETES" in os.environ else {}),
    "logging/setLevel": lambda params: {},
    "x/echo": lambda params: {"params": params, "resultType": "spell"},
    "x/ask": lambda params: {
        "resultType": "input_required",
        "inputRequests": {"a": {"method": "elicitation/create"}},
    },
}


def answer(method, params):
    try:
        found = ANSWERS[method](params)
    except KeyError as unknown:
        code = -32601
        if method == "resources/read":
            code = {"a://gone": -32002, "a://gone too": -32602}.get(params["uri"], -32000)
        return {"error": {"code": code, "message": f"no {unknown}", "data": [1]}}
    if MODERN:
        found = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private", **found}
        if method == "tools/list":
            found |= {"ttlMs": 300_000, "cacheScope": "public"}
    return {"result": found}


def serve():
    for line in sys.stdin:
        sys.stderr.write(line)
        sys.stderr.flush()
        request = json.loads(line)
        if "id" not in request or request["method"] == "x/silence":
            continue
        if request["method"] == "x/exit":
            sys.exit(3)
        said = answer(request["method"], request.get("params") or {})
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": request["id"], **said}) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    serve()
