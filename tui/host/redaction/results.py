"""Redacts configured secrets in answers of servers, before they are shown, printed, saved or sent.

A server has its own secrets and may return them. Only known values are replaced, because a result may contain
a key that the user asked for. The recorder redacts recordings.
"""

import asyncio
from base64 import b64decode, b64encode
from binascii import Error as Base64Error
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from tui.core.attachments import text_of
from tui.core.media import head_of, media_type, plain_base64
from tui.core.secrets.redact import Redactor, redacted_json, texts_in, without_secrets
from tui.core.text import visible
from tui.core.tools import (
    BinaryContent,
    Content,
    LinkContent,
    ProgressSink,
    ResourceContent,
    TextContent,
    Tool,
    ToolResult,
)
from tui.core.workbench import PromptResult, RawAnswer

if TYPE_CHECKING:
    from tui.core.hidden_text.scan import HiddenText

LARGE = 256 * 1024
"""Results with more characters are searched in a thread."""

TOGETHER = 100
"""Number of definitions that are searched for secrets at once."""

T = TypeVar("T")


class ResultRedactor:
    """Redacts values from servers; a value without secrets is returned unchanged, not copied."""

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        self._cleared_tools: dict[tuple[str, str], tuple[Tool, Tool, int]] = {}

    def text(self, text: str) -> str:
        """Return a text without secrets, even those that invisible characters interrupt.

        A model gets the text without these characters, so it would get the whole secret.
        """
        text = self._redactor.redact_spoken(text)
        shown = _as_sent(text)
        return text if shown is text or not self._is_secret(shown) else self._redactor.redact_spoken(shown)

    def _texts(self, texts: Sequence[str]) -> Sequence[str]:
        """Return successive texts without secrets, even those that are split over several texts."""
        texts = self._redactor.redact_texts(texts)
        shown = [_as_sent(text) for text in texts]
        if shown == texts:
            return texts
        cleared = self._redactor.redact_texts(shown)
        return texts if cleared == shown else cleared

    def _is_secret(self, text: str) -> bool:
        return self._redactor.redact_spoken(text) != text

    def value(self, value: Any) -> Any:
        """Return a JSON value without secrets."""
        return without_secrets(value, self._binary_or_text)

    def progress(self, sink: ProgressSink) -> ProgressSink:
        return lambda done, total, message: sink(done, total, self.text(message))

    def tools(self, tools: Iterable[Tool]) -> list[Tool]:
        """Return tools without secrets in their definitions; digests stay those of the originals."""
        known, cleared = self._redactor.known, self._cleared_tools
        found = list(tools)
        new: list[int] = []
        for at, tool in enumerate(found):
            before = cleared.get((tool.server, tool.name))
            if before is None or before[0] is not tool or before[2] != known:
                new.append(at)
            else:
                found[at] = before[1]
        for start in range(0, len(new), TOGETHER):
            some = new[start : start + TOGETHER]
            # One search is cheaper than many: nearly no tool holds a secret.
            sound = not self._holds([text for at in some for text in _texts_of_tool(found[at])])
            for at in some:
                tool = found[at]
                found[at] = tool if sound and not tool.hidden else self._tool(tool)
                cleared[tool.server, tool.name] = tool, found[at], known
        return found

    def listed(self, tools: Sequence[Tool]) -> None:
        """Prepare all tools that a server lists, and forget those that it lists no more; for a thread."""
        self.tools(tools)
        if tools:
            server, names = tools[0].server, {tool.name for tool in tools}
            for known in list(self._cleared_tools):
                if known[0] == server and known[1] not in names:
                    self._cleared_tools.pop(known, None)

    def definition(self, tool: Tool) -> Tool:
        """Return the tool that `tools` returned `tool` for."""
        before = self._cleared_tools.get((tool.server, tool.name))
        return before[0] if before is not None and before[1] is tool else tool

    def sentence(self, text: str) -> str:
        """Return a sentence that quotes a server, without secrets, even if the quote is truncated."""
        return self._redactor.redact_cut(text)

    async def result(self, result: ToolResult) -> ToolResult:
        """Return a result without secrets. One without `raw` is a sentence that says why there is none."""
        if result.raw is None:
            return self._failure(result)
        if not self._redactor.searches:
            return result
        texts = [*_texts_of(result.content), *texts_in(result.structured), result.warning]
        texts += texts_in(result.raw)
        items = [one.text for one in result.content if isinstance(one, TextContent)]
        return await self._in_thread(
            texts, lambda: self._result(result), result, items, _files_of(result.content)
        )

    def redacted(self, result: ToolResult) -> ToolResult:
        """Return a result without secrets, at once."""
        return replace(self._result(result), as_is=False)

    async def prompt(self, result: PromptResult) -> PromptResult:
        result = replace(result, problem=self.sentence(result.problem))
        texts = [result.description, *texts_in(result.raw)]
        contents = [message.content for message in result.messages]
        texts += _texts_of(contents)
        return await self._in_thread(texts, lambda: self._prompt(result), result, files=_files_of(contents))

    async def answer(self, answer: RawAnswer) -> RawAnswer:
        answer = replace(answer, problem=self.sentence(answer.problem))
        texts = [*texts_in(answer.result), *texts_in(answer.error)]
        return await self._in_thread(texts, lambda: self._answer(answer), answer)

    async def _in_thread(
        self,
        texts: Sequence[str],
        work: Callable[[], T],
        otherwise: T,
        items: Sequence[str] = (),
        files: Sequence[str] = (),
    ) -> T:
        """Return the result of `work` if a secret is in texts, split over items, or in files (base64).

        Else return `otherwise`. Long texts are searched in a thread.
        """

        def found() -> T:
            is_found = self._holds(texts) or self._splits(items) or self._holds(map(_text_in, files))
            return work() if is_found else otherwise

        large = sum(map(len, texts)) >= LARGE
        return await asyncio.to_thread(found) if large else found()

    def _holds(self, texts: Iterable[str]) -> bool:
        """Return whether any of the texts holds a secret; joined, since one search is cheaper than many."""
        # The shown part is often the same object as in the raw result.
        found = {id(text): text for text in texts}.values()
        if self._is_secret("\n".join(found)):
            return True
        sent = ((text, _as_sent(text)) for text in found)
        changed = [shown for text, shown in sent if shown is not text]
        return bool(changed) and self._is_secret("\n".join(changed))

    def _splits(self, items: Sequence[str]) -> bool:
        """Return whether a value is split over several texts, or a text ends with a long beginning of one."""
        items = [_as_sent(item) for item in items]
        return any(map(self._redactor.ends_inside, items)) or (
            len(items) > 1 and self._holds(["".join(items)])
        )

    def _tool(self, tool: Tool) -> Tool:
        if not self._holds(_texts_of_tool(tool)):
            return tool if not tool.hidden else replace(tool, hidden=self.hidden(tool.hidden))
        return replace(
            tool,
            title=self.text(tool.title),
            description=self.text(tool.description),
            schema=self._cleared(tool.schema),
            hidden=self.hidden(tool.hidden),
        )

    def hidden(self, found: Sequence["HiddenText"]) -> tuple["HiddenText", ...]:
        """Return findings of hidden text without secrets in their excerpts."""
        return tuple(
            replace(one, place=self.text(one.place), excerpt=self.text(one.excerpt)) for one in found
        )

    def _failure(self, result: ToolResult) -> ToolResult:
        content = tuple(
            replace(one, text=self.sentence(one.text)) if isinstance(one, TextContent) else self._content(one)
            for one in result.content
        )
        return replace(result, content=content, warning=self.sentence(result.warning))

    def _result(self, result: ToolResult) -> ToolResult:
        contents = [self._content(one) for one in result.content]
        texts = [(number, one) for number, one in enumerate(result.content) if isinstance(one, TextContent)]
        whole = self._texts([one.text for _, one in texts])
        for (number, one), text in zip(texts, whole, strict=True):
            contents[number] = replace(one, text=text)
        return replace(
            result,
            content=tuple(contents),
            structured=self._cleared(result.structured),
            warning=self.text(result.warning),
            raw=None if result.raw is None else self._cleared_raw(result.raw),
        )

    def _cleared_raw(self, raw: Mapping[str, Any]) -> Any:
        """Return a raw result without secrets, including those split over its content."""
        cleared = self._cleared(raw)
        content = raw.get("content")
        texts = [
            (number, one["text"])
            for number, one in enumerate(content if isinstance(content, list) else ())
            if isinstance(one, Mapping) and isinstance(one.get("text"), str)
        ]
        whole = self._texts([text for _, text in texts])
        for (number, _), text in zip(texts, whole, strict=True):
            cleared["content"][number]["text"] = text
        return cleared

    def _prompt(self, result: PromptResult) -> PromptResult:
        return replace(
            result,
            description=self.text(result.description),
            messages=tuple(
                replace(message, content=self._content(message.content)) for message in result.messages
            ),
            raw=None if result.raw is None else self._cleared(result.raw),
        )

    def _answer(self, answer: RawAnswer) -> RawAnswer:
        return replace(
            answer,
            result=self._cleared(answer.result),
            error=None if answer.error is None else self._cleared(answer.error),
        )

    def _content(self, content: Content) -> Content:
        clear = self.text
        match content:
            case TextContent():
                return replace(content, text=clear(content.text))
            case LinkContent():
                return replace(
                    content,
                    uri=clear(content.uri),
                    name=clear(content.name),
                    description=clear(content.description),
                )
            case ResourceContent():
                return replace(
                    content, uri=clear(content.uri), mime=clear(content.mime), text=clear(content.text)
                )
            case BinaryContent():
                data = self._binary(content.data)
                if data == content.data and (text := _text_in(data)) != (shown := clear(text)):
                    data = b64encode(shown.encode()).decode()
                size = content.size if data == content.data else len(b64decode(data))
                return replace(
                    content, mime=clear(content.mime), uri=clear(content.uri), data=data, size=size
                )

    def _cleared(self, value: Any) -> Any:
        return redacted_json(value, self._binary_or_text)

    def _binary_or_text(self, text: str) -> str:
        cleared = self.text(text)
        return cleared if cleared == text else self._binary(text, cleared)

    def _binary(self, text: str, otherwise: str = "") -> str:
        """Return base64 with the secret redacted in the bytes, so that it remains base64."""
        cleared = otherwise or self.text(text)
        if cleared == text:
            return text
        try:
            octets = b64decode(text, validate=True)
        except (Base64Error, ValueError):
            return cleared
        inside = self._redactor.redact_spoken_bytes(octets)
        return cleared if inside == octets else b64encode(inside).decode()


def _as_sent(text: str) -> str:
    """Return a text without invisible characters, as a model gets it; the same object if it has none."""
    if text.isascii():
        return text
    shown = visible(text)
    return text if shown == text else shown


def _texts_of_tool(tool: Tool) -> list[str]:
    return [tool.title, tool.description, *texts_in(tool.schema)]


def _texts_of(contents: Sequence[Content]) -> Iterator[str]:
    for content in contents:
        match content:
            case TextContent():
                yield content.text
            case LinkContent():
                yield from (content.uri, content.name, content.description)
            case ResourceContent():
                yield from (content.uri, content.mime, content.text)
            case BinaryContent():
                yield from (content.data, content.mime, content.uri)


def _files_of(contents: Sequence[Content]) -> list[str]:
    return [content.data for content in contents if isinstance(content, BinaryContent)]


def _text_in(data: str) -> str:
    """Return the text encoded as base64, which a model gets if it is attached; "" if it is not text.

    Also "" for ASCII, which has no invisible characters: secrets are found in its base64.
    """
    data = plain_base64(data) or ""
    if media_type(head_of(data, 64)) or (octets := b64decode(data)).isascii():
        return ""
    return text_of(octets) or ""
