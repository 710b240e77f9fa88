"""Replies that contain tool calls as text, their expected results, and a reader for them in pieces.

`tests/corpus/llm_text` has a folder for each dialect, and for the format of each model family that emits
calls as text even if native tool calling is used. A file is one reply. The folder's INDEX.json describes it
and its expected result: visible text, reasoning, calls with arguments, names of truncated calls, names of
calls that are answered with an error, and whether calls are marked as recovered.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tui.core.conversation.conversation import CallRequest
from tui.core.ports import ModelPart, ReasoningPart, TextPart, ToolSpec
from tui.model.dialects.call_maker import CallMaker, OfferedTools
from tui.model.dialects.text_tools import DIALECTS, ReplyReader
from tui.model.openai_api.accumulator import CUT

FOLDER = Path(__file__).parent / "corpus" / "llm_text"


def _index() -> dict[str, Any]:
    """Return the index entries of all replies by folder and name, with the dialect used to read each."""
    return {
        f"{file.parent.name}/{name}": entry | {"dialect": _dialect(file.parent.name)}
        for file in sorted(FOLDER.glob("*/INDEX.json"))
        for name, entry in json.loads(file.read_text(encoding="utf-8")).items()
    }


def _dialect(folder: str) -> str:
    return folder if folder in DIALECTS else "native"


INDEX = _index()


def _tool(server: str, name: str, required: int, **types: str) -> ToolSpec:
    properties = {key: {"type": kind} for key, kind in types.items()}
    schema = {"type": "object", "properties": properties, "required": list(properties)[:required]}
    return ToolSpec(f"{server}__{name}", f"{name} of {server}", schema, server, name)


TOOLS = (
    _tool("wx", "get_forecast", 1, city="string", days="integer"),
    _tool("fs", "write_file", 2, path="string", content="string", mode="integer"),
    _tool("fs", "read_file", 1, path="string"),
    _tool("web", "search", 1, query="string"),
    _tool("clock", "now", 0),
)


OFFERED = OfferedTools(TOOLS)
"""Looks up these tools. It is immutable, so thousands of replies share it."""


def text_of(name: str) -> str:
    """Return the text of a reply."""
    return (FOLDER / f"{name}.txt").read_bytes().decode("utf-8")


@dataclass
class Read:
    """The result of reading a reply."""

    text: str = ""
    thinking: str = ""
    calls: list[CallRequest] = field(default_factory=list)

    def take(self, parts: Iterable[ModelPart]) -> None:
        for part in parts:
            match part:
                case TextPart(text):
                    self.text += text
                case ReasoningPart(text, replaces_text):
                    self.thinking = text if replaces_text else self.thinking + text
                    self.text = "" if replaces_text else self.text

    def assert_is(self, expect: dict[str, Any]) -> None:
        assert self.text == expect["content"]
        assert self.thinking == expect.get("reasoning", "")
        whole = [call for call in self.calls if not (call.truncated or call.problem)]
        assert [[call.name, json.loads(call.arguments)] for call in whole] == expect.get("calls", [])
        assert [call.name for call in self.calls if call.truncated] == expect.get("cut", [])
        assert [call.name for call in self.calls if call.problem] == expect.get("problems", [])
        assert all(call.recovered is expect.get("recovered", False) for call in whole)
        assert len({call.id for call in self.calls}) == len(self.calls)


def read(
    dialect: str, pieces: Iterable[str], finish: str = "stop", tools: Iterable[ToolSpec] = TOOLS
) -> Read:
    """Read a reply that arrives in pieces."""
    found = DIALECTS.get(dialect)
    offered = OFFERED if tools is TOOLS else OfferedTools(tuple(tools))
    maker = CallMaker(offered, found.written if found else None)
    reading = ReplyReader(maker, found)
    result = Read()
    for piece in pieces:
        result.take(reading.part(TextPart(piece)))
    result.take(reading.end(cut=finish in CUT))
    result.calls = reading.calls
    return result
