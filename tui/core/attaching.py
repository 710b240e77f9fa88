"""A file or a resource as something that goes with a message. Pure: whoever calls has read it.

What it is, is told by its bytes; its name only helps where they say nothing.
"""

import base64
from typing import Literal

from tui.core.conversation import Attachment
from tui.core.media import HEAD_BYTES, PICTURES, SOUNDS, media_type

MAX_TEXT = 256 * 1024
"""Bytes of a text; a longer one would fill the window of most models by itself."""

MAX_BYTES = 10 * 1024 * 1024
"""Bytes of anything else."""


def attachment_of(name: str, data: bytes) -> Attachment:
    """Return `data` as an attachment called `name`.

    Raises:
        ValueError: with a sentence, if it is empty, too large, or nothing that a model can be told.
    """
    if not data:
        raise ValueError("it is empty")
    mime = media_type(data[:HEAD_BYTES])
    if mime in PICTURES or mime in SOUNDS:
        if len(data) > MAX_BYTES:
            raise ValueError(f"it is larger than {MAX_BYTES // 2**20} MiB")
        kind: Literal["image", "audio"] = "image" if mime in PICTURES else "audio"
        return Attachment(kind, mime, name, len(data), base64.b64encode(data).decode("ascii"))
    text = _text(data)
    if text is None:
        raise ValueError("it is neither text nor a picture nor a sound that models take")
    if len(data) > MAX_TEXT:
        raise ValueError(f"it is a text larger than {MAX_TEXT // 1024} KiB; attach a part of it")
    return Attachment("text", "text/plain", name, len(data), text)


def _text(data: bytes) -> str | None:
    """Return what is written in `data`, or None if it is no text."""
    for mark, encoding in ((b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"), (b"", "utf-8-sig")):
        if data.startswith(mark):
            try:
                text = data.decode(encoding)
            except UnicodeDecodeError:
                return None
            return None if "\0" in text else text
    return None
