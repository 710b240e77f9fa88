"""Servers without the SDK, whose import takes a second of a start: handshake, list of tools, and a loop."""

import json
import sys
import threading
from collections.abc import Callable, Iterable, Mapping

Answer = dict[str, object] | None
LATER: Answer = {"later": True}
"""The answer of what sends its response itself."""

LOCK = threading.Lock()
"""Threads of a server may send at once, each a whole line."""

COMPLETE = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"}


def send(**message: object) -> None:
    line = json.dumps({"jsonrpc": "2.0", **message})
    with LOCK:
        print(line, flush=True)


def text(words: str, **more: object) -> dict[str, object]:
    """Return the result of a call."""
    return {"content": [{"type": "text", "text": words}], **more}


def refusal(message: str, code: int = -32601, **more: object) -> dict[str, object]:
    """Return an answer that is an error."""
    return {"error": {"code": code, "message": message, **more}}


def nothing(*_: object) -> Answer:
    return None


def serve(
    answer: Callable[[str, dict[str, object], object], Answer] = nothing,
    tools: Iterable[str | Mapping[str, object]] = (),
    *,
    modern: bool = False,
    offers: Mapping[str, object] | None = None,
    unknown: Answer = None,
    heard: Callable[[dict[str, object]], object] = nothing,
    **more: object,
) -> None:
    """Answer the requests on stdin, as a server of 2026-07-28 or of 2025-11-25.

    Args:
        answer: gets method, parameters and id. Returns a result, a `refusal`, `LATER`, or None for what is
            answered here.
        tools: names or definitions.
        modern: the newer era.
        offers: capabilities; tools alone if None.
        unknown: the answer to methods that nobody knows.
        heard: gets what is no request: notifications and responses.
        more: members of every result.
    """
    info = {"name": "plain", "version": "1"}
    known = {"capabilities": {"tools": {}} if offers is None else offers}
    if modern:
        handshake, known["supportedVersions"] = "server/discover", ["2026-07-28"]
        more = COMPLETE | {"_meta": {"io.modelcontextprotocol/serverInfo": info}} | more
    else:
        handshake, known = "initialize", known | {"protocolVersion": "2025-11-25", "serverInfo": info}
    listed = [
        {"name": one, "inputSchema": {"type": "object"}} if isinstance(one, str) else one for one in tools
    ]
    answers: dict[str, object] = {handshake: known, "tools/list": {"tools": listed}}
    for line in sys.stdin:
        message = json.loads(line)
        if "id" not in message or "method" not in message:
            heard(message)
            continue
        method, ident = message["method"], message["id"]
        found = answer(method, message.get("params") or {}, ident)
        if found is None:
            found = answers.get(method) or unknown or refusal("Method not found")
        if found is not LATER:
            send(id=ident, **(found if found.keys() == {"error"} else {"result": {**more, **found}}))
