"""A server that puts its secrets into everything it sends: python canary_server.py --token SECRET.

Results, errors, descriptions, logs, progress, stderr, and invalid lines on stdout contain the secrets
verbatim, in base64, and with URL and JSON escapes.
"""

import base64
import json
import os
import sys
from urllib.parse import quote

SECRETS = (os.environ["CANARY_TOKEN"], sys.argv[sys.argv.index("--token") + 1])
SAID = " and ".join(SECRETS)
FORMS = [
    *SECRETS,
    *(base64.b64encode(one.encode()).decode() for one in SECRETS),
    *(base64.b64encode(f"ada:{one}".encode()).decode() for one in SECRETS),
    *(quote(one, safe="") for one in SECRETS),
    *(json.dumps(one) for one in SECRETS),
]
SCHEMA = {
    "type": "object",
    "title": SAID,
    "properties": {
        "text": {"type": "string", "description": SAID, "enum": ["a", "fail", "wide", "die", SECRETS[0]]},
    },
}


def escaped(value: object) -> str:
    """Return JSON in which every character of the secrets is a Unicode escape."""
    text = json.dumps(value)
    for one in SECRETS:
        text = text.replace(json.dumps(one)[1:-1], "".join(f"\\u{ord(char):04x}" for char in one))
    return text


def send(message: dict, *, escapes: bool = False) -> None:
    print(escaped(message) if escapes else json.dumps(message), flush=True)


def notify(method: str, params: dict) -> None:
    send({"jsonrpc": "2.0", "method": f"notifications/{method}", "params": params})


def sing(params: dict) -> dict | None:
    """Return the result of a call, or None for an error; also send the secrets by every other way."""
    text = params["arguments"].get("text", "")
    print(f"called with {SAID}\n{' '.join(FORMS)}", file=sys.stderr, flush=True)
    print(f"noise {SAID} {' '.join(FORMS)}", flush=True)
    notify("message", {"level": "info", "data": SAID})
    if token := (params.get("_meta") or {}).get("progressToken"):
        notify("progress", {"progressToken": token, "progress": 1, "message": SAID})
    if text == "fail":
        return None
    if text == "die":
        print(f"last words {' '.join(SECRETS * 50)}\n{'x'.join(SECRETS * 5000)}", file=sys.stderr, flush=True)
        sys.exit(3)
    wide = ("x" * 7 + SECRETS[0]) * 20_000 if text == "wide" else ""
    texts = (f"it is {SAID}.", " ".join(FORMS) + wide)
    content = [{"type": "text", "text": one} for one in texts]
    return {"content": content, "structuredContent": {"forms": FORMS, SECRETS[0]: sys.argv[1:]}}


def answer(asked: dict) -> dict | None:
    params = asked.get("params") or {}
    match asked["method"]:
        case "initialize":
            return {
                "protocolVersion": "2025-06-18",
                "capabilities": {
                    "tools": {},
                    "resources": {},
                    "prompts": {},
                    "completions": {},
                    "logging": {},
                },
                "serverInfo": {"name": f"canary {SAID}", "title": SAID, "version": SAID},
                "instructions": f"Use {SAID}.",
            }
        case "tools/list":
            hints = {"annotations": {"title": f"Sing {SAID}", "readOnlyHint": True}}
            tool = {"name": "sing", "description": f"Sings {SAID}.", "inputSchema": SCHEMA, **hints}
            return {"tools": [tool, tool | {"name": " ".join(SECRETS * 4)}]}
        case "tools/call":
            return sing(params)
        case "resources/list":
            return {"resources": [{"uri": f"canary://{SECRETS[1]}/notes", "name": SAID, "description": SAID}]}
        case "resources/templates/list":
            return {"resourceTemplates": []}
        case "resources/read":
            return {"contents": [{"uri": params["uri"], "mimeType": "text/plain", "text": SAID}]}
        case "prompts/list":
            arguments = [{"name": "a", "description": SAID}]
            return {"prompts": [{"name": "song", "title": SAID, "description": SAID, "arguments": arguments}]}
        case "prompts/get":
            return {"messages": [{"role": "user", "content": {"type": "text", "text": SAID}}]}
        case "completion/complete":
            return {"completion": {"values": [SAID]}}
    return None


print(f"starting with {SAID}", file=sys.stderr, flush=True)
print(f"banner {SAID}", flush=True)
for number, line in enumerate(sys.stdin):
    asked = json.loads(line)
    if "id" not in asked:
        continue
    result = answer(asked)
    reply = {"error": {"code": -32000, "message": f"no: {SAID}"}} if result is None else {"result": result}
    send({"jsonrpc": "2.0", "id": asked["id"], **reply}, escapes=number % 2 == 1)
