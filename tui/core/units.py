"""Numbers: those of others within bounds, and as every pane writes them. Pure.

What a server or a file gives as a number may be anything: text, NaN, 1e999 or an integer of a thousand
digits. Clocks, sizes, sleeps, `float()` and SQLite raise on such values, so whatever comes from there passes
`bounded`, and a time that is shown as a date passes `local_time`.

Panes write about two significant digits, the unit after a space. Times of a second and more are messages,
which `tui.ui.widgets.times` shows in the user's language.
"""

import math
import re
import time
from collections.abc import Sequence
from typing import Any

from tui.core.language.translate import N_, _, listed, message

LARGEST = 2**53
"""The largest number from a server or a file: floats are exact up to it, and SQLite and clocks accept it."""

FIRST_MOMENT = -62_135_510_400.0
"""The beginning of year 1 in seconds since 1970, in any time zone."""

LAST_MOMENT = 253_402_128_000.0
"""The end of 9999 in seconds since 1970, in any time zone: later, `time` and `datetime` fail."""


def bounded(value: Any, most: float = LARGEST, *, least: float = 0, or_text: bool = False) -> float | None:
    """Return a number of a server or a file; a larger one counts as `most`. Whole numbers stay whole.

    None if it is no number, or smaller than `least`. With `or_text` it may be written as text: "3600".
    """
    if or_text and isinstance(value, str):
        try:
            value = float(value) if len(value) > 15 or not value.isdecimal() else int(value)
        except ValueError:
            return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not value >= least:  # also NaN
        return None
    return value if value <= most else most


def whole(value: Any, most: int = LARGEST, *, least: int = 0, or_text: bool = False) -> int | None:
    """Return `bounded` without its fraction."""
    found = bounded(value, most, least=least, or_text=or_text)
    return None if found is None else int(found)


def number_limit(value: Any) -> float | None:
    """Return a number of any sign, such as a limit in a schema or a progress; None if no float holds it."""
    found = bounded(value, math.inf, least=-1e300)
    return found if found is not None and found <= 1e300 else None


def place_in(text: str, count: int) -> int | None:
    """Return the place that a step of a JSON pointer names in a list of `count` items, None for any other."""
    known = text.isascii() and text.isdecimal() and len(text) < 16  # `int` refuses thousands of digits
    place = int(text) if known else count
    return place if place < count else None


def local_time(seconds: float, first: float = 0.0) -> time.struct_time:
    """Return the local time at a moment, in seconds since 1970; the nearest possible one for any number."""
    found = bounded(seconds, LAST_MOMENT, least=first)
    return time.localtime(first if found is None else found)


def time_of_day(wall_ns: int) -> str:
    """Return the local time of day at a moment, in nanoseconds since 1970, to the millisecond."""
    seconds, rest = divmod(wall_ns, 1_000_000_000)
    return f"{time.strftime('%H:%M:%S', local_time(seconds, FIRST_MOMENT))}.{rest // 1_000_000:03d}"


def clock_time(then: float, now: float) -> str:
    """Return `day_and_time`, without the day if it is that of `now`; "" if there is none."""
    if not then > 0:
        return ""
    return day_and_time(then)[-5:] if day(then) == day(now) else day_and_time(then)


def day_and_time(seconds: float) -> str:
    """Return a local time to the minute; "" if there is none."""
    return time.strftime("%Y-%m-%d %H:%M", local_time(seconds)) if seconds else ""


def day(seconds: float) -> str:
    """Return the local day at a moment; "" if there is none."""
    return day_and_time(seconds)[:-6]


def rfc3339(wall_ns: int) -> str:
    """Return a time for programs: RFC 3339 in UTC, to the microsecond; "" if there is none."""
    from datetime import UTC, datetime  # not needed for the first frame

    if not wall_ns or not FIRST_MOMENT <= wall_ns / 1e9 <= LAST_MOMENT:
        return ""
    # Rounded as exports of version 1 are, which are compared by their bytes.
    return datetime.fromtimestamp(wall_ns / 1e9, UTC).isoformat(timespec="microseconds")


def file_stamp() -> str:
    """Return the current time in UTC for the name of a file, so that names sort by time."""
    return time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())


def local_rfc3339(seconds: float) -> str:
    """Return a time for programs that list what a person did: RFC 3339 in local time, to the second."""
    if not FIRST_MOMENT <= seconds <= LAST_MOMENT or not seconds:
        return ""
    written = time.strftime("%Y-%m-%dT%H:%M:%S%z", time.localtime(seconds))
    return f"{written[:-2]}:{written[-2:]}"


def _writable(number: float) -> float:
    """Return a number that can be written with a fraction: integers of hundreds of digits cannot."""
    return bounded(number, 1e300, least=-1e300) or 0


_THOUSANDS = ((1_000_000_000, "G"), (1_000_000, "M"), (1_000, "k"))


def duration(ms: float) -> str:
    """Return milliseconds as text: "4 ms", "0.6 s", "12 s", "1 m 04 s"; negative ones count as 0."""
    ms = bounded(ms) or 0
    if ms < 99.5:
        return f"{max(0, ms):.0f} ms"
    seconds = ms / 1000
    return message("{n} s", n=f"{seconds:.1f}") if seconds < 9.95 else clock(seconds)


def span(ns: int) -> str:
    """Return a measured time, at most 8 characters: "0.3 ms", "412 ms", "3.1 s", "1 m 04 s", "17 m"."""
    ms = max(0, ns) / 1_000_000
    if ms < 0.05:
        return f"{max(0, ns) / 1000:.0f} µs"
    if ms < 9.95:
        return f"{ms:.1f} ms"
    if ms < 999.5:
        return f"{ms:.0f} ms"
    return duration(ms) if ms < 9950 else clock((bounded(ms) or 0) / 1000, brief=True)


def age(seconds: float) -> str:
    """Return an age by the minute: "<1 m", "12 m", "2 h 05 m", "3 d 04 h"."""
    if seconds < 60:
        return message("<1 m")
    return message("{n} m", n=int(seconds // 60)) if seconds < 3600 else clock(seconds)


_CLOCK = (
    (86_400, 3_600, N_("{n} d {rest} h"), N_("{n} d")),
    (3_600, 60, N_("{n} h {rest} m"), N_("{n} h")),
    (60, 1, N_("{n} m {rest} s"), N_("{n} m")),
)


def clock(seconds: float, *, brief: bool = False) -> str:
    """Return seconds as a running time: "7 s", "1 m 04 s", "2 h 05 m", "3 d 04 h"; at least 0.

    A `brief` one has no second part if the first has two digits: "17 m".
    """
    known = whole(seconds) or 0
    for unit, part, both, first in _CLOCK:
        if known >= unit:
            n, rest = divmod(known, unit)
            words = first if brief and n > 9 else both
            return message(words, n=n, rest=f"{rest // part:02d}")
    return message("{n} s", n=known)


def wait_words(seconds: float) -> str:
    """Return how long a server asks to wait: "0.4 s", "7.5 s", "1 h 00 m"."""
    return message("{n} s", n=f"{max(seconds, 0.01):.3g}") if seconds < 60 else clock(math.ceil(seconds))


def count(number: float) -> str:
    """Return a count: "214", "1.2 k", "12 k", "3.4 M"."""
    number = _writable(number)
    for size, letter in _THOUSANDS:
        if number >= size * 0.9995:
            scaled = number / size
            return f"{scaled:.1f} {letter}" if scaled < 9.95 else f"{scaled:.0f} {letter}"
    return f"{number:.0f}"


def counted(number: float, word: str) -> str:
    """Return a count that may be large with its word: "1 call", "12 k calls"."""
    return f"{count(number)} {noun(number, word)}"


def amount(value: float) -> str:
    """Return a server's number: "12", "0.25", "1e+09" if it is too long."""
    return f"{_writable(value):.6g}"


def progress(done: float | None, total: float | None, message: str, joint: str = " ") -> str:
    """Return progress: "12 of 30 halfway there"; numbers that the message has are not repeated.

    `joint` is between the numbers and the message, which is cleaned.
    """
    numbers = [amount(number) for number in (done, total) if number is not None]
    said = re.findall(r"\d+(?:\.\d+)?", message)
    if done is None or set(numbers) <= set(said):
        return message
    words = _("{n} of {all}", n=numbers[0], all=numbers[1]) if len(numbers) > 1 else numbers[0]
    return f"{words}{joint}{message}" if message else words


def share(done: float | None, total: float | None) -> float | None:
    """Return progress as a share of 0 to 1, or None if there is no total to compare with."""
    if done is None or total is None or not total > 0:
        return None
    done, total = _writable(done), _writable(total)
    return max(0.0, min(1.0, done / total))


def size(octets: float) -> str:
    """Return a size in bytes: "132 B", "48 kB", "3.4 MB"."""
    return f"{count(octets)}B" if octets >= 999.5 else f"{_writable(octets):.0f} B"


def octets(text: str) -> int:
    """Return the size of `text` in UTF-8."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "replace"))


_SIGNS = {"USD": "$", "EUR": "€", "GBP": "£"}


def money(value: float, currency: str = "USD") -> str:
    """Return a price: "$1.20", "$0.0034", "12.50 CNY"; below a hundredth with two significant digits."""
    value = _writable(value)
    digits = f"{value:.2f}" if value >= 0.095 or value <= 0 else f"{float(f'{value:.2g}'):.6f}".rstrip("0")
    digits = digits if len(digits.partition(".")[2]) >= 2 else f"{value:.2f}"
    return f"{_SIGNS[currency]}{digits}" if currency in _SIGNS else f"{digits} {currency}"


def plural(number: int, word: str) -> str:
    """Return "1 tool", "2 tools"."""
    return f"{number} {noun(number, word)}"


def noun(number: float, word: str) -> str:
    """Return a word as it follows a number: "entry" or "entries"."""
    if number == 1:
        return word
    return f"{word[:-1]}ies" if word.endswith("y") and word[-2:-1] not in "aeiou" else f"{word}s"


def and_more(names: Sequence[str], most: int) -> str:
    """Return the first `most` names, and how many others there are: "a, b and 3 more"."""
    shown = listed(names[:most])
    if len(names) <= most:
        return shown
    return message("{names} and {n} more", names=shown, n=len(names) - most)


def exact(number: int) -> str:
    """Return a count with all its digits, in groups of three: "1 204"."""
    return f"{number:,}".replace(",", " ")
