"""What the demo model says: answers from tool results, questions, help. Pure."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from tui.core.conversation.conversation import ToolMessage
from tui.core.ports import ToolSpec
from tui.core.text import clean_line

MAX_ANSWER = 4000
"""Characters of one result that are repeated in an answer."""

MAX_ITEMS = 20
MAX_JSON = 64 * 1024

_EXAMPLES = (
    ("get_weather", "What's the weather in Hangzhou?", "北京天气如何"),
    ("add_note", "add a note: buy milk", "记一下：买牛奶"),
    ("search_notes", "which notes mention milk?", "哪些笔记提到牛奶？"),
    ("count_slowly", "count slowly for 5 seconds", "数到 5"),
)


def own_name(tool: ToolSpec) -> str:
    """Return the tool's name as a person knows it."""
    return clean_line(tool.tool or tool.name, 80)


def from_results(results: Sequence[ToolMessage], tools: Sequence[ToolSpec], chinese: bool) -> str:
    """Return an answer with the results of the calls, in words."""
    return "\n\n".join(_from_result(result, tools, chinese) for result in results)


def _from_result(result: ToolMessage, tools: Sequence[ToolSpec], chinese: bool) -> str:
    spec = next((tool for tool in tools if tool.name == result.name), None)
    name = own_name(spec) if spec else clean_line(result.name, 80)
    text = result.text.removeprefix("ERROR:").strip()
    if result.is_error:
        failed = f"`{name}` 没有成功：" if chinese else f"`{name}` did not succeed: "
        return failed + _bounded(text)
    if not text or text == "(empty result)":
        return f"`{name}` 已运行，没有返回内容。" if chinese else f"`{name}` ran and returned nothing."
    return _in_words(text)


def _bounded(text: str) -> str:
    return text if len(text) <= MAX_ANSWER else text[:MAX_ANSWER].rstrip() + " …"


def _in_words(text: str) -> str:
    """Return a result unchanged, or, if it is JSON, as a short list."""
    if text[0] in "{[" and len(text) <= MAX_JSON:
        try:
            value = json.loads(text)
            while isinstance(value, dict) and len(value) == 1 and "result" in value:
                value = value["result"]
            return _bounded(_listed(value))
        except (ValueError, RecursionError):
            pass
    return _bounded(text)


def _listed(value: Any) -> str:
    match value:
        case dict() if value:
            lines = [f"- **{clean_line(str(key), 60)}**: {_short(item)}" for key, item in value.items()]
        case list() if value:
            lines = [f"- {_short(item)}" for item in value]
        case dict() | list():
            return "Nothing was found."
        case _:
            return _short(value)
    more = [f"- … and {len(lines) - MAX_ITEMS} more"] if len(lines) > MAX_ITEMS else []
    return "\n".join([*lines[:MAX_ITEMS], *more])


def _short(value: Any) -> str:
    match value:
        case str():
            return clean_line(value, 400)
        case bool() | None:
            return {True: "yes", False: "no", None: "none"}[value]
        case int() | float():
            return str(value)
        case dict():
            return clean_line(
                ", ".join(f"{key}: {_short(item)}" for key, item in list(value.items())[:12]), 400
            )
        case _:
            return clean_line(", ".join(_short(item) for item in list(value)[:12]), 400)


def ask_for(tool: ToolSpec, missing: Sequence[str], chinese: bool) -> str:
    """Return the question for missing arguments."""
    names = ", ".join(f"`{clean_line(name, 60)}`" for name in missing)
    about = [f"{clean_line(name, 60)}: {said}" for name in missing if (said := _description(tool, name))]
    hint = f" ({'; '.join(about)})" if about else ""
    if chinese:
        return f"`{own_name(tool)}` 还需要 {names}{hint}。请告诉我。"
    return f"`{own_name(tool)}` needs {names}{hint}. What should it be?"


def _description(tool: ToolSpec, name: str) -> str:
    properties = tool.schema.get("properties")
    schema = properties.get(name) if isinstance(properties, Mapping) else None
    text = schema.get("description") if isinstance(schema, Mapping) else None
    return clean_line(text, 120).rstrip(".") if isinstance(text, str) else ""


def several(names: Sequence[str], chinese: bool) -> str:
    """Return the answer if more than one tool matches."""
    listed = ", ".join(f"`{clean_line(name, 80)}`" for name in names[:6])
    if chinese:
        return f"有几个工具都可能合适：{listed}。请说得更具体些，或输入 `/call 工具名 {{JSON}}`。"
    return f"More than one tool fits: {listed}. Say it with the tool's own words, or `/call NAME {{JSON}}`."


def list_tools(tools: Sequence[ToolSpec], chinese: bool) -> str:
    """Return the tools by server, one per line."""
    if not tools:
        return no_tools(chinese)
    servers: dict[str, list[str]] = {}
    for tool in tools:
        said = clean_line(re.split(r"(?<=[.!?])\s", tool.description.strip(), maxsplit=1)[0], 100)
        servers.setdefault(tool.server, []).append(f"- `{own_name(tool)}`{': ' + said if said else ''}")
    blocks = []
    for server, lines in servers.items():
        more = [f"- … and {len(lines) - MAX_ITEMS} more"] if len(lines) > MAX_ITEMS else []
        blocks.append("\n".join([f"**{clean_line(server, 60) or 'tools'}**", "", *lines[:MAX_ITEMS], *more]))
    return "\n\n".join(blocks)


def examples(tools: Sequence[ToolSpec], chinese: bool) -> list[str]:
    """Return sentences that work with the current tools."""
    names = {tool.tool for tool in tools}
    found = [zh if chinese else en for name, en, zh in _EXAMPLES if name in names]
    if not found and tools:
        required = tools[0].schema.get("required")
        needed = [clean_line(str(name), 40) for name in required[:4]] if isinstance(required, list) else []
        arguments = json.dumps(dict.fromkeys(needed, "…"), ensure_ascii=False)
        found = [f"`/call {own_name(tools[0])} {arguments}`"]
    return found


def help_text(tools: Sequence[ToolSpec], chinese: bool) -> str:
    """Return what the demo can and cannot do."""
    tried = "\n".join(f"- {example}" for example in examples(tools, chinese))
    if chinese:
        head = (
            "我是基于规则的演示模型，不是语言模型，也不联网。"
            "我会按名称和描述挑选一个工具、填写参数，并用结果作答。"
        )
        return (
            f"{head}\n\n可以试试：\n\n{tried}\n\n`list tools` 列出所有工具。"
            if tried
            else head + no_tools(chinese)
        )
    head = (
        "I am a rule-based demo, not a language model, and I work offline. I pick one tool by its name and "
        "description, fill in its arguments, and answer from what it returns."
    )
    if not tried:
        return f"{head} {no_tools(chinese)}"
    tail = "`list tools` shows every tool; `/call NAME {JSON}` runs one with exactly these arguments."
    return f"{head}\n\nTry:\n\n{tried}\n\n{tail}"


def no_tools(chinese: bool) -> str:
    """Return the answer while there are no tools."""
    if chinese:
        return "现在没有可用的工具：请先启动一个服务器。"
    return "No tool is available now: start a server first."


def not_understood(tools: Sequence[ToolSpec], chinese: bool) -> str:
    """Return the answer to what no tool can do."""
    if not tools:
        base = "我是基于规则的演示模型。" if chinese else "I am a rule-based demo, not a language model. "
        return base + no_tools(chinese)
    tried = "\n".join(f"- {example}" for example in examples(tools, chinese))
    if chinese:
        return f"我是基于规则的演示模型，没有找到能回答这个问题的工具。可以试试：\n\n{tried}"
    return (
        "I am a rule-based demo, not a language model, and I found no tool for that. "
        f"Try:\n\n{tried}\n\nWith a language model configured, you can ask anything."
    )


def too_long(limit: int, chinese: bool) -> str:
    """Return the answer to a message that is longer than the rules read."""
    if chinese:
        return f"我是基于规则的演示模型，最多读 {limit} 个字符，这条消息太长了。"
    return f"I am a rule-based demo and read at most {limit} characters; this message is longer."
