"""A server for suites: each tool behaves in one way, good or bad."""

import json
import sys
import time

SCHEMAS = {"add": {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}}
NAMES = ["ask", "bad_output", "count", "die", "flood", "garbage", "hang", "image", "now", "order", "refuse"]
NAMES += ["roots", "sample", "slow"]
PNG = {"type": "image", "data": "aGVsbG8=", "mimeType": "image/png"}
FORM = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
ASKED = {
    "ask": ("elicitation/create", {"message": "Who?", "requestedSchema": FORM}),
    "roots": ("roots/list", {}),
    "sample": (
        "sampling/createMessage",
        {"messages": [{"role": "user", "content": {"type": "text", "text": "Hi"}}], "maxTokens": 9},
    ),
}


def tools():
    for name in ["add", *NAMES]:
        tool = {"name": name, "description": name, "inputSchema": SCHEMAS.get(name, {"type": "object"})}
        if name == "bad_output":
            tool["outputSchema"] = {"type": "object", "properties": {"x": {"type": "integer"}}}
        yield tool


def send(**message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


def text(said, **more):
    return {"content": [{"type": "text", "text": said}], **more}


def garbage():
    print("Loading the model...", flush=True)


def flood():
    sys.stderr.write("noise\n" * 20_000)
    sys.stderr.flush()
    for _ in range(500):
        send(method="notifications/message", params={"level": "info", "data": "x" * 100})


def die():
    print("cannot open the database", file=sys.stderr, flush=True)
    sys.exit(3)


FIRST = {"garbage": garbage, "flood": flood, "slow": lambda: time.sleep(0.03), "die": die}
RESULTS = {
    "refuse": lambda: text("no such place", isError=True),
    "now": lambda: text(f"It is {time.strftime('%H:%M:%S')}, run {time.time_ns()}."),
    "image": lambda: {"content": [*text("here")["content"], PNG]},
    "bad_output": lambda: text("x", structuredContent={"x": "1"}),
    "hang": lambda: None,
}


class Server:
    def __init__(self):
        self.calls = self.orders = self.asked = 0
        self.waiting = None

    def tool(self, ident, name, arguments):
        self.calls += 1
        if name in FIRST:
            FIRST[name]()
        match name:
            case "add":
                return text(str(arguments["a"] + 1))
            case "count":
                return text(json.dumps({"calls": self.calls, "orders": self.orders}))
            case "order":
                self.orders += 1
                found = {"id": f"order-{self.orders}", "state": "open"}
                return text(json.dumps(found), structuredContent=found)
        return self.ask(ident, name) if name in ASKED else RESULTS.get(name, lambda: text("done"))()

    def ask(self, ident, name):
        self.asked += 1
        self.waiting = ident
        method, params = ASKED[name]
        send(id=f"asked-{self.asked}", method=method, params=params)

    def answer(self, method, params, ident):
        match method:
            case "initialize":
                offers = {"tools": {}, "resources": {}, "prompts": {}}
                who = {"name": "suite", "version": "1"}
                return {"protocolVersion": "2025-06-18", "capabilities": offers, "serverInfo": who}
            case "tools/list":
                return {"tools": list(tools())}
            case "tools/call" if params["name"] in ("add", *NAMES):
                return self.tool(ident, params["name"], params["arguments"])
            case "resources/list":
                if "cursor" in params:
                    return {"resources": [{"uri": "note:b", "name": "b"}]}
                return {"resources": [{"uri": "note:a", "name": "a"}], "nextCursor": "2"}
            case "resources/templates/list":
                return {"resourceTemplates": []}
            case "resources/read" if params["uri"] == "note:a":
                return {"contents": [{"uri": "note:a", "text": "Buy milk"}]}
            case "prompts/list":
                return {"prompts": [{"name": "greet", "arguments": [{"name": "who", "required": True}]}]}
            case "prompts/get":
                words = {"type": "text", "text": f"Greet {params['arguments']['who']}"}
                return {"messages": [{"role": "user", "content": words}]}
        send(id=ident, error={"code": -32602, "message": f"Not found: {params}"})
        return None


server = Server()
for line in sys.stdin:
    message = json.loads(line)
    if "method" not in message:
        send(id=server.waiting, result=text(json.dumps(message.get("result", message.get("error")))))
    elif "id" in message:
        found = server.answer(message["method"], message.get("params", {}), message["id"])
        if found is not None:
            send(id=message["id"], result=found)
