"""Text: cleaning untrusted text before the user sees it, and comparing text without case. Pure.

Everything that a server or a model sends is hostile until cleaned: escape sequences, control characters,
bidirectional overrides and invisible characters are made visible, never interpreted. Stores keep the raw
text. It is cleaned before it reaches a screen, a log, an export or a terminal.

Two texts match when they differ only in case (full case folding, in every script) or in composition (NFC,
NFD).
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from unicodedata import category, normalize

from tui.core.language.translate import Message, altered

PREVIEW_BYTES = 16 * 1024
PREVIEW_LINES = 200

_SHAPELESS = "\U00013430-\U00013440\U00016fe4\U0001bca0-\U0001bca3\U0001d159"
"""Controls of hieroglyphs and shorthand, the Khitan filler, and the null notehead of music."""

_STYLING = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]")

# Ranges, not single code points: a class of ranges costs 6 ms per MiB, a class of points 930 ms.
_UNSAFE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f"
    "\u00ad\u061c\u115f-\u1160\u17b4-\u17b5\u180b-\u180f\u200b\u200e-\u200f\u2028-\u202e\u2060-\u206f"
    "\u3164\ufe00-\ufe0e\ufeff\uffa0\ufff0-\ufffb\ud800-\udfff\U0001d173-\U0001d17a"
    f"{_SHAPELESS}\U000e0000-\U000e0fff]+"
)

_PICTURES = (
    "\u00a9\u00ae\u203c\u2049\u2122\u2139\u2190-\u21ff\u2300-\u27bf\u2900-\u297f\u2b00-\u2bff"
    "\u3030\u303d\u3297\u3299\U0001f000-\U0001faff"
)
_JOINING = (
    "\u0620-\u065f\u066e-\u06d3\u06d5-\u06dc\u06df-\u06e8\u06ea-\u06ef\u06fa-\u06fc\u06ff"
    "\u0710-\u074a\u074d-\u07b1\u07ca-\u07f5\u0840-\u085b\u0860-\u086a\u0870-\u0887\u0889-\u088e"
    "\u0898-\u08e1\u08e3-\u08ff\u1820-\u1878\u1880-\u18aa\ua840-\ua873\ufb50-\ufbb1\ufbd3-\ufd3d"
    "\ufd50-\ufdfb\ufe70-\ufefc\U00010ac0-\U00010ae6\U00010d00-\U00010d27\U0001e900-\U0001e94b"
)
"""Letters and marks of scripts whose letters join: Arabic, Syriac, N'Ko, Mandaic, Mongolian, Adlam, …"""

_VIRAMAS = (
    "\u094d\u09cd\u0a4d\u0acd\u0b4d\u0bcd\u0c4d\u0ccd\u0d3b-\u0d3c\u0d4d\u0dca\u0e3a\u0eba\u0f84"
    "\u1039-\u103a\u1714-\u1715\u1734\u17d2\u1a60\u1b44\u1baa-\u1bab\u1bf2-\u1bf3\u2d7f\ua806\ua82c"
    "\ua8c4\ua953\ua9c0\uaaf6\uabed\U00010a3f\U00011046\U00011070\U0001107f\U000110b9"
    "\U00011133-\U00011134\U000111c0\U00011235\U000112ea\U0001134d\U000113ce-\U000113d0\U00011442"
    "\U000114c2\U000115bf\U0001163f\U000116b6\U0001172b\U00011839\U0001193d-\U0001193e\U000119e0"
    "\U00011a34\U00011a47\U00011a99\U00011c3f\U00011d44-\U00011d45\U00011d97\U00011f41-\U00011f42\U0001612f"
)
"""Signs that join two consonants of an Indic script (combining class 9); a joiner chooses the form.

Those of Unicode 18, whichever version Python has.
"""

_INDIC = "\u0900-\u0963\u0971-\u0dff"
_JOINERS = (
    "[\u200c\u200d]"
    f"(?<![{_PICTURES}\ufe0f]\u200d(?=[{_PICTURES}]))"  # an emoji made of two
    f"(?<![{_JOINING}][\u200c\u200d](?=[{_JOINING}]))"
    f"(?<![{_JOINING}]\u200d(?![\u200c\u200d]))"  # a single letter in the form that it has within a word
    f"(?<![^\u200c\u200d]\u200d(?=[{_JOINING}]))(?<!^\u200d(?=[{_JOINING}]))"
    f"(?<![{_VIRAMAS}][\u200c\u200d](?![\u200c\u200d]))"
    f"(?<![{_INDIC}][\u200c\u200d](?=[{_VIRAMAS}]))"
)
"""A joiner between characters that do not need it, so that it is invisible. This pattern and those below are
for rare texts; `re` compiles them with the first such text, not before the first frame."""

_SELECTORS = f"(?<![{_PICTURES}0-9#*])\ufe0f"
"""The selector of the colored form of an emoji, without an emoji before it."""

_GRAPHEME_JOINERS = "(?<![\u0591-\u05c7])\u034f"
"""A grapheme joiner outside of Hebrew, which needs it between the marks of a letter."""

UNSEEN = (
    "[\x00-\x08\x0b\x0e-\x1f\x7f-\x9f"
    "\u00ad\u034f\u061c\u115f-\u1160\u17b4-\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f"
    "\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\ud800-\udfff\U0001d173-\U0001d17a"
    f"{_SHAPELESS}\U000e0000-\U000e0fff]"
)
"""Characters that are sent to a model only where a script needs them. CR and form feed are always sent."""

_NEVER = (
    "[\u00ad\u17b4-\u17b5\u200b\u202d-\u202e\u2060-\u2065\u206a-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb"
    f"{_SHAPELESS}\U0001d173-\U0001d17a\U000e0000-\U000e0fff\u034f\u115f-\u1160\u180b-\u180f\ufe00-\ufe0f]"
)
_HAN = "\u3001-\u303f\u3400-\u9fff\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff"
_WITHOUT_BLANKS = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"
FLAG = (
    "(?<=\U0001f3f4)\U000e0067\U000e0062"
    "(?:\U000e0065\U000e006e\U000e0067|\U000e0073\U000e0063\U000e0074|\U000e0077\U000e006c\U000e0073)"
    "\U000e007f"
)
"""Matches the flag of England, Scotland or Wales, after the black flag that is displayed for it."""

_UNNEEDED = (
    f"({FLAG})|{_NEVER}"
    f"(?<![{_PICTURES}]\ufe0e)(?<![{_PICTURES}0-9#*]\ufe0f)"
    f"(?<![{_HAN}][\ufe00-\ufe02\U000e0100-\U000e010f])"
    f"(?<![{_WITHOUT_BLANKS}]\u200b(?=[{_WITHOUT_BLANKS}]))"
    "(?<![\u1820-\u1878\u1880-\u18aa][\u180b-\u180f])"
    "(?<!\u115f(?=[\u1160-\u11a7]))(?<![\u1100-\u115f]\u1160)"
    "(?<![\u0591-\u05c7]\u034f)"
    "(?<![\U00013000-\U0001342f][\U00013430-\U00013440])"
    "(?<![\U0001bc00-\U0001bc9f][\U0001bca0-\U0001bca3])(?<![\U00018b00-\U00018cff]\U00016fe4)"
)
"""Invisible characters that are not needed. Needed are the flags of England, Scotland and Wales (as a group),
the forms of emoji, Han and Mongolian letters, blanks between words of Thai, fillers of old Korean, and the
controls of hieroglyphs, shorthand and Khitan after a sign of theirs."""

RIGHT_TO_LEFT = "[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff\U0001e800-\U0001efff]"
_DIRECTION = "[\u061c\u200e-\u200f\u202a-\u202c\u2066-\u2069]"

_ASCII_TABLE = {code: 0x2400 + code for code in range(0x20) if code not in (0x09, 0x0A)} | {0x7F: 0x2421}


def _visible(match: re.Match[str]) -> str:
    """Return a run of characters made visible; the time depends on the kinds of characters in it."""
    run = match.group()
    return _sign(run) if len(run) == 1 else run.translate({ord(char): _sign(char) for char in set(run)})


def _sign(char: str) -> str:
    code = ord(char)
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "\u2421"
    if char in "\x85\u2028\u2029":
        return "\n"
    return "\ufffd"


def clean(text: str) -> str:
    """Return `text` with everything that could fool a terminal or a reader made visible.

    C0 controls and DEL become their Unicode pictures (ESC is shown as ␛), C1 controls, bidirectional
    overrides, invisible characters, tag characters and lone surrogates become U+FFFD, line separators become
    newlines and CR LF becomes LF. Newline and tab stay. Joiners stay where their script needs them: within an
    emoji, between letters that join (Arabic), at the sign that joins two consonants (Indic). The result is
    safe to encode as UTF-8.
    """
    if "\r" in text:
        text = text.replace("\r\n", "\n")
    if text.isascii():
        return text if text.isprintable() else text.translate(_ASCII_TABLE)
    text = _UNSAFE.sub(_visible, text)
    if "\ufe0f" in text:
        text = re.sub(_SELECTORS, "\ufffd", text)
    if "\u034f" in text:
        text = re.sub(_GRAPHEME_JOINERS, "\ufffd", text)
    if "\u200c" in text or "\u200d" in text:
        text = re.sub(_JOINERS, "\ufffd", text)
    return text


_MODEL_TABLE = (
    {code: picture for code, picture in _ASCII_TABLE.items() if code not in (0x0C, 0x0D)}
    | dict.fromkeys(range(0x80, 0xA0), 0xFFFD)
    | dict.fromkeys((0x85, 0x2028, 0x2029), 0x0A)
)


_SLICE = 64 * 1024


def without_styling(text: str) -> str:
    """Return text without colors and other control sequences (ECMA-48 CSI), which a log does not need."""
    return _STYLING.sub("", text)


def visible(text: str) -> str:
    """Return `text` for a model, without what a user would not see but a model would read.

    Invisible characters that no script needs are removed: tag characters, zero-width spaces, variation
    selectors, joiners, overrides of the direction. Control characters become their pictures (ESC is ␛) or
    U+FFFD; tabs, line ends and form feeds stay. Lone surrogates become question marks. Letters of all scripts
    stay with the joiners, selectors and marks of direction that belong to them.
    """
    if not re.search(UNSEEN, text):
        return text
    # In slices, and with a function for each match: other threads run meanwhile.
    slices = range(0, len(text), _SLICE)
    text = "".join(text[start : start + _SLICE].translate(_MODEL_TABLE) for start in slices)
    if text.isascii():
        return text
    text = text.encode("utf-8", "replace").decode()
    text = re.sub(_UNNEEDED, r"\1", text)
    text = re.sub(_JOINERS, _nothing, text)
    least = "{3,}" if re.search(RIGHT_TO_LEFT, text) else "+"
    return re.sub(_DIRECTION + least, _nothing, text)


def _nothing(match: re.Match[str]) -> str:
    return ""


class Cleaner:
    """Cleans a text that arrives in pieces; the result is the same as that of `clean`.

    A joiner depends on its neighbors, and a CR on the LF after it, so a possible part of such a sequence
    waits for the next piece.
    """

    def __init__(self) -> None:
        self._before = ""  # the last two characters that were returned, raw
        self._held = ""

    def feed(self, text: str) -> str:
        """Return the part that is final so far."""
        text = self._held + text
        sure = text.rstrip("\r\u200c\u200d")
        self._held = text[len(sure) :]
        return self._cleaned(sure)

    def end(self) -> str:
        """Return the rest; the next piece starts another text."""
        rest = self._cleaned(self._held)
        self._held = self._before = ""
        return rest

    def _cleaned(self, text: str) -> str:
        if not text:
            return ""
        result = clean(self._before + text)[len(clean(self._before)) :]
        self._before = (self._before + text)[-2:]
        return result


def _joins(text: str, index: int) -> bool:
    """Return whether a character belongs to the one before it, apart from the second letter of a flag."""
    char = text[index]
    if char < "\u0300":
        return False
    if text[index - 1] == "\u200d":  # two emoji become one
        return index > 1 and text[index - 2] > "\u0300"
    return (
        "\U0001f3fb" <= char <= "\U0001f3ff"  # skin tones
        or "\u1160" <= char <= "\u11ff"  # vowels and ends of Korean syllables
        or "\U000e0020" <= char <= "\U000e007f"  # the letters of flags such as Scotland's
        or char == "\u200d"
        or category(char) in ("Mn", "Me", "Mc")
    )


def _is_flag_letter(char: str) -> bool:
    return "\U0001f1e6" <= char <= "\U0001f1ff"


MOST_JOINED = 64
"""Maximum code points of a character. No script needs half as many. A hostile text may join all that it has,
and would vanish whole where it is cut."""


def _grapheme_end(text: str, start: int) -> int:
    end, size = start + 1, min(len(text), start + MOST_JOINED)
    if end < size and _is_flag_letter(text[start]) and _is_flag_letter(text[end]):
        end += 1
    while end < size and _joins(text, end):
        end += 1
    return end


_SINGLE = (
    "[\x00-\u02ff\u0370-\u0482\u048a-\u058f\u1e00-\u1fff\u2010-\u20cf\u2100-\u2cee"
    "\u3000-\u3029\u3030-\u3098\u309b-\ua66e\uac00-\ud7a3\uff00-\uffef]*"
)
"""Text in which every code point is a character: Latin, Greek, Cyrillic, Chinese, Japanese, Korean, lines."""


def graphemes(text: str) -> Iterator[str]:
    """Yield what a reader takes for characters: an emoji of several code points is one, and so is a flag."""
    return iter(text) if re.fullmatch(_SINGLE, text) else _joined(text)


def _joined(text: str) -> Iterator[str]:
    start = 0
    while start < len(text):
        end = _grapheme_end(text, start)
        yield text[start:end]
        start = end


def grapheme_start(text: str, index: int) -> int:
    """Return `index`, or the start of the character (as `graphemes` yields it) that it is within."""
    start, least = index, max(0, index - MOST_JOINED)
    while least < start < len(text):
        if _is_flag_letter(text[start]):
            first = start
            while first and _is_flag_letter(text[first - 1]):
                first -= 1
            if (start - first) % 2 == 0:
                return start
        elif not _joins(text, start):
            return start
        start -= 1
    return index if start == least > 0 else start


def grapheme_end(text: str, index: int) -> int:
    """Return `index`, or the end of the character that it is within."""
    start = grapheme_start(text, index)
    return _grapheme_end(text, start) if start < index else index


def start_of(text: str, limit: int) -> str:
    """Return at most `limit` code points of the start of a text, without half an emoji at the end."""
    return text if len(text) <= limit else text[: grapheme_start(text, max(0, limit))]


def truncated(text: str, limit: int) -> str:
    """Return `text`, or its start and an ellipsis if it has more than `limit` code points."""
    return text if len(text) <= limit else start_of(text, limit - 1) + "…"


def cells_of(text: str) -> int:
    """Return the width of a text in cells of the terminal, as Textual measures it when it draws."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len  # takes 3 ms to load, and most commands only print ASCII

    return cell_len(text)


def head_of(text: str, cells: int) -> str:
    """Return the longest start of `text` that fits `cells`; never half a wide character or emoji."""
    if cells <= 0:
        return ""
    if text[: cells + 1].isascii():
        return text[:cells]
    from rich.cells import cell_len

    used = end = 0
    for part in graphemes(text[: cells * 32]):
        used += cell_len(part)
        if used > cells:
            break
        end += len(part)
    return text[:end]


def cropped(text: str, cells: int) -> str:
    """Return `text`, or its start and an ellipsis if it is wider than `cells`."""
    if cells_of(text) <= cells:
        return text
    return f"{head_of(text, cells - 1)}…" if cells > 0 else ""


def abridged(name: str, cells: int) -> str:
    """Return a name, or its start and end if it is wider than `cells`: names often start alike."""
    if cells_of(name) <= cells:
        return name
    head, tail = head_of(name, cells // 2), ""
    for part in reversed([*graphemes(name[-cells * 32 :])]):
        if cells_of(f"{head}…{part}{tail}") > cells:
            break
        tail = part + tail
    return f"{head}…{tail}"


def padded(text: str, cells: int, *, right: bool = False) -> str:
    """Return `text` with spaces up to `cells`: after it, or before it if it is aligned at the `right`."""
    fill = " " * (cells - cells_of(text))
    return fill + text if right else text + fill


def clean_line(text: str, limit: int = 200, cleaned: Callable[[str], str] = clean) -> str:
    """Return `text` cleaned, as one line of at most `limit` characters, with white space collapsed.

    Only the first part of a long text is read, so the cost does not grow with its size. A message stays one.
    """
    if type(text) is Message:
        return altered(text, lambda said: clean_line(said, limit, cleaned))
    start = start_of(text, limit * 4 + 64)
    line = " ".join(cleaned(start).split())
    return line + "…" if len(line) <= limit and len(start) < len(text) else truncated(line, limit)


def quoted_name(name: str, limit: int = 64) -> str:
    """Return a foreign name in quotes, so that it does not read as part of the sentence: “everything”."""
    line = clean_line(name, limit).replace("“", '"').replace("”", '"')
    return f"“{line}”"


def whole_words(text: str, limit: int) -> str:
    """Return `text`, or its first words if it has more than `limit` characters.

    For text that is searched for secrets later, because part of a secret would not be found.
    """
    return text if len(text) <= limit else text[:limit].rpartition(" ")[0] + "…"


@dataclass(frozen=True, slots=True)
class Preview:
    """The part of a text to show, cleaned; `omitted` counts the other characters."""

    text: str
    omitted: int


def preview(text: str, max_chars: int = PREVIEW_BYTES, max_lines: int = PREVIEW_LINES) -> Preview:
    """Return the beginning of `text` that a screen can show quickly, whatever its size.

    A widget fed 3 MiB in one line is busy for 12 s (measured on Textual 8.2.8).
    """
    start = start_of(text, max_chars)
    start = "\n".join(start.split("\n", max_lines)[:max_lines])
    return Preview(clean(start), len(text) - len(start))


def fold(text: str) -> str:
    """Return the form in which texts are compared: case-folded and canonically composed."""
    return text.lower() if text.isascii() else normalize("NFC", normalize("NFC", text).casefold())


def equal_start(one: Sequence[Any], other: Sequence[Any]) -> int:
    """Return how many characters, bytes or words two texts have in common before the first that differs."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (left, right) in pairs if left != right), min(len(one), len(other)))


def capitalized(text: str) -> str:
    """Return `text` as the start of a sentence. A message stays one."""
    return altered(text, lambda said: said[:1].upper() + said[1:])


def text_in(holder: Mapping[str, Any], key: str) -> str:
    """Return a member of a JSON object that should be a text, or ""."""
    value = holder.get(key)
    return value if isinstance(value, str) else ""


def list_in(holder: Mapping[str, Any], key: str) -> list[Any]:
    """Return a member that should be a list, or an empty one."""
    value = holder.get(key)
    return value if isinstance(value, list) else []


def object_in(holder: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    """Return a member that should be an object, or an empty one."""
    return mapping(holder.get(key))


def mapping(value: Any) -> Mapping[str, Any]:
    """Return a JSON object, or an empty one for anything else."""
    # First the usual type: asking an abstract class takes five times as long.
    return value if isinstance(value, dict) or isinstance(value, Mapping) else {}


VALUE_CHARS = 400
"""Maximum characters of a value in one line, unless a caller says otherwise."""

MAX_DEPTH = 12


def compact(value: Any, limit: int = VALUE_CHARS) -> str:
    """Return `value` as one line of JSON-like text of at most `limit` characters, with an ellipsis.

    Works for any value, even if it is not JSON (NaN, a deep or self-referencing structure).
    """
    text = ""
    for piece in _pieces(value, limit, 0):
        text += piece
        if len(text) > limit:
            break
    return truncated(text, limit)


def _pieces(value: Any, limit: int, depth: int) -> Iterator[str]:
    match value:
        case str():
            yield _quoted(value, limit)
        case bool() | None:
            yield {True: "true", False: "false", None: "null"}[value]
        case int():
            # Python refuses integers of thousands of digits, or takes quadratic time.
            yield str(value) if value.bit_length() < 1024 else "…"
        case float():
            yield repr(value)
        case Mapping() | list() | tuple() if depth >= MAX_DEPTH:
            yield "…"
        case Mapping():
            for index, (name, item) in enumerate(value.items()):
                yield (", " if index else "{") + _quoted(str(name), limit) + ": "
                yield from _pieces(item, limit, depth + 1)
            yield "}" if value else "{}"
        case list() | tuple():
            for index, item in enumerate(value):
                yield ", " if index else "["
                yield from _pieces(item, limit, depth + 1)
            yield "]" if value else "[]"
        case _:
            yield f"<{type(value).__name__}>"


_QUOTED = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t"})


def _quoted(text: str, limit: int) -> str:
    return f'"{clean(truncated(text, limit)).translate(_QUOTED)}"'
