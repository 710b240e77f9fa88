"""Images, audio and files of a conversation as OpenAI-compatible endpoints accept them. Pure.

Only user messages may contain images: most endpoints reject a whole request with images in a tool result. So
the images of results follow in a separate user message after the last result of a reply, if the model accepts
images and such a message may follow; otherwise the text only names them. Only the newest `MAX_SENT` are sent
in a request, older ones are only named.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from tui.core.attachments import as_sent, base64_type, decoded_size, fenced, label, picture_size, word
from tui.core.conversation.conversation import AssistantMessage, Attachment, Message, ToolMessage, UserMessage
from tui.core.units import size as in_bytes
from tui.model.endpoints.provider_traits import Traits
from tui.model.openai_api.call_slots import sendable

MAX_SENT = 20
"""Maximum images and audio in one request."""

MAX_SENT_BYTES = 20 * 1024 * 1024
"""Maximum decoded bytes of all of them; endpoints reject bodies of 30 to 50 MB."""

_FORMATS: Mapping[str, str] = {"audio/wav": "wav", "audio/mpeg": "mp3"}
_OLD = "no longer sent: replaced by newer ones"
_NO_PICTURES = "not shown to you: this model does not support images"
_NO_SOUNDS = "not played to you: this model does not support audio"
_BROKEN = "not sent to you: damaged"
_NO_PLACE = "not shown to you: this model does not support images from tools"


class Attached:
    """Decides which attachments of one request are sent, and how its messages refer to them."""

    def __init__(self, messages: Sequence[Message], traits: Traits) -> None:
        self._traits = traits
        self._sent: set[tuple[int, int]] = set()
        room, left = MAX_SENT, MAX_SENT_BYTES
        for at, message in reversed(list(enumerate(messages))):
            attached = () if isinstance(message, AssistantMessage) else message.attachments
            for number, attachment in reversed(list(enumerate(attached))):
                if self._refusal(attachment, isinstance(message, ToolMessage)):
                    continue
                left -= decoded_size(attachment.data)
                room -= 1
                if room < 0 or left < 0:
                    return
                self._sent.add((at, number))

    def _refusal(self, attachment: Attachment, of_tool: bool) -> str:
        """Return why the model is never sent an attachment of this kind, or ""."""
        if attachment.kind == "image" and self._traits.images is False:
            return _NO_PICTURES
        if attachment.kind == "audio" and not self._traits.audio:
            return _NO_SOUNDS
        if attachment.kind in ("text", "blob"):
            return "not sent"
        if not _holds(attachment):
            return _BROKEN
        return _NO_PLACE if of_tool and not self._traits.user_after_tool else ""

    def _omission_reason(self, at: int, number: int, attachment: Attachment, of_tool: bool) -> str:
        return "" if (at, number) in self._sent else self._refusal(attachment, of_tool) or _OLD

    def of_user(self, at: int, message: UserMessage) -> str | list[dict[str, Any]]:
        """Return the content of the user message at `at`."""
        texts, parts = [message.text] if message.text else [], []
        for number, attachment in enumerate(message.attachments):
            match attachment.kind:
                case "text":
                    head = f"[file {word(attachment.name, 300)}, {word(attachment.mime, 80)}]"
                    texts.append(f"{head}\n{fenced(attachment.data)}")
                case "blob":
                    what = f"{word(attachment.mime, 80)}, {in_bytes(attachment.size)}"
                    texts.append(f"[file {word(attachment.name, 300)}: {what}, not readable for you]")
                case _:
                    why = self._omission_reason(at, number, attachment, of_tool=False)
                    texts.append(f"[{label(attachment)}, {why or 'attached'}]")
                    parts += [] if why else [_part(attachment)]
        text = sendable("\n\n".join(texts))
        return [{"type": "text", "text": text}, *parts] if parts else text

    def of_tool(self, at: int, message: ToolMessage) -> str:
        """Return the text of the result at `at`."""
        reasons = [
            self._omission_reason(at, number, attachment, of_tool=True)
            for number, attachment in enumerate(message.attachments)
        ]
        return sendable(as_sent(message.text, message.attachments, reasons))

    def behind(self, at: int, messages: Sequence[Message]) -> list[dict[str, Any]]:
        """Return the content of the user message after the result at `at`; empty if there is none.

        Only the last result of a reply has such a message; it contains the attachments of all results of that
        reply.
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
    """Whether the data can be of its type; a saved session may have been edited."""
    data = attachment.data
    if not data.isascii() or len(data) % 4 or base64_type(data) != attachment.mime:
        return False
    return attachment.mime in _FORMATS if attachment.kind == "audio" else picture_size(data) is not None


def _part(attachment: Attachment) -> dict[str, Any]:
    if attachment.kind == "audio":
        sound = {"data": attachment.data, "format": _FORMATS[attachment.mime]}
        return {"type": "input_audio", "input_audio": sound}
    url = f"data:{attachment.mime};base64,{attachment.data}"
    return {"type": "image_url", "image_url": {"url": url}}
