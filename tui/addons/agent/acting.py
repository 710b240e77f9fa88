"""Tools that act: they need a rule that allows it, or the yes of the user in a running mcptui."""

import asyncio
import json
import os
import signal
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from tui.addons.agent.answer import Answer, Foreign
from tui.addons.agent.context import AgentContext
from tui.addons.agent.opened import speaker
from tui.addons.agent.running import asked, door_for, doors, not_up, quoting
from tui.addons.agent.tools import AgentTool, arguments, number, text
from tui.core.errors import ConfigError, UsageError
from tui.core.text import clean, clean_line, mapping
from tui.core.units import plural

MOST_OUTPUT = 4 * 1024 * 1024
"""Maximum bytes that are read of what a command prints."""

COMMAND_SECONDS = 600.0
MOST_FAILURES = 5
_CONSENT = "Needs the user's consent: a rule, or an answer in the running mcptui (it may take minutes)."


# ---- a call ------------------------------------------------------------------------------------------------


async def _call_tool(context: AgentContext, given: Mapping[str, Any]) -> Answer:
    server = given["server"]
    door = await door_for(context, server)
    where = door.words if door is not None else "an own process"
    try:
        if door is not None:
            said = await asked(context, door, "agent.call_tool", given)
        else:
            from tui.addons.agent.own_server import call_alone  # loads the runtime

            said = await call_alone(context, given)
    except UsageError as error:  # which may quote a line of the server, its schema, names of its tools
        return quoting(f"{clean_line(given['tool'], 80)} was not called.", error, server)
    context.kept = said["recording"], said["entry"]
    kept = f"entry {said['entry']} of {said['recording']}" if said["entry"] else "not recorded"
    state = "isError" if said["is_error"] and said["answered"] else said["failure"] or "ok"
    head = f"{clean_line(given['tool'], 80)}: {state}, {said['ms']} ms in {where}, {kept}."
    parts: list[str | Foreign] = [head]
    if said["text"].strip():
        parts.append(Foreign(said["text"], speaker(server)))
    elif said["is_error"]:
        parts.append("isError is true, and there is no text.")
    if said["warning"]:
        parts.append(Foreign(clean_line(said["warning"], 600), f"mcptui, which quotes {speaker(server)}"))
    if declined := said.get("declined"):
        asked_for = plural(declined, "question")
        parts.append(f"The server asked {asked_for}, declined because no running mcptui could ask the user.")
    if said["entry"] and said["is_error"]:
        parts.append(f'Why: explain(recording="{said["recording"]}", entry={said["entry"]}).')
    elif said["entry"]:
        parts.append("As a test: keep_as_test(file=…).")
    return Answer(parts, is_error=said["is_error"])


async def _restart(context: AgentContext, given: Mapping[str, Any]) -> Answer:
    server = given["server"]
    if (door := await door_for(context, server, also_down=True)) is None:
        raise UsageError(
            not_up(context),
            next_step="There is nothing to restart: call_tool starts the server anew for each call.",
        )
    try:
        said = await asked(context, door, "agent.restart_server", {"arguments": {"server": server}})
    except UsageError as error:
        return quoting("Nothing was restarted.", error, server)
    tools = plural(said["tools"] or 0, "tool")
    is_up = said["state"] == "RUNNING"
    head = f"{clean_line(server, 60)} is {said['state']}{f', {tools}' if is_up else ''}."
    if not said["said"]:
        return Answer([head], is_error=not is_up)
    return Answer([head, Foreign(said["said"], speaker(server))], is_error=not is_up)


# ---- tests -------------------------------------------------------------------------------------------------


async def _keep(context: AgentContext, given: Mapping[str, Any]) -> Answer:
    recording, entry = given.get("recording") or context.kept[0], given.get("entry") or context.kept[1]
    if not recording or not entry or recording.startswith("-"):
        raise UsageError(
            "nothing to keep: there was no call_tool yet.", next_step="Name the recording and the entry."
        )
    file = _inside(given["file"])
    if not file.name.endswith(".mcp.toml"):
        raise UsageError("the name of a test file ends with .mcp.toml")
    await _permitted(context, "keep_as_test", {**given, "recording": recording, "entry": entry})
    words = ["keep", recording, "--entry", str(entry), "-o", str(file)]
    words += [f"--name={given['name']}"] if given.get("name") else []
    words += ["--yes"] if given.get("replace") else []
    code, out, err = await _command(context, words)
    said = Foreign((out if code == 0 else f"{err}\n{out}").strip(), "the recorded call")
    head = f"Kept in {file.name}. Run it: run_tests." if code == 0 else "Not kept."
    return Answer([head, said], is_error=code != 0)


async def _run_tests(context: AgentContext, given: Mapping[str, Any]) -> Answer:
    files = [str(_inside(str(one))) for one in given.get("files", ())]
    await _permitted(context, "run_tests", given)
    words = ["test", *files, "--json", *([f"-k{given['matching']}"] if given.get("matching") else [])]
    code, out, err = await _command(context, words)
    rows = [mapping(_json(line)) for line in out.splitlines()]
    cases = [row for row in rows if "case" in row]
    failed = [row for row in cases if row.get("state") not in ("passed", "skipped")]
    suites = (row for row in rows if "case" not in row and row.get("problem"))
    problems = [clean_line(str(row["problem"]), 600) for row in suites]
    problems += [err.strip()] if code > 1 and err.strip() else []
    head = (
        f"{len(cases) - len(failed)} of {plural(len(cases), 'test')} passed." if cases else "No test was run."
    )
    parts: list[str | Foreign] = [head]
    shown = (json.dumps(row, indent=1, ensure_ascii=False)[:4_000] for row in failed[:MOST_FAILURES])
    parts += [Foreign(row, "a test and its server") for row in shown]
    if len(failed) > MOST_FAILURES:
        parts.append(f"and {len(failed) - MOST_FAILURES} more. Narrow it with matching=WORDS.")
    if problems:
        parts.append(Foreign("\n".join(problems), "mcptui test, which quotes files and servers"))
    return Answer(parts, is_error=code != 0)


def _json(line: str) -> Any:
    with suppress(ValueError, RecursionError):
        return json.loads(line)
    return None


def _inside(name: str) -> Path:
    """Return a path in the current folder. Raises UsageError for one elsewhere."""
    here = Path(os.path.realpath(Path.cwd()))
    path = Path(os.path.realpath(here / os.path.expanduser(name)))
    if not path.is_relative_to(here):
        raise UsageError(f"{clean_line(name, 200)} is not in the folder where the agent was started")
    return path


async def _permitted(context: AgentContext, act: str, given: Mapping[str, Any]) -> None:
    """Return if the agent may do something in its own process. Raises McptuiError."""
    given = {"folder": str(Path.cwd()), **given}
    apps = [door for door in await doors(context) if door.about.get("kind") == "app"]
    if apps:
        await asked(context, apps[0], "agent.permit", {"act": act, "arguments": given})
    else:
        from tui.addons.agent.own_server import permit_alone  # loads the settings

        await permit_alone(context, act, given)


async def _command(context: AgentContext, words: Sequence[str]) -> tuple[int, str, str]:
    """Run a command of mcptui, and return its exit code and what it printed, the start of it.

    Cancelling this ends it.
    """
    config = ["--config", context.config_path] if context.config else []
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tui", *words, *config),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        start_new_session=True,
    )
    assert process.stdout is not None and process.stderr is not None
    try:
        async with asyncio.timeout(COMMAND_SECONDS):
            out, err = await asyncio.gather(_start_of(process.stdout), _start_of(process.stderr))
            code = await process.wait()
    except TimeoutError:
        raise ConfigError(f"it took longer than {COMMAND_SECONDS:.0f} s, and was stopped") from None
    finally:
        if process.returncode is None:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGTERM)
            await process.wait()
    return code, clean(out), clean(err)


async def _start_of(stream: asyncio.StreamReader) -> str:
    kept = bytearray()
    while piece := await stream.read(65_536):
        kept += piece[: MOST_OUTPUT - len(kept)]
    return kept.decode("utf-8", "replace")


TOOLS: Sequence[AgentTool] = (
    AgentTool(
        "call_tool",
        f"Call a tool of a server, in the running mcptui or, if none runs, in an own process. {_CONSENT}",
        arguments(
            ("server", "tool"),
            server=text("a configured server"),
            tool=text("its tool"),
            arguments={"type": "object", "description": "the arguments of the tool"},
            unchecked={"type": "boolean", "description": "send arguments that its schema forbids"},
            seconds=number("timeout", 1, 600),
        ),
        _call_tool,
        changes=True,
    ),
    AgentTool(
        "restart_server",
        f"Restart a server of the running mcptui, also one that has died. {_CONSENT}",
        arguments(("server",), server=text("name of the server")),
        _restart,
        changes=True,
    ),
    AgentTool(
        "keep_as_test",
        f"Write a recorded call with its result into a test file of this folder. {_CONSENT}",
        arguments(
            ("file",),
            file=text("test file in this folder, such as weather.mcp.toml; created if it does not exist"),
            name=text("name of the test (default: made of the call)"),
            recording=text("recording of the call (default: that of your last call_tool)"),
            entry=number("number of the call in it (default: your last call_tool)", 1),
            replace={
                "type": "boolean",
                "description": "replace what a test of this call expects, and call a read-only tool again to "
                "find what varies",
            },
        ),
        _keep,
        changes=True,
    ),
    AgentTool(
        "run_tests",
        f"Run the test files (*.mcp.toml) of this folder, and return what failed. {_CONSENT}",
        arguments(
            files={"type": "array", "description": "files or folders (default: all)"},
            matching=text("only tests with these words in their names"),
        ),
        _run_tests,
        changes=True,
    ),
)
