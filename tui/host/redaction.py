"""Redacts configured secrets in answers of servers, before they are shown, printed, saved or sent.

A server has its own secrets and may return them. Only known values are replaced, because a result may contain
a key that the user asked for. The recorder redacts recordings.
"""

import asyncio
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from tui.core.attachments import base64_type, text_of
from tui.core.secrets.encodings import plain_base64
from tui.core.secrets.redact import Redactor
from tui.core.secrets.walk import clear_base64, redacted, texts_in, without_secrets
from tui.core.text import visible
from tui.core.tools import BinaryContent, Content, ProgressSink, TextContent, Tool, ToolResult
from tui.core.workbench import PromptResult, RawAnswer

LARGE = 256 * 1024
"""Results with more characters are searched in a thread."""

T = TypeVar("T")
Answer = TypeVar("Answer", PromptResult, RawAnswer)


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
        if (shown := _as_sent(text)) is text:
            return text
        cleared = self._redactor.redact_spoken(shown)
        return text if cleared == shown else cleared

    def value(self, value: T) -> T:
        """Return a JSON value, or one of our types, without secrets."""
        return without_secrets(value, self._binary, self._media)

    def progress(self, sink: ProgressSink) -> ProgressSink:
        return lambda done, total, message: sink(done, total, self.text(message))

    def tools(self, tools: Iterable[Tool]) -> list[Tool]:
        """Return tools without secrets in their definitions; digests stay those of the originals."""
        known, found = self._redactor.known, []
        for tool in tools:
            before = self._cleared_tools.get((tool.server, tool.name))
            if before is None or before[0] is not tool or before[2] != known:
                before = self._cleared_tools[tool.server, tool.name] = tool, self.value(tool), known
            found.append(before[1])
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
            return redacted(result, self.sentence)
        if not self._redactor.searches:
            return result
        # A model gets its texts joined, without invisible characters.
        items = [_as_sent(one.text) for one in result.content if isinstance(one, TextContent)]
        return await self._in_thread(result, self._result, result.content, items)

    def redacted(self, result: ToolResult) -> ToolResult:
        """Return a result without secrets, at once."""
        return replace(self._result(result), as_is=False)

    async def answer(self, answer: Answer) -> Answer:
        if answer.problem:
            answer = replace(answer, problem=self.sentence(answer.problem))
        if not self._redactor.searches:
            return answer
        contents: list[Content] = (
            [one.content for one in answer.messages] if isinstance(answer, PromptResult) else []
        )
        return await self._in_thread(answer, self._cleared, contents)

    async def _in_thread(
        self, value: T, work: Callable[[T], T], contents: Sequence[Content], items: Sequence[str] = ()
    ) -> T:
        """Return the result of `work` if a secret is in the value or its `contents`; else the value.

        A secret may be in a file, or split over `items`. Long texts are searched in a thread.
        """
        files = [one.data for one in contents if isinstance(one, BinaryContent)]
        texts = list(texts_in(value))

        def found() -> T:
            # Split over several texts, or at the end of one, if that is a long beginning of a secret.
            is_found = (
                self._holds(texts)
                or any(map(self._redactor.ends_inside, items))
                or (len(items) > 1 and self._holds(["".join(items)]))
                or self._holds(map(_text_in, files))
            )
            return work(value) if is_found else value

        large = sum(map(len, texts)) >= LARGE
        return await asyncio.to_thread(found) if large else found()

    def _holds(self, texts: Iterable[str]) -> bool:
        """Return whether any of the texts holds a secret; joined, since one search is cheaper than many."""
        # The shown part is often the same object as in the raw result.
        joined = "\n".join({id(text): text for text in texts}.values())
        return self.text(joined) != joined

    def _result(self, result: ToolResult) -> ToolResult:
        contents: list[Any] = list(self._cleared(result.content))
        texts = {at: one.text for at, one in enumerate(result.content) if isinstance(one, TextContent)}
        for at, text in self._whole(texts):
            contents[at] = replace(contents[at], text=text)
        raw: Any = self._cleared(result.raw)
        items = result.raw.get("content") if result.raw else None
        texts = {
            at: one["text"]
            for at, one in enumerate(items if isinstance(items, list) else ())
            if isinstance(one, Mapping) and isinstance(one.get("text"), str)
        }
        for at, text in self._whole(texts):
            raw["content"][at]["text"] = text
        return replace(self._cleared(replace(result, content=(), raw=None)), content=tuple(contents), raw=raw)

    def _whole(self, items: Mapping[int, str]) -> Iterable[tuple[int, str]]:
        """Return successive texts, by place, without secrets, even those split over several texts."""
        texts = self._redactor.redact_texts(list(items.values()))
        shown = [_as_sent(text) for text in texts]
        if shown != texts and (cleared := self._redactor.redact_texts(shown)) != shown:
            texts = cleared
        return zip(items, texts, strict=True)

    def _cleared(self, value: T) -> T:
        return redacted(value, self._binary, self._media)

    def _media(self, data: str) -> str:
        """Return base64 without secrets, even those that a model gets only once it is decoded."""
        cleared = self._binary(data)
        if cleared != data or (text := _text_in(data)) == (shown := self.text(text)):
            return cleared
        return b64encode(shown.encode()).decode()

    def _binary(self, text: str) -> str:
        """Return a text without secrets; in base64, redacted in the bytes, so that it stays base64."""
        cleared = self.text(text)
        inside = text if cleared == text else clear_base64(text, self.text)
        return cleared if inside == text else inside


def _as_sent(text: str) -> str:
    """Return a text without invisible characters, as a model gets it; the same object if it has none."""
    if text.isascii():
        return text
    shown = visible(text)
    return text if shown == text else shown


def _text_in(data: str) -> str:
    """Return the text encoded as base64, which a model gets if it is attached; "" if it is not text.

    Also "" for ASCII in plain base64: it has no invisible characters, and secrets are found in its base64.
    """
    plain = plain_base64(data) or ""
    octets = b64decode(plain)
    if base64_type(plain) or (octets.isascii() and plain == data):
        return ""
    return text_of(octets) or ""
