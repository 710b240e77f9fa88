"""A server of either era whose era, offers and failures are read from a JSON file at every request.

Its argument is the file: {"era": "modern" | "legacy" | "dies", "tools": [names], "prompts": [names],
"resources": [names], "failing": [kinds that answer with an error], "short": [kinds whose second page does],
"unknown": ["listen"], "offers": [kinds], "refusing": [URIs that cannot be subscribed to]}.
A process keeps the era and the kinds it started with. Its tool `say` sends the notification "method" to every
open change stream (in the older era to the client). `end` ends the change streams ("how": "result" or
"cancel").
"""

import json
import sys

from answering_loop import LATER, refusal, send, serve, text  # beside this script

META = "io.modelcontextprotocol/"
SCHEMA = {"type": "object"}
STREAMS = []


def steering():
    with open(sys.argv[1]) as file:
        return json.load(file)


MODERN = steering()["era"] == "modern"


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


def entry(kind, name):
    more = {"tools": {"inputSchema": SCHEMA}, "resources": {"uri": f"memo://{name}"}, "prompts": {}}
    return {"name": name, **more[kind]}


def page(kind, cursor):
    state = steering()
    if kind in state.get("failing", ()) or cursor:
        return refusal("not now", -32603)
    entries = [entry(kind, name) for name in state.get(kind, ())]
    return {kind: entries[:1], "nextCursor": "next"} if kind in state.get("short", ()) else {kind: entries}


def listen(stream, wanted):
    state = steering()
    if "listen" in state.get("unknown", ()):
        return refusal("no subscriptions/listen")
    if "listen" in state.get("failing", ()):
        return refusal("not now", -32603)
    STREAMS.append(stream)
    wanted = dict(wanted)
    uris = [uri for uri in wanted.pop("resourceSubscriptions", ()) if uri not in state.get("refusing", ())]
    honoured = {"notifications": wanted | ({"resourceSubscriptions": uris} if uris else {})}
    send(method="notifications/subscriptions/acknowledged", params=honoured | stamped(stream))
    return LATER


def answer(method, params, ident):
    match method:
        case "tools/list" | "resources/list" | "prompts/list":
            return page(method.removesuffix("/list"), params.get("cursor"))
        case "tools/call":
            known = {"say": say, "end": end}.get(params["name"], lambda: None)
            known(**params.get("arguments") or {})
            return text("done")
        case "resources/subscribe" | "resources/unsubscribe" if not MODERN:
            refused = params["uri"] in steering().get("refusing", ())
            return refusal("not that one", -32602) if refused else {}
        case "subscriptions/listen" if MODERN:
            return listen(ident, params["notifications"])
    return None


def heard(message):
    if message["method"] == "notifications/cancelled" and message["params"]["requestId"] in STREAMS:
        STREAMS.remove(message["params"]["requestId"])


def main():
    if steering()["era"] == "dies":
        sys.exit(3)
    kinds = steering().get("offers", ("tools", "resources", "prompts"))
    offers = {kind: {"listChanged": True, "subscribe": kind == "resources"} for kind in kinds}
    serve(answer, modern=MODERN, offers=offers, heard=heard)


if __name__ == "__main__":
    main()
