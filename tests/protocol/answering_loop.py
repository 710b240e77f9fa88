"""The loop of modern servers without the SDK: each request gets its result, or an error if it has none."""

import json
import sys
from collections.abc import Callable
from typing import Any


def serve(result_of: Callable[[str, dict[str, Any]], dict[str, Any] | None], **more: Any) -> None:
    """Answer the requests on stdin; `more` are members of every result."""
    for line in sys.stdin:
        request = json.loads(line)
        if "id" in request:
            found = result_of(request["method"], request.get("params") or {})
            answer: dict[str, Any] = {"error": {"code": -32601, "message": "Method not found"}}
            if found is not None:
                answer = {"result": {"resultType": "complete", **more, **found}}
            print(json.dumps({"jsonrpc": "2.0", "id": request["id"], **answer}), flush=True)
