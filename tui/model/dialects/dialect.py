"""A dialect: how a model without function calling reads tools, writes calls and reads results."""

import json
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from importlib.resources import files

from tui.core.conversation.conversation import (
    AssistantMessage,
    Message,
    ToolMessage,
    UserMessage,
)
from tui.core.ports import ToolSpec
from tui.model.dialects import json_object, react, xml
from tui.model.dialects.call_maker import CallMaker, OfferedTools, apart, sample
from tui.model.dialects.dialect_parser import DialectParser


@dataclass(frozen=True, slots=True)
class Dialect:
    """One way of writing calls as text.

    `stop` are texts that end a call, so that the endpoint can stop there. `written` formats a call of a tool
    with arguments as JSON text, `observed` a result. `prompt` names the file that explains the dialect to the
    model. `apart`: calls name server and tool separately instead of using the qualified name.
    """

    name: str
    stop: tuple[str, ...]
    parser: Callable[[CallMaker], DialectParser]
    written: Callable[[ToolSpec, str], str]
    observed: Callable[[ToolMessage], str]
    prompt: str
    apart: bool = False

    def maker(self, tools: Sequence[ToolSpec], used: Collection[str]) -> CallMaker:
        return CallMaker(OfferedTools(tools), self.written, used)

    def system(self, system: str, tools: Sequence[ToolSpec]) -> str:
        text = (files("tui.model.dialects") / self.prompt).read_text(encoding="utf-8")
        first = max(tools, key=lambda tool: bool(sample(tool)))
        example = self.written(first, json.dumps(sample(first), ensure_ascii=False))
        told = "\n".join(map(self._lines, tools))
        head, _, tail = text.partition("{tools}")
        text = head.replace("{example}", example) + told + tail
        return f"{system.rstrip()}\n\n{text}" if system.strip() else text

    def as_text(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> list[Message]:
        """Return a history with calls and results as text, in which user and assistant alternate.

        Many templates of local models reject two successive messages with the same role.
        """
        offered = OfferedTools(tools)
        result: list[Message] = []
        for message in messages:
            match message:
                case ToolMessage():
                    _append(result, UserMessage(self.observed(message), message.attachments))
                case AssistantMessage(calls=calls):
                    parts = [message.text.strip()]
                    for call in calls:  # its tool may no longer exist
                        server, _, tool = call.name.rpartition("__")
                        found = offered.find(call.name) or ToolSpec(call.name, "", {}, server, tool)
                        parts.append(self.written(found, call.arguments.strip() or "{}"))
                    _append(result, replace(message, text="\n\n".join(filter(None, parts)), calls=()))
                case UserMessage():
                    _append(result, message)
        return result

    def _lines(self, tool: ToolSpec) -> str:
        server, name = apart(tool) if self.apart else ("", tool.name)
        schema = json.dumps(tool.schema, ensure_ascii=False, separators=(",", ":"))
        said = " ".join(tool.description.split())
        return f"- {f'{name} (server {server})' if server else name}: {said}\n  {schema}"


def _append(messages: list[Message], message: Message) -> None:
    """Append a message; join it to the last one if both have the same role."""
    last = messages[-1] if messages else None
    if isinstance(last, UserMessage) and isinstance(message, UserMessage):
        text = "\n\n".join(filter(None, (last.text, message.text)))
        messages[-1] = UserMessage(text, (*last.attachments, *message.attachments))
    elif isinstance(last, AssistantMessage) and isinstance(message, AssistantMessage):
        messages[-1] = replace(message, text="\n\n".join(filter(None, (last.text, message.text))))
    else:
        messages.append(message)


def _tagged(message: ToolMessage) -> str:
    """Return a result between tags; no tag in its text can close them."""
    text = message.text.replace("</tool_result", "<\\/tool_result")
    status = ' status="error"' if message.is_error else ""
    return f'<tool_result name="{message.name}"{status}>\n{text}\n</tool_result>'


DIALECTS = {
    dialect.name: dialect
    for dialect in (
        Dialect("xml", xml.STOP, xml.XmlParser, xml.written, _tagged, "xml.txt", apart=True),
        Dialect(
            "chatmcp",
            json_object.CHATMCP_STOP,
            json_object.ChatMcpParser,
            json_object.written_chatmcp,
            _tagged,
            "chatmcp.txt",
            apart=True,
        ),
        Dialect(
            "json", json_object.STOP, json_object.JsonParser, json_object.written, _tagged, "json_object.txt"
        ),
        Dialect("react", react.STOP, react.ReactParser, react.written, react.observed, "react.txt"),
    )
}
"""The dialects by their names in `tool_protocol`."""
