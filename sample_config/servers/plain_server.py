"""MCP over stdio without an SDK, shared by the sample servers in this folder.

One JSON-RPC message per line: requests on stdin, responses and notifications on stdout, logs on stderr. The
first request selects the protocol version:

* 2026-07-28: no handshake. Each request carries protocol version and client capabilities in
  `params._meta`, and `server/discover` returns what the server offers.
* 2024-11-05 to 2025-11-25: `initialize` negotiates a version and returns what the server offers.

Standard library only, so a sample starts almost as fast as Python. For your own server, use an SDK: it
validates all input, also supports HTTP, and follows new revisions of the protocol.
"""

import json
import sys
import threading
from collections.abc import Callable, Mapping
from typing import Any

MODERN, LEGACY = "2026-07-28", ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")

VERSION, CAPABILITIES = (
    "io.modelcontextprotocol/protocolVersion",
    "io.modelcontextprotocol/clientCapabilities",
)
SERVER_INFO, SUBSCRIPTION = "io.modelcontextprotocol/serverInfo", "io.modelcontextprotocol/subscriptionId"

INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS, INTERNAL_ERROR = -32600, -32601, -32602, -32603
UNSUPPORTED_VERSION = -32022

READ_ONLY = {"readOnlyHint": True, "openWorldHint": False}

JsonObject = dict[str, Any]
Register = Callable[[Callable[..., str]], Callable[..., str]]


class ToolError(Exception):
    """The tool failed. The text tells the model why."""


class RequestError(Exception):
    """The request is answered with this JSON-RPC error."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.error = {"code": code, "message": message} | ({} if data is None else {"data": data})


class Server:
    """An MCP server: register tools, resources and prompts with the decorators, then `run()`.

    The docstring of a registered function is its description.
    """

    def __init__(self, name: str, *, version: str, instructions: str) -> None:
        self._info = {"name": name, "version": version}
        self._instructions = instructions
        self._offers: dict[str, dict[str, JsonObject]] = {"tools": {}, "resources": {}, "prompts": {}}
        self._work: dict[tuple[str, str], Callable[..., str]] = {}
        self._slow: set[str] = set()
        self._modern: bool | None = None  # None until the first request
        self._initialized = False
        self._running: dict[int | str, Call] = {}
        self._listening: set[int | str] = set()
        self._writing = threading.Lock()

    def tool(
        self, title: str, properties: JsonObject, annotations: Mapping[str, bool], *, slow: bool = False
    ) -> Register:
        """Register a tool. A property without a default is required.

        Tools are called one after the other. A `slow` one gets its `Call` as first argument and runs in a
        thread of its own.
        """

        def register(work: Callable[..., str]) -> Callable[..., str]:
            name = work.__name__
            schema: JsonObject = {"type": "object", "properties": properties, "title": f"{name}Arguments"}
            if required := [key for key, value in properties.items() if "default" not in value]:
                schema["required"] = required
            self._slow.update([name] if slow else [])
            return self._add(
                "tools", name, work, name=name, title=title, inputSchema=schema, annotations=annotations
            )

        return register

    def resource(self, uri: str, *, name: str, mime_type: str) -> Register:
        """Register a function that returns the text of a resource."""
        return lambda work: self._add("resources", uri, work, uri=uri, name=name, mimeType=mime_type)

    def prompt(self, title: str) -> Register:
        """Register a function that returns the text of a prompt without arguments."""
        return lambda work: self._add(
            "prompts", work.__name__, work, name=work.__name__, title=title, arguments=[]
        )

    def _add(self, kind: str, key: str, work: Callable[..., str], **about: Any) -> Callable[..., str]:
        self._offers[kind][key] = about | {"description": work.__doc__}
        self._work[kind, key] = work
        return work

    def run(self) -> None:
        """Answer line by line until the client closes stdin."""
        for line in sys.stdin.buffer:
            message = parsed(line)
            if message is None:
                continue  # not JSON-RPC: there is no id to respond to
            params = message.get("params") or {}
            if "id" in message:
                self._answer(message["id"], message["method"], params)
            elif message["method"] == "notifications/cancelled":
                self._cancel(params.get("requestId"))
        for call in list(self._running.values()):
            call.cancelled.set()
        for id in self._listening:
            self._reply(id, {"_meta": {SUBSCRIPTION: id}})

    def _answer(self, id: int | str, method: str, params: JsonObject) -> None:
        try:
            if (result := self._result(id, method, params)) is not None:
                self._reply(id, result)
        except RequestError as refused:
            self.send(id=id, error=refused.error)

    def _reply(self, id: int | str, result: JsonObject) -> None:
        if self._modern:
            meta = {SERVER_INFO: self._info} | result.get("_meta", {})
            result = result | {"resultType": "complete", "_meta": meta}
        self.send(id=id, result=result)

    def send(self, **message: Any) -> None:
        """Write one message as one line."""
        text = json.dumps({"jsonrpc": "2.0", **message}, ensure_ascii=False, separators=(",", ":"))
        with self._writing:
            sys.stdout.buffer.write(text.encode("utf-8", "replace") + b"\n")
            sys.stdout.buffer.flush()

    def _cancel(self, id: Any) -> None:
        """Cancel a request: it gets no response."""
        if isinstance(id, int | str):
            self._listening.discard(id)
            if call := self._running.get(id):
                call.cancelled.set()

    def _result(self, id: int | str, method: str, params: JsonObject) -> JsonObject | None:
        """Return the result of a request, None if it comes later."""
        meta = params.get("_meta") or {}
        if self._modern is None:
            self._modern = method != "initialize" and VERSION in meta
        if self._modern:
            check_envelope(method, params)
        elif method == "initialize":
            return self._initialize(params)
        elif method == "ping":
            return {}
        elif VERSION in meta:
            raise RequestError(INVALID_REQUEST, f"This connection was opened without the _meta of {MODERN}.")
        elif not self._initialized:
            raise RequestError(INVALID_PARAMS, "The first request must be initialize.")
        match method:
            case "server/discover" if self._modern:
                return self._cacheable({"supportedVersions": [MODERN], **self._capabilities()})
            case "subscriptions/listen" if self._modern:
                self._listen(id, params)
                return None
            case "tools/call":
                return self._call(id, params, meta.get("progressToken"))
            case "resources/read":
                about, text = self._text("resources", "uri", params)
                return self._cacheable(
                    {"contents": [{"uri": about["uri"], "mimeType": about["mimeType"], "text": text}]}
                )
            case "prompts/get":
                about, text = self._text("prompts", "name", params)
                message = {"role": "user", "content": {"type": "text", "text": text}}
                return {"description": about["description"], "messages": [message]}
        return self._list(method, params)

    def _initialize(self, params: JsonObject) -> JsonObject:
        needed(params, "capabilities", dict)
        needed(params, "clientInfo", dict)
        version = needed(params, "protocolVersion", str)
        version = version if version in LEGACY else LEGACY[-1]
        self._initialized = True
        return {"protocolVersion": version, "serverInfo": self._info, **self._capabilities()}

    def _capabilities(self) -> JsonObject:
        changes = {
            "listChanged": self._modern
        }  # like subscriptions: accepted there, though nothing ever changes
        capabilities = {
            "tools": changes,
            "resources": {**changes, "subscribe": self._modern},
            "prompts": changes,
        }
        return {"capabilities": capabilities, "instructions": self._instructions}

    def _cacheable(self, result: JsonObject) -> JsonObject:
        return result | {"ttlMs": 0, "cacheScope": "private"} if self._modern else result

    def _listen(self, id: int | str, params: JsonObject) -> None:
        """Acknowledge a subscription. The request stays open until the client cancels it."""
        accepted = {"_meta": {SUBSCRIPTION: id}, "notifications": needed(params, "notifications", dict)}
        self._listening.add(id)
        self.send(method="notifications/subscriptions/acknowledged", params=accepted)

    def _list(self, method: str, params: JsonObject) -> JsonObject:
        lists = {f"{kind}/list": (kind, list(found.values())) for kind, found in self._offers.items()}
        lists["resources/templates/list"] = ("resourceTemplates", [])
        if method not in lists:
            raise RequestError(METHOD_NOT_FOUND, "Method not found", method)
        if params.get("cursor") is not None:
            needed(params, "cursor", str)  # ignored: there is only one page
        kind, found = lists[method]
        return self._cacheable({kind: found})

    def _call(self, id: int | str, params: JsonObject, token: int | str | None) -> JsonObject | None:
        name = needed(params, "name", str)
        given = {} if params.get("arguments") is None else needed(params, "arguments", dict)
        if name not in self._offers["tools"]:
            return tool_result(f"Unknown tool: {name}", is_error=True)
        if name not in self._slow:
            return self._called(name, given)
        call = self._running[id] = Call(self, token)

        def work() -> None:
            result = self._called(name, given, call)
            del self._running[id]
            if not call.cancelled.is_set():
                self._reply(id, result)

        threading.Thread(target=work).start()
        return None

    def _called(self, name: str, given: JsonObject, *call: "Call") -> JsonObject:
        try:
            properties = self._offers["tools"][name]["inputSchema"]["properties"]
            given = {key: argument(key, schema, given) for key, schema in properties.items()}
            return tool_result(self._work["tools", name](*call, **given))
        except ToolError as error:
            return tool_result(f"Error executing tool {name}: {error}", is_error=True)
        except Exception as error:
            print(f"{name}: {error!r}", file=sys.stderr, flush=True)
            return tool_result(f"Error executing tool {name}", is_error=True)

    def _text(self, kind: str, key: str, params: JsonObject) -> tuple[JsonObject, str]:
        """Return a resource or prompt, and its text."""
        name, one = needed(params, key, str), kind[:-1]
        if name not in self._offers[kind]:
            raise RequestError(INVALID_PARAMS, f"Unknown {one}: {name}", {key: name})
        try:
            return self._offers[kind][name], self._work[kind, name]()
        except Exception as error:
            print(f"{name}: {error!r}", file=sys.stderr, flush=True)
            raise RequestError(INTERNAL_ERROR, f"Error reading {one} {name}") from error


class Call:
    """A running call of a slow tool. It can be cancelled, and reports progress if the client requests it."""

    def __init__(self, server: Server, token: int | str | None) -> None:
        self.cancelled = threading.Event()
        self._server = server
        self._token = token

    def progress(self, done: float, total: float, message: str) -> None:
        """Report how much is done."""
        if self._token is not None and not self.cancelled.is_set():
            report = {"progressToken": self._token, "progress": done, "total": total, "message": message}
            self._server.send(method="notifications/progress", params=report)


def parsed(line: bytes) -> JsonObject | None:
    """Return a line as a request or notification, or None."""
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
        return None
    id, method, params = message.get("id", 0), message.get("method"), message.get("params")
    is_sound = isinstance(id, int | str) and isinstance(method, str) and isinstance(params or {}, dict)
    return message if is_sound and not isinstance(id, bool) else None


def check_envelope(method: str, params: JsonObject) -> None:
    """Raise RequestError unless a request is valid in 2026-07-28."""
    if method == "initialize":
        data = {"supported": [MODERN], "requested": params.get("protocolVersion")}
        raise RequestError(UNSUPPORTED_VERSION, f"This connection speaks {MODERN}, without initialize.", data)
    meta = needed(params, "_meta", dict)
    version = needed(meta, VERSION, str)
    needed(meta, CAPABILITIES, dict)
    if version != MODERN:
        data = {"supported": [MODERN], "requested": version}
        raise RequestError(UNSUPPORTED_VERSION, "Unsupported protocol version", data)


def needed(params: JsonObject, name: str, kind: type[Any]) -> Any:
    """Return a parameter, or raise RequestError if it is missing or has another type."""
    value = params.get(name)
    if not isinstance(value, kind):
        wanted = "a string" if kind is str else "an object"
        raise RequestError(INVALID_PARAMS, f"{name} is required and must be {wanted}.")
    return value


def argument(name: str, schema: JsonObject, given: JsonObject) -> Any:
    """Return an argument or its default, or raise ToolError if it does not match its schema."""
    if name not in given and "default" not in schema:
        raise ToolError(f"{name} is required.")
    value: Any = given.get(name, schema.get("default"))
    if schema["type"] == "string":
        if not isinstance(value, str) or len(value) > schema.get("maxLength", sys.maxsize):
            most = f" of at most {schema['maxLength']} characters" if "maxLength" in schema else ""
            raise ToolError(f"{name} must be a string{most}.")
        return value
    above, most = schema["exclusiveMinimum"], schema["maximum"]
    try:
        if above < (number := float(value)) <= most:
            return number
    except (TypeError, ValueError, OverflowError):
        pass
    raise ToolError(f"{name} must be a number greater than {above} and at most {most}.")


def tool_result(text: str, *, is_error: bool = False) -> JsonObject:
    """Return the result of a tool call."""
    return {"content": [{"type": "text", "text": text}], "isError": is_error}
