"""The text of a file that the user wrote. Pure."""

from tui.core.text import encoding_of


class NotText(ValueError):
    """The content of a file is not UTF-8 text. The message says what it is instead, without the file name."""


def text_of(raw: bytes) -> str:
    """Return UTF-8 text without its byte order mark. Raises NotText."""
    if name := encoding_of(raw):
        raise NotText(f"is {name} text, not UTF-8. Save it as UTF-8")
    if b"\0" in raw:
        raise NotText(f"is not text: null byte in line {_line(raw, raw.index(0))}")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = _line(raw, error.start)
        raise NotText(f"is not UTF-8 text: byte 0x{raw[error.start]:02x} in line {line}") from error


def _line(raw: bytes, offset: int) -> int:
    return raw.count(b"\n", 0, offset) + 1
