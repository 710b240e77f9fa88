"""A server of 2026-07-28 on raw lines whose calls, resources and prompts ask for input first, in rounds.

Without the SDK, whose import takes most of the time of a start.
"""

import json

from answering_loop import serve  # beside this script

STATE = ' {"so far":\u2028 1}\t'
NAME = {"type": "object", "properties": {"name": {"type": "string", "minLength": 2}}, "required": ["name"]}
CACHED = {"ttlMs": 0, "cacheScope": "private"}


def form(message):
    return {"method": "elicitation/create", "params": {"message": message, "requestedSchema": NAME}}


def said(text):
    return {"content": [{"type": "text", "text": text}]}


def required(state, **requests):
    return {"resultType": "input_required", "inputRequests": requests, "requestState": state}


def call(name, given, state):
    match name:
        case "greet" if not given:
            return required(STATE, who=form("Who are you?"))
        case "greet":
            return said(json.dumps({"given": given, "exact": state == STATE}))
        case "twice" if state != "second":
            return required("second" if given else "first", a=form("First"), b=form("Second"))
        case "roots" if not given:
            return required("s", roots={"method": "roots/list"})
        case "sample" if not given:
            words = {"role": "user", "content": {"type": "text", "text": "Say hello"}}
            asked = {"messages": [words], "maxTokens": 50}
            return required("s", it={"method": "sampling/createMessage", "params": asked})
    return said(json.dumps(given))


def result_of(method, params):
    given, state = params.get("inputResponses") or {}, params.get("requestState") or ""
    match method:
        case "server/discover":
            offers = {"tools": {}, "resources": {}, "prompts": {}}
            return {"supportedVersions": ["2026-07-28"], "capabilities": offers, **CACHED}
        case "tools/list":
            names = ("greet", "twice", "roots", "sample")
            return {"tools": [{"name": name, "inputSchema": {"type": "object"}} for name in names], **CACHED}
        case "tools/call":
            return call(params["name"], given, state)
        case "resources/read" if not given:
            return required("s", who=form("Whose?"))
        case "resources/read":
            return {"contents": [{"uri": params["uri"], "text": f"yours {state}"}], **CACHED}
        case "prompts/get" if not given:
            return required("s", who=form("For whom?"))
        case "prompts/get":
            words = {"type": "text", "text": f"for you {state}"}
            return {"messages": [{"role": "user", "content": words}]}
    return None


serve(result_of)
