"""Requests to the model outside of the conversation: titles, and summaries of old turns.

Old turns that fit into the window are summarized in one request. Otherwise they are written out as a record
and summarized piece by piece, each with the summary of the previous pieces: this works with any window.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from tui.core.context.context_meter import (
    ContextMeter,
    RequestTokens,
    bytes_within,
    estimate,
    estimate_messages,
)
from tui.core.context.tool_results import cut
from tui.core.conversation.conversation import (
    TITLE,
    AssistantMessage,
    Message,
    ToolMessage,
    UserMessage,
    sanitised,
)
from tui.core.conversation.sessions import title_of
from tui.core.errors import ModelError
from tui.core.language.translate import message, n_message
from tui.core.ports import ChatModel, ModelRequest, TextPart, Usage

TITLE_MESSAGES = 8
"""The number of messages at the start that a title is made from."""


async def ask_separately(
    model: ChatModel,
    messages: Sequence[Message],
    question: str,
    *,
    most: int,
    spent: Callable[[Usage], object],
) -> str:
    """Return the model's answer to `question`, without tools, cut off after `most` characters; or "".

    `spent` gets the tokens, also those of an answer that breaks off.

    Raises:
        ModelError: the model could not be asked.
    """
    request = ModelRequest("", [*sanitised(messages), UserMessage(question)])
    text: list[str] = []
    left = most
    tokens = RequestTokens()
    parts = model.stream(request)
    try:
        async for part in parts:
            tokens.take(part)
            if isinstance(part, TextPart):
                text.append(part.text)
                left -= len(part.text)
            if left < 0:
                break
    except ModelError as error:
        tokens.failed(error)
        raise
    finally:  # also if the answer is cut off
        if (usage := tokens.usage(request)) is not None:
            spent(usage)
        await parts.aclose()
    return "".join(text).strip()[:most]


async def suggest_title(
    model: ChatModel, messages: Sequence[Message], spent: Callable[[Usage], object]
) -> str:
    """Return a title for a conversation, written by a model; ModelError if it gave none.

    A model that cannot write one is not asked: as for a new session, the first question gives the title.
    """
    if model.capabilities.writes:
        said = await ask_separately(model, messages[:TITLE_MESSAGES], TITLE, most=400, spent=spent)
    else:
        said = next((message.text for message in messages if isinstance(message, UserMessage)), "")
    title = title_of(said)
    if not title:
        step = message("Set one with /rename TITLE.")
        raise ModelError(message("the model returned no title"), next_step=step)
    return title


MAX_SUMMARY = 16_000
"""Maximum characters of a summary; after that, the model is cut off."""

WHOLE = 0.75
"""The share of the window that old turns may take to be summarized in one request."""

PIECE = 0.4
"""The share of the window that a piece of the record may take; the summary before it takes about the same."""

MAX_PIECES = 12
"""Maximum requests for one summary; in a longer record, each message is truncated."""

TRIES = 3
"""How often the pieces are made smaller after a rejection."""

LEAST_WORDS, MOST_WORDS = 60, 600
LEAST_BYTES = 200

_WANTED = (
    "Keep: what the person wants, decisions, facts and figures found with their sources, names, paths and "
    "ids, what was tried and failed, what is still open. Leave out greetings and what is no longer needed. "
    "At most {words} words, in the language of the conversation. Do not call tools; write only the summary."
)
SUMMARISE = "Summarize the conversation above, so that you can continue without it. " + _WANTED.format(
    words=MOST_WORDS
)
_PIECE = (
    "This conversation is too long to read at once. Summarize this part of it, so that you can continue "
    "without it. "
)
_NO_SUMMARY = "(No summary could be written. Start and end of the conversation:)\n"


@dataclass(slots=True)
class Summarizer:
    """Writes summaries with a model; `context_meter` learns from rejections how much fits."""

    model: ChatModel
    context_meter: ContextMeter
    spent: Callable[[Usage], object]

    async def of(self, old: Sequence[Message], window: int) -> str:
        """Return what replaces `old`, which includes an earlier summary; `window` may be a guess.

        Raises:
            ModelError: the model could not be asked. If it writes nothing, or no piece is small enough for
                its endpoint, the truncated record is used instead.
        """
        size = self.context_meter.calibration(estimate_messages(old))
        # A guessed window counts only after the endpoint has rejected a request.
        if size <= window * WHOLE or self.context_meter.window is None:
            try:
                return await self._asked(old, SUMMARISE) or _digest(old, window)
            except ModelError as error:
                window = self._smaller(error, min(window, int(size * WHOLE)))
        for _ in range(TRIES):
            try:
                return await self._in_pieces(old, window) or _digest(old, window)
            except ModelError as error:
                window = self._smaller(error, window // 2)
        return _digest(old, window)

    def _smaller(self, error: ModelError, window: int) -> int:
        """Return the window to continue with after a request was too long; raise any other error."""
        if not error.overflow:
            raise error
        if error.window is not None and error.window < (self.context_meter.window or error.window + 1):
            self.context_meter.window = error.window
            return error.window
        return window

    async def _in_pieces(self, old: Sequence[Message], window: int) -> str:
        tokens = max(1, int(window * PIECE / max(self.context_meter.calibration.ratio, 0.1)))
        words = min(MOST_WORDS, max(LEAST_WORDS, int(window * 0.15)))
        found = pieces(old, tokens)
        summary = ""
        for number, piece in enumerate(found, 1):
            before = f"Summary of the earlier part:\n{summary}\n\n" if summary else ""
            part = f"Part {number} of {len(found)} of the record:\n{piece}"
            question = f"{_PIECE}{_WANTED.format(words=words)}\n\n{before}{part}"
            summary = await self._asked((), question) or summary
            summary = cut(summary, bytes_within(summary, int(window * PIECE)))
        return summary

    async def _asked(self, messages: Sequence[Message], question: str) -> str:
        return await ask_separately(self.model, messages, question, most=MAX_SUMMARY, spent=self.spent)


def summary_words(turns: int, summary: str) -> str:
    """Return in a few words what was done with the turns that `summary` replaces."""
    if summary.startswith(_NO_SUMMARY):
        return n_message(
            "{n} turn truncated for the model, because no summary could be written",
            "{n} turns truncated for the model, because no summary could be written",
            turns,
        )
    return n_message("{n} turn summarized for the model", "{n} turns summarized for the model", turns)


def pieces(messages: Sequence[Message], tokens: int, most: int = MAX_PIECES) -> list[str]:
    """Return the record of messages in at most `most` pieces of about `tokens` each; all of it if it fits."""
    entries = [_entry(message) for message in messages]
    room = tokens * (most - 1)  # a piece ends with a message where it can, so it is not always full
    if sum(map(estimate, entries)) > room:
        each = room // len(entries)
        entries = [cut(entry, max(LEAST_BYTES, bytes_within(entry, each))) for entry in entries]
    if sum(map(estimate, entries)) > room:
        entries = [cut("\n".join(entries), room)]  # a byte is at most one token
    return list(_filled(entries, tokens))


def _filled(entries: Iterable[str], tokens: int) -> Iterable[str]:
    piece: list[str] = []
    size = 0
    for entry in entries:
        for part in _split_entry(entry, tokens):
            needs = estimate(part) + 1
            if piece and size + needs > tokens:
                yield "\n".join(piece)
                piece, size = [], 0
            piece.append(part)
            size += needs
    if piece:
        yield "\n".join(piece)


def _split_entry(entry: str, tokens: int) -> Iterable[str]:
    needs = estimate(entry)
    if needs <= tokens:
        yield entry
        return
    length = max(1, len(entry) * tokens // needs)
    for at in range(0, len(entry), length):
        yield entry[at : at + length]


def _entry(message: Message) -> str:
    match message:
        case UserMessage():
            attached = "".join(
                f"\n[attached: {one.name}]{f'{chr(10)}{one.data}' if one.kind == 'text' else ''}"
                for one in message.attachments
            )
            return f"PERSON: {message.text}{attached}"
        case ToolMessage():
            return f"RESULT of {message.name}: {message.text}"
        case AssistantMessage():
            called = "".join(f"\n[called {call.name} {call.arguments}]" for call in message.calls)
            return f"YOU: {message.text}{called}"


def _digest(old: Sequence[Message], window: int) -> str:
    """Return the replacement where the model writes no summary: the record, truncated."""
    record = "\n".join(_entry(message) for message in old)
    limit = max(LEAST_BYTES, bytes_within(record, int(window * 0.2)))
    return _NO_SUMMARY + cut(record, min(MAX_SUMMARY, limit))
