"""The text of a file that the user wrote. Pure."""

import codecs

_MARKS = (
    (codecs.BOM_UTF32_LE, "UTF-32"),
    (codecs.BOM_UTF32_BE, "UTF-32"),
    (codecs.BOM_UTF16_LE, "UTF-16"),
    (codecs.BOM_UTF16_BE, "UTF-16"),
)
_SAMPLE = 256


class NotText(ValueError):
    """The content of a file is not UTF-8 text. The message says what it is instead, without the file name."""


def encoding_of(raw: bytes) -> str:
    """Return "UTF-16" or "UTF-32" if that is the encoding of a text, otherwise ""."""
    for mark, name in _MARKS:
        if raw.startswith(mark):
            return name
    sample = raw[:_SAMPLE]
    zeros = [sum(byte == 0 for byte in sample[first::2]) * 2 for first in (0, 1)]
    # Without a mark, every second byte of a text in a European language is null.
    if len(sample) > 3 and min(zeros) == 0 and max(zeros) > len(sample) * 0.8:
        return "UTF-16"
    return "UTF-32" if len(sample) > 3 and sample.count(0) > len(sample) * 0.7 else ""


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
