"""Wide characters in front of the edge of another widget are painted.

Textual (8.2.8) divides each line of a widget at the edges of all widgets on that line, also of those behind
it, and a division in the middle of a wide character leaves two spaces. A notice in Chinese over two panes
lost the character over the line between them.
"""

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any

from textual._compositor import Compositor
from textual.geometry import Region
from textual.strip import Strip

_render: Callable[..., Any] | None = getattr(Compositor, "_render_chops", None)
_KNOWN = ("_get_renders", "cuts")

_EMPTY = Strip([], 0)


def keep_wide_characters() -> None:
    """Join the parts of a line between which a wide character is, if all of them are in front."""
    if _render is not None and all(hasattr(Compositor, name) for name in _KNOWN):
        setattr(Compositor, "_render_chops", _whole)  # noqa: B010


def _whole(
    compositor: Any, crop: Region, is_rendered_line: Callable[[int], bool]
) -> Sequence[Mapping[int, Strip]]:
    """Return the parts of each line by their column, as Textual does."""
    all_cuts: list[list[int]] = compositor.cuts
    chops: list[dict[int, Strip | None]] = [dict.fromkeys(cuts[:-1]) for cuts in all_cuts]
    for region, clip, strips in compositor._get_renders(crop):
        shown = region.intersection(clip)
        first, last = shown.column_span
        for y, strip in zip(shown.line_range, strips, strict=False):
            if not is_rendered_line(y):
                continue
            line = chops[y]
            cuts = [cut for cut in all_cuts[y] if first <= cut <= last]
            own = [cut for cut in cuts[:-1] if line[cut] is None]
            if not own:  # widgets in front of this one fill it
                continue
            if len(cuts) == 2 and strip.cell_length == last - first:
                line[first] = strip
                continue
            for cut, part in zip(cuts, strip.divide([cut - first for cut in cuts[1:]]), strict=False):
                if line.get(cut) is None and cut in line:
                    line[cut] = part
            if len(own) > 1 and not strip.text.isascii():
                _join(line, strip, own, cuts, first)
    return chops  # type: ignore[return-value]  # none is left empty


def _join(line: dict[int, Strip | None], strip: Strip, own: list[int], cuts: list[int], first: int) -> None:
    """Put the parts before and after a divided wide character into the place of the first."""
    ends = dict(pairwise(cuts))
    begin = own[0]
    for before, cut in pairwise(own):
        if ends[before] != cut or not _divides(strip, cut - first):
            begin = cut
            continue
        line[begin] = strip.crop(begin - first, ends[cut] - first)
        line[cut] = _EMPTY


def _divides(strip: Strip, column: int) -> bool:
    """Whether a column is in the middle of a wide character."""
    left, right = strip.crop(column - 1, column), strip.crop(column, column + 1)
    both = strip.crop(column - 1, column + 1).text
    return left.text + right.text != both
