"""The prompts: questions that a user picks in the agent, with what mcptui knows about them."""

from collections.abc import Mapping
from typing import Any

from tui.addons.agent.answer import Answer
from tui.addons.agent.context import AgentContext
from tui.addons.agent.judging import explained, overview
from tui.core.errors import UsageError
from tui.traffic.record.comparable import call_of

_FAILED = {
    "name": "entry",
    "description": "the number of an entry (default: the newest failure)",
    "required": False,
}
_CALL = {"name": "entry", "description": "the number of an entry of the call", "required": True}
_RECORDING = {
    "name": "recording",
    "description": "the name of a recording (default: the newest)",
    "required": False,
}

_WHY = """\
Why did this fail? Below is what mcptui recorded. Find the cause: read whole messages with read_entry, compare
with a call that worked (find_entries, then compare), look at lint and at the server's source. Say what the
defect is, where it is, and how you know. Do not change anything yet.\
"""
_TEST = """\
Write a test for this call, so that CI notices when its result changes. If keep_as_test is allowed, call it
with this entry, then run_tests. Otherwise show the line that allows it, and write a case for the server's
*.mcp.toml file: a call with its arguments, and of the result what must stay. What varies from call to call
(times, IDs) becomes a placeholder such as <time>, <id> or <number>.\
"""

PROMPTS: Mapping[str, tuple[str, str, Mapping[str, Any], str]] = {
    "why_did_this_fail": ("Why did this fail?", "Find out why a call or a server failed.", _FAILED, _WHY),
    "write_a_test": ("Write a test for this call", "Keep a recorded call as a test.", _CALL, _TEST),
}
"""Title, description, first argument and instruction of each prompt."""


def prompts() -> list[dict[str, Any]]:
    """Return the prompts as they are listed."""
    return [
        {"name": name, "title": title, "description": text, "arguments": [entry, _RECORDING]}
        for name, (title, text, entry, _) in PROMPTS.items()
    ]


async def prompt(context: AgentContext, name: str, given: Mapping[str, str]) -> Answer:
    """Return the text of a prompt. Raises McptuiError."""
    if name not in PROMPTS:
        raise UsageError(f"no such prompt. Prompts: {', '.join(PROMPTS)}")
    instruction, entry = PROMPTS[name][3], given.get("entry", "")
    if entry and not (entry.isdecimal() and len(entry) < 16):
        raise UsageError("entry is not a number")
    if not entry and name == "write_a_test":
        raise UsageError("entry is required: the number of an entry of the call")

    def read() -> Answer:
        traffic = context.traffic(given.get("recording"))
        if not entry:
            return Answer([instruction, *overview(traffic, given).parts])
        if name == "write_a_test" and not call_of(traffic.columns, traffic.entry(int(entry), 1).seq):
            step = 'Find one: find_entries(filter="method:tools/call").'
            raise UsageError(f"entry {entry} is not a call that was answered", next_step=step)
        said = f"{instruction}\nThe call is entry {entry} of the recording {traffic.name}."
        return Answer([said, *explained(traffic, int(entry))])

    return await context.reading(read)
