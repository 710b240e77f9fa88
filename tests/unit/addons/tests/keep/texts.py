"""Texts with the placeholders of what varies in them."""

from tui.addons.tests.keep.variation import parts_that_vary
from tui.core.comparison.placeholders import Part, Placeholder, written


def template(text: str, *others: str, given: str = "", escape: bool = False) -> str:
    """Return a text with a placeholder for each part that varies."""
    parts: list[Part] = []
    place = 0
    for one in parts_that_vary(text, others, lambda part: part == given):
        parts += [text[place : one.start], Placeholder(one.kind)]
        place = one.end
    parts.append(text[place:])
    plain = "".join(part if type(part) is str else f"<{part}>" for part in parts)
    return written(parts) if escape else plain
