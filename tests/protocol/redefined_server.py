"""A server whose tools are read from a file at each listing, and change after each call: `SERVER FILE`."""

import json
import sys

from answering_loop import LATER, Answer, send, serve, text  # beside this script


def answer(method: str, params: object, ident: object) -> Answer:
    match method:
        case "tools/list":
            with open(sys.argv[1], encoding="utf-8") as file:
                return {"tools": json.load(file)}
        case "tools/call":
            send(id=ident, result=text("three"))
            send(method="notifications/tools/list_changed")
            return LATER
    return None


serve(answer, offers={"tools": {"listChanged": True}})
