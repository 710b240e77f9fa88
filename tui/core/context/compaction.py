"""Compacts a conversation to fit into the model's window. Pure, except that a model writes the summary.

Nothing is lost: the messages are kept, and a `Compaction` records what is sent in place of the oldest. First
old tool results are shortened; if that is not enough, the oldest turns become a summary. The cut is always
before a user message, so a call is never separated from its result.
"""

from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass, replace

from tui.core.attachments import as_sent
from tui.core.context.context_meter import ContextMeter, bytes_within, estimate_messages, tail_within
from tui.core.context.skill_texts import skills_in, without_skills
from tui.core.context.summaries import Summarizer, summary_words
from tui.core.context.tool_results import cut, is_cut
from tui.core.conversation.conversation import (
    AssistantMessage,
    Compaction,
    Conversation,
    Message,
    ToolMessage,
    UserMessage,
)
from tui.core.events import Notice
from tui.core.language.translate import message, n_message
from tui.core.ports import ChatModel, Usage
from tui.core.units import octets

FULL = 0.8
"""The share of the window above which the conversation is compacted."""

KEEP = 0.4
"""The share of the window that the newest messages may take unshortened after a summary."""

KEEP_PRESSING = 0.1
"""The same share if the endpoint rejected the request or the user asked for a summary."""

KEEP_RESULTS = 0.2
"""The share of the window that the newest tool results may take unshortened."""

NEWEST = 0.4
"""The share of the window that the newest turn may take when it alone is too large."""

SHORTENED = 0.24
"""The share that it takes then. Smaller, because the endpoint may have counted more tokens than estimated."""

LEAST_BYTES = 600

SHORT = 240
"""Maximum characters of an old result after shortening."""

_HEAD = "[Summary of our conversation so far, written to save space]\n"
_UNANSWERED = "(No answer: the turn ended early.)"
_TURNED_OFF = "the user turned it off. Do not follow it any longer"
_OLDER = "left out, because it is older. To follow it, load it again"
_TOO_LONG = "left out, because it is too long. To follow it, load it with load_skill"
_TAKEN = "I have read the summary and will continue from there."


def sent_messages(
    messages: Sequence[Message], compaction: Compaction, ends: Set[int] = frozenset()
) -> Sequence[Message]:
    """Return `messages` as they are sent to the model; the same sequence if nothing is replaced.

    `ends` are indexes of messages before which a turn was stopped or failed. A question without an answer is
    marked, because the model would otherwise answer it together with the next one.
    """
    ends = {
        at
        for at in ends
        if 0 < at < len(messages) and all(isinstance(one, UserMessage) for one in messages[at - 1 : at + 1])
    }
    if not (compaction.applies or compaction.skills_off or ends):
        return messages
    result: list[Message] = []
    if compaction.upto:
        result += [UserMessage(_HEAD + compaction.summary), AssistantMessage(_TAKEN)]
    limits, limit = dict(compaction.limits), 0
    for index in range(compaction.upto, len(messages)):
        message = messages[index]
        limit = limits.get(index, 0 if isinstance(message, UserMessage) else limit)
        if index < compaction.skills_off:
            message = without_skills(message, _TURNED_OFF)
        if index < compaction.shrunk and isinstance(message, ToolMessage):
            message = _shrunk(message)
        elif limit:
            message = _limited(message, limit)
        if index in ends and index > compaction.upto:
            result.append(AssistantMessage(_UNANSWERED))
        result.append(message)
    return result


def _limited(message: Message, limit: int) -> Message:
    found = _cut(message, limit)
    if skills_in([found]) == skills_in([message]):
        return found
    # Without its label, a skill would not count as loaded, and a part of it would still instruct the model.
    return _cut(without_skills(message, _TOO_LONG), limit)


def _cut(message: Message, limit: int) -> Message:
    if isinstance(message, ToolMessage) and is_cut(message.text, limit):
        return replace(message, text=cut(message.text, limit, message.kept))
    if isinstance(message, UserMessage) and any(is_cut(text, limit) for text in _texts(message)):
        attachments = tuple(
            replace(one, data=cut(one.data, limit)) if one.kind == "text" else one
            for one in message.attachments
        )
        return replace(message, text=cut(message.text, limit), attachments=attachments)
    return message


def _texts(message: Message) -> list[str]:
    attached = message.attachments if isinstance(message, UserMessage) else ()
    texts = [message.text, *(one.data for one in attached if one.kind == "text")]
    return [] if isinstance(message, AssistantMessage) else texts


def _shrunk(message: ToolMessage) -> Message:
    bare = without_skills(message, _OLDER)
    if bare is not message:  # a part of it would still instruct the model
        return bare
    if len(message.text) <= SHORT and not message.attachments:
        return message
    whole = f'; full text: read_result("{message.kept}")' if message.kept else ""
    text = as_sent(message.text, message.attachments, ["omitted"] * len(message.attachments))
    note = f"[… older result, shortened from {len(message.text)} characters{whole} …]"
    return replace(message, text=f"{text[:SHORT]}\n{note}", attachments=())


def shrink(messages: Sequence[Message], compaction: Compaction, window: int) -> Compaction:
    """Return a compaction that shortens old results, or the same one if that saves nothing."""
    newest = next(
        (at for at in range(len(messages) - 1, -1, -1) if isinstance(messages[at], AssistantMessage)), 0
    )
    results = [
        message if isinstance(message, ToolMessage) else UserMessage("") for message in messages[:newest]
    ]
    upto = tail_within(results, int(window * KEEP_RESULTS))
    before = sent_messages(messages[:upto], compaction)
    changed = replace(compaction, shrunk=max(compaction.shrunk, upto))
    gain = estimate_messages(before) - estimate_messages(sent_messages(messages[:upto], changed))
    return changed if gain > window * 0.05 else compaction


def limited(
    messages: Sequence[Message], compaction: Compaction, window: int, most: float = NEWEST
) -> Compaction:
    """Return a compaction under which the newest turn takes at most the share `most` of `window` tokens.

    Its tool results, texts and attachments are truncated; other turns are not affected. If nothing has to
    change, it is `compaction` itself.
    """
    begin = max((at for at, one in enumerate(messages) if isinstance(one, UserMessage)), default=0)
    if estimate_messages(sent_messages(messages, compaction)[-(len(messages) - begin) :]) <= window * most:
        return compaction
    texts = [text for one in messages[begin:] for text in _texts(one)]
    room = bytes_within("".join(texts), int(window * SHORTENED))
    limit = _limit_of([octets(text) for text in texts], room)
    limits = {at: known for at, known in compaction.limits if at >= compaction.upto}
    if limits.get(begin, limit + 1) <= limit:
        return compaction
    return replace(compaction, limits=tuple(sorted({**limits, begin: limit}.items())))


def _limit_of(sizes: Sequence[int], room: int) -> int:
    """Return the limit under which texts of these sizes fit into `room` together."""
    left = len(sizes)
    for size in sorted(sizes):
        if size * left > room:
            break
        room -= size
        left -= 1
    return max(LEAST_BYTES, room // max(1, left))


def boundary(messages: Sequence[Message], compaction: Compaction, window: int, keep: float = KEEP) -> int:
    """Return the index before which messages are to be summarized, or 0 if there is none.

    It is the index of a user message. The newest turn is never summarized; of the turns before it, those stay
    that fit into the share `keep` of the window.
    """
    starts = [at for at, one in enumerate(messages) if isinstance(one, UserMessage) and at > compaction.upto]
    if not starts:
        return 0
    begin = tail_within(sent_messages(messages, replace(compaction, upto=0)), int(window * keep))
    return next((at for at in starts if at >= begin), starts[-1])


REFUSED_SHARE = 0.8
"""The share of a rejected request that is assumed to fit if the endpoint does not name its limit."""

LEAST_WINDOW = 4_096
"""Tokens that any model is assumed to accept until an endpoint rejects fewer."""

_IN_SHORT = message("Large messages and tool results are now shortened for the model.")


def take_compaction(conversation: Conversation, compaction: Compaction, meter: ContextMeter) -> None:
    """Send the messages of a conversation as `compaction` says, and adjust the meter of its requests.

    Skills that were turned off stay so, also if that happened while a summary was written.
    """
    messages = conversation.messages
    off = max(compaction.skills_off, conversation.compaction.skills_off)
    compaction = replace(compaction, skills_off=off)
    before = estimate_messages(sent_messages(messages, conversation.compaction))
    conversation.compact(compaction)
    meter.resized(estimate_messages(sent_messages(messages, compaction)) - before)


@dataclass(slots=True)
class Compactor:
    """Compacts one conversation; `spent` is called with the usage of the summaries."""

    conversation: Conversation
    model: ChatModel
    context_meter: ContextMeter
    spent: Callable[[Usage], object] = lambda usage: None

    async def make_room(self, *, refused: Sequence[Message] = (), by_hand: bool = False) -> Notice | None:
        """Shorten results or summarize old turns; return a notice about the change, or None.

        `refused` are the messages that the endpoint rejected as too long, regardless of the estimate. Raises
        ModelError if the model could not be asked for the summary.
        """
        pressing, window = bool(refused), self._window(refused)
        messages, before = self.conversation.messages, self.conversation.compaction
        shorter = shrink(messages, before, window)
        if not by_hand:
            shorter = limited(messages, shorter, window, NEWEST if pressing else FULL)
            size = estimate_messages(sent_messages(messages, shorter)) if pressing else 0
            if self._shortens(shorter) and size <= window * FULL:
                return self._take(shorter, _IN_SHORT)
        keep = KEEP_PRESSING if pressing or by_hand else KEEP
        upto = boundary(messages, shorter, window, keep)
        if not upto:
            if not by_hand:
                shorter = limited(messages, shorter, window)
            return self._take(shorter, _IN_SHORT) if self._shortens(shorter) else None
        old = sent_messages(messages[:upto], replace(shorter, shrunk=upto))
        summary = await Summarizer(self.model, self.context_meter, self.spent).of(old, window)
        turns = sum(isinstance(message, UserMessage) for message in messages[:upto])
        words = n_message(
            "{done}. It stays complete on your screen.",
            "{done}. They stay complete on your screen.",
            turns,
            done=summary_words(turns, summary),
        )
        return self._take(replace(shorter, upto=upto, summary=summary), words)

    def _shortens(self, compaction: Compaction) -> bool:
        """Whether less is sent than now: a limit that no message exceeds changes nothing."""
        messages = self.conversation.messages
        return sent_messages(messages, compaction) != sent_messages(messages, self.conversation.compaction)

    def _window(self, refused: Sequence[Message]) -> int:
        """Return how many tokens the messages may take: the window, or less after a rejection."""
        if not refused:
            return self.context_meter.window or max(
                LEAST_WINDOW, int(self.context_meter.tokens * REFUSED_SHARE)
            )
        # Only the messages of a request can be shortened, so its tools do not count.
        guess = int(self.context_meter.calibration(estimate_messages(refused)) * REFUSED_SHARE)
        return max(1, min(guess, self.context_meter.window or guess))

    def _take(self, compaction: Compaction, words: str) -> Notice:
        take_compaction(self.conversation, compaction, self.context_meter)
        self.context_meter.patient = False
        return Notice(words, "room")
