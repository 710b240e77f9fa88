"""A server whose calls stay open, so that it can be removed during them.

`wait` never answers, `ask` asks for a form, `sample` for a reply of the model, `work` becomes a task that is
polled once a minute, `inquire` a task that asks for a form. `stale` answers, and from then on a changed list
is never listed again. ERA is legacy or modern.
"""

import os

from answering_loop import LATER, Answer, send, serve  # beside this script

MODERN = os.environ["ERA"] == "modern"
TASKS = "io.modelcontextprotocol/tasks"
NAMES = ("wait", "ask", "sample", "work", "inquire", "stale")
FORM = {
    "method": "elicitation/create",
    "params": {
        "message": "Your name?",
        "requestedSchema": {"type": "object", "properties": {"name": {"type": "string"}}},
    },
}
SAMPLE = {
    "method": "sampling/createMessage",
    "params": {"maxTokens": 50, "messages": [{"role": "user", "content": {"type": "text", "text": "Hi"}}]},
}
TASK = {"taskId": "t-1", "status": "working", "ttlMs": 600_000, "pollIntervalMs": 60_000}
listed: list[object] = []


def asks(request: dict[str, object], ident: object) -> None:
    if MODERN:
        wanted = {"resultType": "input_required", "inputRequests": {"1": request}, "requestState": "s"}
        send(id=ident, result=wanted)
    else:
        send(id="q-1", **request)


def call(name: str, ident: object) -> None:
    match name:
        case "ask":
            asks(FORM, ident)
        case "sample":
            asks(SAMPLE, ident)
        case "work":
            send(id=ident, result={"resultType": "task", **TASK})
        case "inquire":
            asked = {"status": "input_required", "inputRequests": {"1": FORM}, "pollIntervalMs": 250}
            send(id=ident, result={"resultType": "task", **TASK, **asked})
        case "stale":
            send(id=ident, result={"resultType": "complete", "content": []})
            send(method="notifications/tools/list_changed")


def answer(method: str, params: dict[str, object], ident: object) -> Answer:
    match method:
        case "tools/list" if not listed:
            listed.append(ident)
            return None
        case "tools/call":
            call(params["name"], ident)
        case "tasks/get":
            return {**TASK, "status": "input_required", "inputRequests": {"1": FORM}}
        case "tools/list" | "subscriptions/listen":
            pass
        case _:
            return None
    return LATER


serve(answer, NAMES, modern=MODERN, offers={"tools": {"listChanged": True}, "extensions": {TASKS: {}}})
