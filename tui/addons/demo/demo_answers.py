"""Texts of the demo model: answers from tool results, questions, help. Pure."""

import json
from collections.abc import Sequence
from typing import Any

from tui.core.conversation.conversation import ToolMessage
from tui.core.example_questions import needs_arguments, question_of
from tui.core.ports import ToolSpec
from tui.core.text import clean_line

MAX_ANSWER = 4000
"""Maximum characters of one result that are repeated in an answer."""

MAX_ITEMS = 20
MAX_JSON = 64 * 1024

_EXAMPLES = (
    ("get_weather", "What's the weather in Hangzhou?", "北京天气如何"),
    ("add_note", "add a note: buy milk", "记一下：买牛奶"),
    ("search_notes", "which notes mention milk?", "哪些笔记提到牛奶？"),
    ("count_slowly", "count slowly for 5 seconds", "数到 5"),
)
_HELP = (
    "I am a rule-based demo, not a language model, and I work offline. I pick one tool by its name and "
    "description, fill in its arguments, and answer from what it returns.\n\nTry:\n\n{examples}\n\n"
    "`list tools` shows every tool. `call NAME {{JSON}}` runs one with exactly these arguments.",
    "我是基于规则的演示模型，不是语言模型，也不联网。我会按名称和描述挑选一个工具、填写参数，并用结果作答。\n\n"
    "可以试试：\n\n{examples}\n\n`list tools` 列出所有工具。",
)
_SENTENCES = {
    "help": _HELP,
    "greeting": (f"Hello! {_HELP[0]}", f"你好！{_HELP[1]}"),
    "thanks": ("You're welcome.", "不客气。"),
    "tools": ("{tools}", "{tools}"),
    "no tools": (
        "I am a rule-based demo, not a language model. No tools are available: no server that offers tools "
        "is running.",
        "我是基于规则的演示模型。现在没有可用的工具：没有提供工具的服务器在运行。",
    ),
    "not understood": (
        "I am a rule-based demo, not a language model, and I found no matching tool. Try:\n\n"
        "{examples}\n\nConfigure a language model to ask anything.",
        "我是基于规则的演示模型，没有找到能回答这个问题的工具。可以试试：\n\n{examples}",
    ),
    "too long": (
        "I am a rule-based demo and read at most {limit} characters. This message is longer.",
        "我是基于规则的演示模型，最多读 {limit} 个字符，这条消息太长了。",
    ),
    "missing": (
        "`{tool}` needs {names}. What should it be?",
        "`{tool}` 还需要 {names}。请告诉我。",
    ),
    "several": (
        "Several tools match: {names}. Use the tool's own words, or `call NAME {{JSON}}`.",
        "有几个工具都可能合适：{names}。请说得更具体些，或输入 `call 工具名 {{JSON}}`。",
    ),
    "failed": ("`{tool}` failed: {text}", "`{tool}` 没有成功：{text}"),
    "empty": ("`{tool}` ran and returned nothing.", "`{tool}` 已运行，没有返回内容。"),
}


def say(sentence: str, chinese: bool, tools: Sequence[ToolSpec] = (), **values: object) -> str:
    """Return a sentence in English or Chinese, with `values` filled in."""
    text = _SENTENCES[sentence][chinese]
    if "{examples}" in text or "{tools}" in text:
        if not tools:
            return _SENTENCES["no tools"][chinese]
        values |= {"examples": _examples(tools, chinese), "tools": _list_tools(tools)}
    return text.format(**values)


def from_result(result: ToolMessage, tools: Sequence[ToolSpec], chinese: bool) -> str:
    """Return an answer with the result of a call: JSON as a short list, text unchanged."""
    spec = next((tool for tool in tools if tool.name == result.name), None)
    name = own_name(spec) if spec else clean_line(result.name, 80)
    text = result.text.removeprefix("ERROR:").strip()
    if not text or text == "(empty result)":
        return say("empty", chinese, tool=name)
    if text[0] in "{[" and len(text) <= MAX_JSON and not result.is_error:
        try:
            value = json.loads(text)
            while isinstance(value, dict) and len(value) == 1 and "result" in value:
                value = value["result"]
            text = _listed(value)
        except (ValueError, RecursionError):
            pass
    text = text if len(text) <= MAX_ANSWER else text[:MAX_ANSWER].rstrip() + " …"
    return say("failed", chinese, tool=name, text=text) if result.is_error else text


def own_name(tool: ToolSpec) -> str:
    """Return the name that a tool's server gave it."""
    return clean_line(tool.tool or tool.name, 80)


def _listed(value: Any) -> str:
    if value in ({}, []):
        return "Nothing was found."
    if isinstance(value, dict):
        return _items([f"**{clean_line(str(key), 60)}**: {_as_text(item)}" for key, item in value.items()])
    return _items([_as_text(item) for item in value]) if isinstance(value, list) else _as_text(value)


def _items(lines: Sequence[str]) -> str:
    more = [f"… and {len(lines) - MAX_ITEMS} more"] if len(lines) > MAX_ITEMS else []
    return "\n".join(f"- {line}" for line in (*lines[:MAX_ITEMS], *more))


def _as_text(value: Any) -> str:
    match value:
        case bool() | None:
            return {True: "yes", False: "no", None: "none"}[value]
        case dict():
            value = ", ".join(f"{key}: {_as_text(item)}" for key, item in list(value.items())[:12])
        case list():
            value = ", ".join(_as_text(item) for item in value[:12])
    return clean_line(str(value), 400)


def quoted(names: Sequence[str], limit: int = 80) -> str:
    """Return `names` as code, separated by commas."""
    return ", ".join(f"`{clean_line(name, limit)}`" for name in names)


def _list_tools(tools: Sequence[ToolSpec]) -> str:
    """Return the tools by server, one per line."""
    servers: dict[str, list[str]] = {}
    for tool in tools:
        first = clean_line(tool.description.strip().partition(". ")[0], 100)
        servers.setdefault(tool.server, []).append(f"`{own_name(tool)}`{': ' + first if first else ''}")
    return "\n\n".join(
        f"**{clean_line(server, 60) or 'tools'}**\n\n{_items(lines)}" for server, lines in servers.items()
    )


def _examples(tools: Sequence[ToolSpec], chinese: bool) -> str:
    """Return sentences that work with the current tools."""
    names = {tool.tool for tool in tools}
    found = [zh if chinese else en for name, en, zh in _EXAMPLES if name in names]
    questions = [question_of(tool.description) for tool in tools if not needs_arguments(tool.schema)]
    found = found or [*filter(None, questions)][:3]
    return _items(found or [f"`call {own_name(tools[0])} {{…}}`"])
