"""A server with one fault, named by its argument: see test_odd_answers.py."""

import sys

from answering_loop import LATER, Answer, refusal, send, serve  # beside this script

FAULT = sys.argv[1]
KINDS = {
    "tools/list": "tools",
    "resources/list": "resources",
    "resources/templates/list": "resourceTemplates",
    "prompts/list": "prompts",
}
ITEM = {"name": "one", "uri": "a://one", "uriTemplate": "a://{x}", "inputSchema": {"type": "object"}}


def answer(method: str, params: dict[str, object], ident: object) -> Answer:
    match method, FAULT:
        case "tools/call", "call-id":
            send(id="call-7", result={"content": []})
            return LATER
        case "tools/call", "null-id":
            send(id=None, **refusal("Parse error: no such brace.", -32700))
            return LATER
        case "tools/call", _:
            return {"isError": True} if FAULT == "no-content" else {"isError": True, "content": []}
    if method not in KINDS:
        return None
    if "cursor" in params:
        return refusal("page 2 broke", -32603)
    page = {KINDS[method]: [ITEM], **({"nextCursor": "2"} if FAULT == "page-2" else {})}
    if FAULT != "list-id":
        return page
    send(id=31337, result=page)
    return LATER


serve(answer, offers={"tools": {}, "resources": {}, "prompts": {}})
