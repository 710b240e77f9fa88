"""Masks: one byte per entry, 1 for yes. Pure.

A mask of a column of bytes is made by `bytes.translate`, without a step of the interpreter per entry, and
masks are combined as integers: 1 ms for a million entries.
"""

from collections.abc import Collection, Iterable, Sequence

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


def in_limits(numbers: Sequence[int], limits: Iterable[tuple[int, int | None]]) -> bytes:
    """Return which numbers are from `low` to `high` of one of the limits; None for no limit."""
    mask = bytes(len(numbers))
    for low, high in limits:
        found = map(low.__le__, numbers) if high is None else [low <= number <= high for number in numbers]
        mask = either(mask, bytes(found))
    return mask


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
