"""Sample server of the "hello" line dialect, which is not MCP: arithmetic, for `transport = "lines"`.

Some guides call this dialect MCP. One JSON object per line, no JSON-RPC, no handshake: the server sends its
tools, then answers one call after the other. Standard library only.
"""

import json
import sys
from collections.abc import Callable, Mapping
from typing import Any

NUMBER = {"type": "number"}
TWO_NUMBERS = {"type": "object", "properties": {"a": NUMBER, "b": NUMBER}, "required": ["a", "b"]}
NUMBERS = {
    "type": "object",
    "properties": {"values": {"type": "array", "items": NUMBER, "minItems": 1}},
    "required": ["values"],
}
SUMMARY = {
    "type": "object",
    "properties": {"mean": NUMBER, "min": NUMBER, "max": NUMBER},
    "required": ["mean", "min", "max"],
}


class ToolFailure(Exception):
    """The tool failed. The text says why."""


def divide(a: float, b: float) -> float:
    """Return `a` divided by `b`."""
    if b == 0:
        raise ToolFailure("division by zero")
    return a / b


def stats(values: list[float]) -> dict[str, float]:
    """Return the mean, minimum and maximum."""
    return {"mean": sum(values) / len(values), "min": min(values), "max": max(values)}


Tool = tuple[str, dict[str, Any], dict[str, Any], Callable[..., Any]]
TOOLS: dict[str, Tool] = {
    "add": ("a plus b", TWO_NUMBERS, NUMBER, lambda a, b: a + b),
    "subtract": ("a minus b", TWO_NUMBERS, NUMBER, lambda a, b: a - b),
    "multiply": ("a times b", TWO_NUMBERS, NUMBER, lambda a, b: a * b),
    "divide": ("a divided by b", TWO_NUMBERS, NUMBER, divide),
    "stats": ("Mean, minimum and maximum of a list of numbers", NUMBERS, SUMMARY, stats),
}


def is_number(value: Any) -> bool:
    """Return whether a JSON value is a number. `true` and `false` are not."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def are_numbers(value: Any) -> bool:
    """Return whether a JSON value is a non-empty array of numbers."""
    return isinstance(value, list) and bool(value) and all(map(is_number, value))


def checked(schema: Mapping[str, Any], parameters: Any) -> dict[str, Any]:
    """Return the parameters of a call if they fit the schema of its tool, else raise ToolFailure."""
    if not isinstance(parameters, dict):
        raise ToolFailure("parameters must be an object")
    if unknown := parameters.keys() - schema["properties"].keys():
        raise ToolFailure(f"unknown parameter: {min(unknown)}")
    for name, wanted in schema["properties"].items():
        if name not in parameters:
            raise ToolFailure(f"missing parameter: {name}")
        value = parameters[name]
        if wanted["type"] == "number" and not is_number(value):
            raise ToolFailure(f"parameter {name} must be a number")
        if wanted["type"] == "array" and not are_numbers(value):
            raise ToolFailure(f"parameter {name} must be a non-empty array of numbers")
    return parameters


def called(name: Any, parameters: Any) -> Any:
    """Call a tool and return its result, or raise ToolFailure."""
    tool = TOOLS.get(name) if isinstance(name, str) else None
    if tool is None:
        raise ToolFailure(f"unknown tool: {name}")
    _, schema, _, work = tool
    try:
        result = work(**checked(schema, parameters))
        json.dumps(result, allow_nan=False)
    except (OverflowError, ValueError) as error:
        raise ToolFailure("the result is too large") from error
    return result


def failure(error: ToolFailure) -> dict[str, str]:
    """Return an error in the form of the dialect."""
    return {"message": str(error), "type": "application_error"}


def batched(calls: Any) -> list[Any]:
    """Call several tools in order. A failed call has an error instead of a result."""
    results: list[Any] = []
    for call in calls if isinstance(calls, list) else []:
        try:
            if not isinstance(call, dict):
                raise ToolFailure("a call must be an object")
            results.append(called(call.get("name"), call.get("parameters")))
        except ToolFailure as error:
            results.append({"error": failure(error)})
    return results


def answer(message: Any) -> dict[str, Any]:
    """Return the answer to one message."""
    if not isinstance(message, dict):
        return {"type": "error", "message": "a message must be an object"}
    kind, known = message.get("type"), message.get("id")
    match kind:
        case "tool_call" if not isinstance(known, str):
            return {"type": "error", "message": "a tool_call must have a string id"}
        case "tool_call":
            try:
                result = called(message.get("name"), message.get("parameters"))
            except ToolFailure as error:
                return {"type": "tool_error", "id": known, "error": failure(error)}
            return {"type": "tool_result", "id": known, "result": result}
        case "batch_call":
            return {"type": "batch_result", "id": known, "results": batched(message.get("calls"))}
        case "ping":
            return {"type": "pong", "id": known}
    return {"type": "error", "message": f"unknown type {kind}"}


def write(message: Mapping[str, Any]) -> None:
    """Write one message as one line."""
    sys.stdout.write(json.dumps(message, ensure_ascii=False) + "\n")
    sys.stdout.flush()


def main() -> None:
    """Send the tools, then answer each line until end of input or `shutdown`."""
    for stream in (sys.stdin, sys.stdout):
        stream.reconfigure(encoding="utf-8", errors="replace")  # type: ignore[union-attr]
    tools = [
        {"name": name, "description": text, "parameters": schema, "returns": returns}
        for name, (text, schema, returns, _) in TOOLS.items()
    ]
    write({"type": "hello", "version": "v1", "tools": tools})
    print(f"legacy_math: {len(tools)} tools", file=sys.stderr, flush=True)
    for line in sys.stdin:
        try:
            message = json.loads(line)
        except (ValueError, RecursionError):
            write({"type": "error", "message": "the line is not JSON"})
            continue
        if isinstance(message, dict) and message.get("type") == "shutdown":
            return
        write(answer(message))


if __name__ == "__main__":
    main()
