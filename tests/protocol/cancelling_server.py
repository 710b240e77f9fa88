"""A server whose call asks for replies of the model, and cancels each once the file STREAMED has grown."""

import os
import threading
import time
from pathlib import Path
from typing import Any

from answering_loop import LATER, Answer, send, serve, text  # beside this script

STREAMED, TIMES = Path(os.environ["STREAMED"]), 8
HELLO = {"role": "user", "content": {"type": "text", "text": "Hello"}}
rejected: list[str] = []


def work(ident: Any) -> None:
    for number in range(TIMES):
        asked = f"q{number}"
        before = STREAMED.stat().st_size
        params = {"maxTokens": 1000, "messages": [HELLO]}
        send(id=asked, method="sampling/createMessage", params=params)
        while STREAMED.stat().st_size == before and asked not in rejected:
            time.sleep(0.01)
        if asked not in rejected:
            send(method="notifications/cancelled", params={"requestId": asked})
    send(id=ident, result=text(f"{len(rejected)} rejected"))


def answer(method: str, params: object, ident: Any) -> Answer:
    if method != "tools/call":
        return None
    threading.Thread(target=work, args=(ident,)).start()
    return LATER


def heard(message: dict[str, Any]) -> None:
    if "error" in message:
        rejected.append(message["id"])


serve(answer, ["t"], heard=heard)
