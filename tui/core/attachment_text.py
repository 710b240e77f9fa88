"""How attachments are told of in text, for a model or for a person's eyes. Pure."""

import re
from collections.abc import Sequence

from tui.core.conversation.conversation import Attachment
from tui.core.media import picture_size
from tui.core.text import clean_line
from tui.core.units import size as in_bytes

ATTACHED = "attached below"
"""What is said of a picture that goes with the request; see `as_sent`."""

_HIDDEN = re.compile("[\U000e0000-\U000e0fff]")
_HIDDEN_START = b"\xf3\xa0"
"""How each of them begins in UTF-8: bytes are searched ten times as fast as characters."""

_BACKTICKS = re.compile("`{3,}")


def label(attachment: Attachment) -> str:
    """Return how a picture or sound is named in what a model reads: "image 1: image/png 640x480"."""
    size = picture_size(attachment.data) if attachment.kind == "image" else None
    shape = f"{size[0]}x{size[1]}" if size else in_bytes(attachment.size)
    return f"{word(attachment.name, 300)}: {word(attachment.mime, 80)} {shape}"


def as_sent(text: str, attachments: Sequence[Attachment], reasons: Sequence[str]) -> str:
    """Return the text of an observation, honest about what goes with the request.

    Args:
        text: of the observation.
        attachments: of the observation.
        reasons: for each of them why it is not sent ("not shown to you"), or "" if it is.
    """
    for attachment, why in zip(attachments, reasons, strict=True):
        if why:
            name = label(attachment)
            text = text.replace(f"[{name}, {ATTACHED}]", f"[{name}, {why}]", 1)
    return text


def visible(text: str) -> str:
    """Return `text` without what a person would not see but a model would read, and as it can be encoded.

    Tag characters and rare variation selectors, which can hide a text, are taken out; lone surrogates
    become question marks.
    """
    if text.isascii():
        return text
    try:
        encoded = text.encode()
    except UnicodeEncodeError:
        encoded = text.encode("utf-8", "replace")
        text = encoded.decode()
    return _HIDDEN.sub("", text) if _HIDDEN_START in encoded else text


def fenced(text: str) -> str:
    """Return `text` between fences that nothing in it can close."""
    longest = max((len(found.group()) for found in _BACKTICKS.finditer(text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}\n{text}\n{fence}"


def word(text: str, limit: int) -> str:
    """Return a server's word for a place where a bracket or a line break would end what it stands in."""
    return clean_line(text, limit).replace("[", "(").replace("]", ")")
