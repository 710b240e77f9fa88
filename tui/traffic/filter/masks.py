"""Comparing many numbers at once, in plain Python: masks of one byte per entry, 1 for yes. Pure.

A mask is made without a step of the interpreter per entry: `bytes.translate` works on single bytes, larger
numbers are compared byte by byte like digits, and masks are combined as integers. Measured on 2.5 GHz, a
million entries: a byte column 1 ms, equal to a 32-bit number 7 ms, greater than one 13 ms (8 ms where all
are below 65,536); `bytes(map(limit.__lt__, column))` takes 47 ms.
"""

import sys
from collections.abc import Collection, Iterable

_LITTLE = sys.byteorder == "little"
_INVERT = bytes((1, *([0] * 255)))


def none(count: int) -> bytes:
    """Return a mask with 0 for each entry."""
    return bytes(count)


def every(count: int) -> bytes:
    """Return a mask with 1 for each entry."""
    return b"\x01" * count


def both(one: bytes, other: bytes) -> bytes:
    """Return a mask with 1 where both masks have 1."""
    joined = int.from_bytes(one, "little") & int.from_bytes(other, "little")
    return joined.to_bytes(len(one), "little")


def either(one: bytes, other: bytes) -> bytes:
    """Return a mask with 1 where at least one mask has 1."""
    joined = int.from_bytes(one, "little") | int.from_bytes(other, "little")
    return joined.to_bytes(len(one), "little")


def inverted(mask: bytes) -> bytes:
    """Return a mask with 1 where `mask` has 0."""
    return mask.translate(_INVERT)


def table(numbers: Collection[int]) -> bytes:
    """Return the table for `bytes.translate` that maps these numbers to 1."""
    return bytes(number in numbers for number in range(256))


def _digits(raw: bytes, width: int) -> list[bytes]:
    digits = [raw[place::width] for place in range(width)]
    return digits if _LITTLE else digits[::-1]


def low_bytes(raw: bytes, width: int) -> bytes:
    """Return the lowest byte of each number."""
    return raw[0::width] if _LITTLE else raw[width - 1 :: width]


def equal(raw: bytes, width: int, number: int) -> bytes:
    """Return which numbers equal `number`; `raw` has the bytes of an array with items of `width` bytes."""
    count = len(raw) // width
    if not 0 <= number < 1 << 8 * width:
        return none(count)
    joined = int.from_bytes(every(count), "little")
    for place, digits in enumerate(_digits(raw, width)):
        wanted = number >> 8 * place & 0xFF
        joined &= int.from_bytes(digits.translate(_same(wanted)), "little")
    return joined.to_bytes(count, "little")


def at_least(raw: bytes, width: int, number: int) -> bytes:
    """Return which numbers of a non-negative array are at least `number`; `raw` and `width` as in `equal`."""
    count = len(raw) // width
    if number <= 0:
        return every(count)
    if number >= 1 << 8 * width:
        return none(count)
    joined, zeros = int.from_bytes(every(count), "little"), bytes(count)
    for place, digits in enumerate(_digits(raw, width)):
        # From the lowest digit up: greater in this digit, or equal in it and at least as great below.
        wanted = number >> 8 * place & 0xFF
        if digits == zeros:  # the high digits of most sizes
            joined = 0 if wanted else joined
            continue
        more = int.from_bytes(digits.translate(_above(wanted)), "little")
        same = int.from_bytes(digits.translate(_same(wanted)), "little")
        joined = more | (same & joined)
    return joined.to_bytes(count, "little")


def between(raw: bytes, width: int, low: int, high: int | None) -> bytes:
    """Return which numbers are from `low` to `high`, both included; None for no limit."""
    mask = at_least(raw, width, low)
    return mask if high is None else both(mask, inverted(at_least(raw, width, high + 1)))


def placed(count: int, places: Iterable[int]) -> bytes:
    """Return a mask with 1 at these positions; those outside of 0 to `count` are ignored."""
    mask = bytearray(count)
    for place in places:
        if 0 <= place < count:
            mask[place] = 1
    return bytes(mask)


def stretch(count: int, start: int, stop: int) -> bytes:
    """Return a mask with 1 from `start` to before `stop`, clipped to `count`."""
    start, stop = max(0, min(count, start)), max(0, min(count, stop))
    return bytes(start) + b"\x01" * max(0, stop - start) + bytes(count - max(start, stop))


def _above(number: int) -> bytes:
    return bytes(number + 1) + b"\x01" * (255 - number)


def _same(number: int) -> bytes:
    return bytes(number) + b"\x01" + bytes(255 - number)
