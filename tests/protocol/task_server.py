"""A server on the current SDK that answers tool calls with tasks, and keeps them in the file TASKS_FILE.

Tasks advance with each request for them: `count` is done after three, `greet` asks for a name, `stuck`
never ends, `broken` fails with a protocol error, `wrong` ends with a tool error.
"""

import json
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal
from uuid import uuid4

from mcp.server.extension import Extension, MethodBinding
from mcp.server.mcpserver import MCPServer, require_client_extension
from mcp.shared.exceptions import MCPError
from mcp_types import RequestParams, Result
from pydantic import ConfigDict

FILE = Path(os.environ["TASKS_FILE"])
EXTENSION = "io.modelcontextprotocol/tasks"
NAME = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
QUESTION = {"method": "elicitation/create", "params": {"message": "Your name?", "requestedSchema": NAME}}


class Raw(Result):
    """A result with any members."""

    model_config = ConfigDict(extra="allow")
    result_type: Literal["task", "complete"] = "complete"


class TaskParams(RequestParams):
    task_id: str


class UpdateParams(TaskParams):
    input_responses: dict[str, Any]


def load() -> dict[str, Any]:
    return json.loads(FILE.read_text()) if FILE.exists() else {}


def save(tasks: dict[str, Any]) -> None:
    FILE.write_text(json.dumps(tasks))


def text(words: str, **more: Any) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": words}], **more}


def state(task_id: str, task: dict[str, Any]) -> dict[str, Any]:
    shown = {key: value for key, value in task.items() if key not in ("tool", "polls", "given")}
    now = datetime.now(UTC).isoformat()
    return {
        "taskId": task_id,
        "createdAt": now,
        "lastUpdatedAt": now,
        "ttlMs": 3_600_000,
        "pollIntervalMs": 250,
        **shown,
    }


def step(task: dict[str, Any]) -> None:
    task["polls"] += 1
    match task["tool"]:
        case "count" if task["polls"] >= 3:
            task |= {"status": "completed", "result": text("counted to 3", structuredContent={"n": 3})}
        case "count":
            task["statusMessage"] = f"{task['polls']} of 3"
        case "greet" if task["given"]:
            name = task["given"]["who"].get("content", {}).get("name", "nobody")
            task.pop("inputRequests", None)
            task |= {"status": "completed", "result": text(f"Hello, {name}!")}
        case "greet":
            task |= {"status": "input_required", "inputRequests": {"who": QUESTION}}
        case "broken":
            task |= {"status": "failed", "error": {"code": -32603, "message": "out of luck"}}
        case "wrong":
            task |= {"status": "completed", "result": text("no such thing", isError=True)}


class Tasks(Extension):
    identifier = EXTENSION

    def methods(self):
        return [
            MethodBinding("tasks/get", TaskParams, self.get),
            MethodBinding("tasks/update", UpdateParams, self.update),
            MethodBinding("tasks/cancel", TaskParams, self.cancel),
        ]

    async def intercept_tool_call(self, params, ctx, call_next):
        if params.name == "plain":
            return await call_next(ctx)
        require_client_extension(ctx, EXTENSION)
        tasks, task_id = load(), str(uuid4())
        tasks[task_id] = {"tool": params.name, "status": "working", "polls": 0, "given": {}}
        save(tasks)
        return Raw.model_validate({"resultType": "task", **state(task_id, tasks[task_id])}, by_alias=True)

    def find(self, tasks, task_id):
        if task_id not in tasks:
            raise MCPError(code=-32602, message="Task not found")
        return tasks[task_id]

    async def get(self, ctx, params):
        tasks = load()
        task = self.find(tasks, params.task_id)
        step(task)
        save(tasks)
        return Raw.model_validate(state(params.task_id, task), by_alias=True)

    async def update(self, ctx, params):
        tasks = load()
        self.find(tasks, params.task_id)["given"] |= params.input_responses
        save(tasks)
        return Raw()

    async def cancel(self, ctx, params):
        tasks = load()
        self.find(tasks, params.task_id)["status"] = "cancelled"
        save(tasks)
        return Raw()


server = MCPServer("tasks", extensions=[Tasks()])


@server.tool(structured_output=False)
def count() -> str:
    """Count to three."""
    return "unused"


@server.tool(structured_output=False)
def greet() -> str:
    """Ask for a name and greet it."""
    return "unused"


@server.tool(structured_output=False)
def stuck() -> str:
    """Never end."""
    return "unused"


@server.tool(structured_output=False)
def broken() -> str:
    """Fail."""
    return "unused"


@server.tool(structured_output=False)
def wrong() -> str:
    """Say that it failed."""
    return "unused"


@server.tool(structured_output=False)
def plain() -> str:
    """Answer at once."""
    return "at once"


if __name__ == "__main__":
    import sys

    if "--http" in sys.argv:
        server.run("streamable-http", port=int(sys.argv[-1]))
    else:
        server.run()
