"""A server whose calls report progress: `ends` answers after 1.6 s, `never` never does.

The argument is the era. `asks` reports nothing, but asks for the roots (an older server) every 0.2 s.
`pauses` reports once and then stays silent. `samples` (an older server) asks for a reply of the model first.
"""

import sys
import threading
import time

from answering_loop import COMPLETE, LATER, Answer, send, serve, text  # beside this script

MODERN = sys.argv[1] == "modern"
STEP = 0.2


def done(ident: object) -> None:
    send(id=ident, result={**(COMPLETE if MODERN else {}), **text("done")})


def work(asked: object, name: str, token: object) -> None:
    for step in range(8 if name in ("ends", "asks") else 1 if name == "pauses" else 10_000):
        if name == "asks":
            send(id=f"roots-{step}", method="roots/list")
        else:
            params = {"progressToken": token, "progress": step, "message": "busy"}
            send(method="notifications/progress", params=params)
        time.sleep(STEP)
    if name != "pauses":
        done(asked)


def answer(method: str, params: dict[str, object], ident: object) -> Answer:
    if method not in ("tools/call", "resources/read"):
        return None
    name = params.get("name", "ends")
    if name == "samples":
        words = {"role": "user", "content": {"type": "text", "text": "Hello"}}
        asks = {"messages": [words], "maxTokens": 5}
        send(id=f"sample-{ident}", method="sampling/createMessage", params=asks)
    else:
        token = (params.get("_meta") or {}).get("progressToken")
        threading.Thread(target=work, args=(ident, name, token), daemon=True).start()
    return LATER


def heard(message: dict[str, object]) -> None:
    if str(message.get("id")).startswith("sample-"):
        done(int(message["id"].removeprefix("sample-")))


NAMES = ("ends", "never", "asks", "pauses", "samples")
serve(answer, NAMES, modern=MODERN, offers={"tools": {}, "resources": {}}, heard=heard)
