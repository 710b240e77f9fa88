"""Pictures, sounds and files of a conversation as OpenAI-compatible endpoints take them. Pure.

Only messages of the person may hold pictures: in a result of a tool most endpoints refuse them, and with
them the whole request. So the pictures of results follow the last result of a reply in a user message of
their own, where the model takes pictures and such a message may stand there; else the text alone names
them. No request has more of them than `MAX_SENT`: the newest go, of the older ones only the names.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from tui.core.attachments import as_sent, fenced, label, word
from tui.core.conversation.conversation import AssistantMessage, Attachment, Message, ToolMessage, UserMessage
from tui.core.media import decoded_size, head_of, media_type, picture_size
from tui.core.units import size as in_bytes
from tui.model.openai_api.sendable import sendable

MAX_SENT = 20
"""Pictures and sounds in one request."""

MAX_SENT_BYTES = 20 * 1024 * 1024
"""All of them together, decoded; endpoints refuse bodies of 30 to 50 MB."""

_FORMATS: Mapping[str, str] = {"audio/wav": "wav", "audio/mpeg": "mp3"}
_OLD = "no longer sent: newer ones took its place"
_NO_PICTURES = "not shown to you: this model takes no pictures"
_NO_SOUNDS = "not played to you: this model takes no sounds"
_BROKEN = "not sent to you: it is broken"
_NO_PLACE = "not shown to you: this model takes no pictures from tools"


class AcceptedMedia(Protocol):
    """What is known of a model; see `traits.Traits`."""

    @property
    def images(self) -> bool | None:
        """Whether it takes pictures; None if nobody knows, then they are tried."""
        ...

    @property
    def audio(self) -> bool:
        """Whether it takes sounds."""
        ...

    @property
    def user_after_tool(self) -> bool:
        """Whether a user message may stand right behind results of tools."""
        ...


class Attached:
    """What of the attachments of one request is sent, and how its messages tell of them."""

    def __init__(self, messages: Sequence[Message], takes: AcceptedMedia) -> None:
        """Choose what is sent; `messages` are all of the request, in order."""
        self._takes = takes
        self._sent: set[tuple[int, int]] = set()
        self._choose(messages)

    def _choose(self, messages: Sequence[Message]) -> None:
        room, left = MAX_SENT, MAX_SENT_BYTES
        for at in range(len(messages) - 1, -1, -1):
            message = messages[at]
            if isinstance(message, AssistantMessage) or not message.attachments:
                continue
            for number in range(len(message.attachments) - 1, -1, -1):
                attachment = message.attachments[number]
                if self._refusal(attachment, isinstance(message, ToolMessage)):
                    continue
                left -= decoded_size(attachment.data)
                room -= 1
                if room < 0 or left < 0:
                    return
                self._sent.add((at, number))

    def _refusal(self, attachment: Attachment, of_tool: bool) -> str:
        """Return why the model is never sent an attachment of this kind, or ""."""
        if attachment.kind == "image" and self._takes.images is False:
            return _NO_PICTURES
        if attachment.kind == "audio" and not self._takes.audio:
            return _NO_SOUNDS
        if attachment.kind in ("text", "blob"):
            return "not sent"
        if not _holds(attachment):
            return _BROKEN
        return _NO_PLACE if of_tool and not self._takes.user_after_tool else ""

    def _why_not(self, at: int, number: int, attachment: Attachment, of_tool: bool) -> str:
        return "" if (at, number) in self._sent else self._refusal(attachment, of_tool) or _OLD

    def of_user(self, at: int, message: UserMessage) -> str | list[dict[str, Any]]:
        """Return the content of the user message that stands at `at`."""
        texts, parts = [message.text] if message.text else [], []
        for number, attachment in enumerate(message.attachments):
            match attachment.kind:
                case "text":
                    head = f"[file {word(attachment.name, 300)}, {word(attachment.mime, 80)}]"
                    texts.append(f"{head}\n{fenced(attachment.data)}")
                case "blob":
                    what = f"{word(attachment.mime, 80)}, {in_bytes(attachment.size)}"
                    texts.append(f"[file {word(attachment.name, 300)}: {what}, you cannot read it]")
                case _:
                    why = self._why_not(at, number, attachment, of_tool=False)
                    texts.append(f"[{label(attachment)}, {why or 'attached'}]")
                    parts += [] if why else [_part(attachment)]
        text = sendable("\n\n".join(texts))
        return [{"type": "text", "text": text}, *parts] if parts else text

    def of_tool(self, at: int, message: ToolMessage) -> str:
        """Return the text of the result that stands at `at`."""
        reasons = [
            self._why_not(at, number, attachment, of_tool=True)
            for number, attachment in enumerate(message.attachments)
        ]
        return sendable(as_sent(message.text, message.attachments, reasons))

    def behind(self, at: int, messages: Sequence[Message]) -> list[dict[str, Any]]:
        """Return the content of the user message behind the result at `at`; empty if there is none.

        Only the last result of a reply has one; it holds what all results of that reply have attached.
        """
        if at + 1 < len(messages) and isinstance(messages[at + 1], ToolMessage):
            return []
        first = at
        while first > 0 and isinstance(messages[first - 1], ToolMessage):
            first -= 1
        content: list[dict[str, Any]] = []
        for index, message in enumerate(messages[first : at + 1], first):
            assert isinstance(message, ToolMessage)
            for number, attachment in enumerate(message.attachments):
                if (index, number) in self._sent:
                    text = f"[{label(attachment)}, from {message.name}]"
                    content += [{"type": "text", "text": sendable(text)}, _part(attachment)]
        return content


def _holds(attachment: Attachment) -> bool:
    """Whether it can be what it says it is; a saved conversation may have been written by anyone."""
    data = attachment.data
    if not data.isascii() or len(data) % 4 or media_type(head_of(data, 64)) != attachment.mime:
        return False
    return attachment.mime in _FORMATS if attachment.kind == "audio" else picture_size(data) is not None


def _part(attachment: Attachment) -> dict[str, Any]:
    if attachment.kind == "audio":
        sound = {"data": attachment.data, "format": _FORMATS[attachment.mime]}
        return {"type": "input_audio", "input_audio": sound}
    url = f"data:{attachment.mime};base64,{attachment.data}"
    return {"type": "image_url", "image_url": {"url": url}}
