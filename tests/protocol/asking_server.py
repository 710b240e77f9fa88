"""A server of 2026-07-28 whose calls, resources and prompts ask for input first, in rounds."""

import json

from answering_loop import serve, text  # beside this script

STATE = ' {"so far":\u2028 1}\t'
NAME = {"type": "object", "properties": {"name": {"type": "string", "minLength": 2}}, "required": ["name"]}


def form(message):
    return {"method": "elicitation/create", "params": {"message": message, "requestedSchema": NAME}}


def required(state, **requests):
    return {"resultType": "input_required", "inputRequests": requests, "requestState": state}


def call(name, given, state):
    match name:
        case "greet" if not given:
            return required(STATE, who=form("Who are you?"))
        case "greet":
            return text(json.dumps({"given": given, "exact": state == STATE}))
        case "twice" if state != "second":
            return required("second" if given else "first", a=form("First"), b=form("Second"))
        case "roots" if not given:
            return required("s", roots={"method": "roots/list"})
        case "sample" if not given:
            words = {"role": "user", "content": {"type": "text", "text": "Say hello"}}
            asked = {"messages": [words], "maxTokens": 50}
            return required("s", it={"method": "sampling/createMessage", "params": asked})
    return text(json.dumps(given))


def answer(method, params, ident):
    given, state = params.get("inputResponses") or {}, params.get("requestState") or ""
    match method:
        case "tools/call":
            return call(params["name"], given, state)
        case "resources/read" if not given:
            return required("s", who=form("Whose?"))
        case "resources/read":
            return {"contents": [{"uri": params["uri"], "text": f"yours {state}"}]}
        case "prompts/get" if not given:
            return required("s", who=form("For whom?"))
        case "prompts/get":
            words = {"type": "text", "text": f"for you {state}"}
            return {"messages": [{"role": "user", "content": words}]}
    return None


serve(
    answer,
    ("greet", "twice", "roots", "sample"),
    modern=True,
    offers={"tools": {}, "resources": {}, "prompts": {}},
)
