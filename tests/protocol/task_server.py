"""A server of 2026-07-28 that answers calls with tasks, and keeps them in the file TASKS_FILE.

Tasks advance with each request for them: `count` is done after three, `greet` asks for a name, `stuck`
never ends, `broken` fails with a protocol error, `wrong` ends with a tool error. `plain` is no task.
"""

import json
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

from answering_loop import Answer, refusal, serve, text  # beside this script

FILE = Path(os.environ["TASKS_FILE"])
EXTENSION = "io.modelcontextprotocol/tasks"
NAME = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
QUESTION = {"method": "elicitation/create", "params": {"message": "Your name?", "requestedSchema": NAME}}
TOOLS = {
    "count": "Count to three.",
    "greet": "Ask for a name and greet it.",
    "stuck": "Never end.",
    "broken": "Fail.",
    "wrong": "Say that it failed.",
    "plain": "Answer at once.",
}

Task = dict[str, Any]


def state(task_id: str, task: Task) -> dict[str, Any]:
    shown = {key: value for key, value in task.items() if key not in ("tool", "polls", "given")}
    now = datetime.now(UTC).isoformat()
    times = {"createdAt": now, "lastUpdatedAt": now, "ttlMs": 3_600_000, "pollIntervalMs": 250}
    return {"taskId": task_id, **times, **shown}


def step(task: Task) -> None:
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


def asked(method: str, params: dict[str, Any], task: Task) -> dict[str, Any]:
    """Answer a request for a task, or change it."""
    match method:
        case "tasks/get":
            step(task)
            return state(params["taskId"], task)
        case "tasks/update":
            task["given"] |= params["inputResponses"]
        case "tasks/cancel":
            task["status"] = "cancelled"
    return {}


def answer(method: str, params: dict[str, Any], ident: Any) -> Answer:
    tasks: dict[str, Task] = json.loads(FILE.read_text()) if FILE.exists() else {}
    match method:
        case "tools/call" if params["name"] == "plain":
            return text("at once")
        case "tools/call":
            task_id = str(uuid4())
            tasks[task_id] = {"tool": params["name"], "status": "working", "polls": 0, "given": {}}
            found = {"resultType": "task", **state(task_id, tasks[task_id])}
        case "tasks/get" | "tasks/update" | "tasks/cancel" if params["taskId"] in tasks:
            found = asked(method, params, tasks[params["taskId"]])
        case _:
            return None
    FILE.write_text(json.dumps(tasks))
    return found


serve(
    answer,
    [{"name": name, "description": said, "inputSchema": {"type": "object"}} for name, said in TOOLS.items()],
    modern=True,
    offers={"tools": {}, "extensions": {EXTENSION: {}}},
    unknown=refusal("Task not found", -32602),
)
