"""A server of 2025-11-25 that requires a URL to be opened before each call, and reports its completion."""

from answering_loop import LATER, Answer, refusal, send, serve, text  # beside this script

URL = {"mode": "url", "elicitationId": "e1", "message": "Confirm", "url": "https://a.example/"}
calls: list[object] = []


def answer(method: str, params: object, ident: object) -> Answer:
    if method != "tools/call":
        return None
    calls.append(ident)
    if len(calls) > 1:
        return text(f"paid on call {len(calls)}")
    send(id=ident, **refusal("confirm first", -32042, data={"elicitations": [URL]}))
    for done in ("other", "e1"):
        send(method="notifications/elicitation/complete", params={"elicitationId": done})
    return LATER


serve(answer, ["pay"])
