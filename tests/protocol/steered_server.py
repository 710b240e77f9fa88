"""A server of either era whose era, offers and failures are read from a JSON file at every request.

Its argument is the file: {"era": "modern" | "legacy" | "dies", "tools": [names], "prompts": [names],
"resources": [names], "failing": [kinds that answer with an error], "short": [kinds whose second page does],
"unknown": ["listen"], "offers": [kinds], "refusing": [URIs that cannot be subscribed to]}.
A process keeps the era it started with. Its tool `say` sends the notification "method" to every open
change stream (in the older era to the client). `end` ends the change streams ("how": "result" or "cancel").
"""

import json
import sys
from pathlib import Path

META = "io.modelcontextprotocol/"
KEYS = {"tools/list": "tools", "resources/list": "resources", "prompts/list": "prompts"}
SCHEMA = {"type": "object"}
OFFERS = {"listChanged": True}
STREAMS = []


def steering():
    return json.loads(Path(sys.argv[1]).read_text())


MODERN = steering()["era"] == "modern"


def send(**message):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def stamped(stream):
    return {"_meta": {f"{META}subscriptionId": stream}}


def say(method, **about):
    for params in map(stamped, STREAMS) if MODERN else ({},):
        send(method=method, params=about | params)


def end(how):
    while STREAMS:
        stream = STREAMS.pop()
        if how == "result":
            send(id=stream, result={"resultType": "complete", **stamped(stream)})
        else:
            send(method="notifications/cancelled", params={"requestId": stream})


def refused():
    return steering().get("refusing", ())


def entry(kind, name):
    more = {"tools": {"inputSchema": SCHEMA}, "resources": {"uri": f"memo://{name}"}, "prompts": {}}
    return {"name": name, **more[kind]}


def page(kind, cursor):
    state = steering()
    if kind in state.get("failing", ()) or cursor:
        return {"error": {"code": -32603, "message": "not now"}}
    names = state.get(kind, [])
    if kind in state.get("short", ()):
        return {"result": {kind: [entry(kind, name) for name in names[:1]], "nextCursor": "next"}}
    return {"result": {kind: [entry(kind, name) for name in names]}}


def call(name, arguments):
    if name == "say":
        say(**arguments)
    elif name == "end":
        end(arguments["how"])
    return {"result": {"content": [{"type": "text", "text": "done"}]}}


def answer(method, params):
    kinds = steering().get("offers", ("tools", "resources", "prompts"))
    introduction = {
        "capabilities": dict.fromkeys(kinds, OFFERS) | {"resources": OFFERS | {"subscribe": True}}
    }
    if "resources" not in kinds:
        del introduction["capabilities"]["resources"]
    info = {"name": "steered", "version": "1"}
    match method:
        case "server/discover" if MODERN:
            said = {"supportedVersions": ["2026-07-28"], "_meta": {f"{META}serverInfo": info}}
            return {"result": introduction | said}
        case "initialize" if not MODERN:
            return {"result": introduction | {"protocolVersion": "2025-11-25", "serverInfo": info}}
        case "tools/list" | "resources/list" | "prompts/list":
            return page(KEYS[method], params.get("cursor"))
        case "tools/call":
            return call(params["name"], params.get("arguments") or {})
        case "resources/subscribe" | "resources/unsubscribe" if not MODERN:
            if params["uri"] in refused():
                return {"error": {"code": -32602, "message": "not that one"}}
            return {"result": {}}
    return {"error": {"code": -32601, "message": f"no {method}"}}


def serve():
    if steering()["era"] == "dies":
        sys.exit(3)
    for line in sys.stdin:
        request = json.loads(line)
        if "id" not in request:
            if request["method"] == "notifications/cancelled" and request["params"]["requestId"] in STREAMS:
                STREAMS.remove(request["params"]["requestId"])
            continue
        if MODERN and request["method"] == "subscriptions/listen":
            if "listen" in steering().get("unknown", ()):
                send(id=request["id"], error={"code": -32601, "message": "no subscriptions/listen"})
                continue
            if "listen" in steering().get("failing", ()):
                send(id=request["id"], error={"code": -32603, "message": "not now"})
                continue
            STREAMS.append(request["id"])
            wanted = dict(request["params"]["notifications"])
            uris = [uri for uri in wanted.pop("resourceSubscriptions", ()) if uri not in refused()]
            if uris:
                wanted["resourceSubscriptions"] = uris
            honoured = {"notifications": wanted, **stamped(request["id"])}
            send(method="notifications/subscriptions/acknowledged", params=honoured)
            continue
        said = answer(request["method"], request.get("params") or {})
        if MODERN and "result" in said:
            said["result"] = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private", **said["result"]}
        send(id=request["id"], **said)


if __name__ == "__main__":
    serve()
