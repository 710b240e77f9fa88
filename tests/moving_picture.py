"""Joins screenshots into one animated SVG. Rows that stay the same are drawn once."""

import re
from collections.abc import Sequence
from xml.etree import ElementTree
from xml.sax.saxutils import escape

_SVG = "http://www.w3.org/2000/svg"
_PITCH = 24.4
"""Height of a row in SVG units."""
_ABOVE = -1
"""The row of the caption."""

Shot = tuple[str, float, str]
"""A screenshot as SVG, how many seconds it is shown, and what it shows, in a few words."""


def join(shots: Sequence[Shot]) -> str:
    """Return the animation, with captions in the title of its window.

    For readers who prefer reduced motion, it shows the last screenshot.
    """
    total = sum(seconds for _, seconds, _ in shots)
    classes: dict[str, str] = {}
    shown: dict[tuple[int, str], list[tuple[float, float]]] = {}
    start = 0.0
    for svg, seconds, caption in shots:
        for number, content in {**_rows(svg, classes), _ABOVE: _caption(caption)}.items():
            spans = shown.setdefault((number, content), [])
            if spans and spans[-1][1] == start:
                spans[-1] = (spans[-1][0], start + seconds)
            else:
                spans.append((start, start + seconds))
        start += seconds
    names: dict[tuple[tuple[float, float], ...], str] = {}
    groups = []
    for (_, content), spans in sorted(shown.items(), key=lambda item: item[0][0]):
        name = names.setdefault(tuple(spans), f"t{len(names)}")
        groups.append(f'<g class="{name}">{content}</g>')
    timing = [_timing(name, spans, total) for spans, name in names.items()]
    head, tail = _frame(shots[-1][0])
    style = "\n".join([*(f".{name}{{{css}}}" for css, name in classes.items()), *timing])
    return f"{head}<style>{_base(shots[-1][0])}\n{style}</style>\n" + "\n".join(groups) + tail


def _caption(text: str) -> str:
    """Return the SVG of a caption, which takes the place of the title."""
    return f'<text class="c" x="50%" y="-13" text-anchor="middle">{escape(text)}</text>' if text else ""


def _timing(name: str, spans: Sequence[tuple[float, float]], total: float) -> str:
    """Return the CSS that shows a group during `spans`, in seconds."""
    if spans == ((0.0, total),):
        return ""
    last = spans[-1][1] == total
    steps = [] if spans[0][0] == 0 else ["0%{visibility:hidden}"]
    for start, end in spans:
        steps.append(f"{100 * start / total:.3f}%{{visibility:visible}}")
        if end < total:
            steps.append(f"{100 * end / total:.3f}%{{visibility:hidden}}")
    still = "visible" if last else "hidden"
    moving = f".{name}{{animation:{name} {total:g}s step-end infinite}}"
    return (
        f".{name}{{visibility:{still}}}@keyframes {name}{{{''.join(steps)}}}"
        f"@media(prefers-reduced-motion:no-preference){{{moving}}}"
    )


def _rows(svg: str, classes: dict[str, str]) -> dict[int, str]:
    """Return the SVG of each row. Equal styles get the same class in all screenshots."""
    styles = dict(re.findall(r"\.(terminal-\d+-r\d+) \{ ([^}]*?) \}", svg))
    rows: dict[int, list[str]] = {}
    body = ElementTree.fromstring(svg).findall(f"{{{_SVG}}}g")[-1]
    for element in body.iter():
        kind = element.tag.removeprefix(f"{{{_SVG}}}")
        y = float(element.get("y", "0"))
        if kind == "rect" and float(element.get("width", "0")):
            place = f'x="{element.get("x")}" y="{y:g}" width="{element.get("width")}" height="24.65"'
            drawn = f'<rect fill="{element.get("fill")}" {place} shape-rendering="crispEdges"/>'
            rows.setdefault(round((y - 1.5) / _PITCH), []).append(drawn)
        elif kind == "text" and (element.text or "").strip("\xa0 \n"):
            css = styles.get(element.get("class", ""), "")
            name = classes.setdefault(css, f"s{len(classes)}")
            text = (element.text or "").rstrip("\n")
            text = text.replace("&", "&amp;").replace("<", "&lt;").replace(" ", "\xa0")
            place = f'x="{element.get("x")}" y="{y:g}" textLength="{element.get("textLength")}"'
            rows.setdefault(round((y - 20) / _PITCH), []).append(
                f'<text class="m {name}" {place}>{text}</text>'
            )
    return {number: "".join(drawn) for number, drawn in rows.items()}


def _base(svg: str) -> str:
    found = re.search(r"\.terminal-\d+-matrix \{(.*?)\}", svg, re.DOTALL)
    assert found is not None
    caption = ".c{font:bold 24px ui-sans-serif,system-ui,Helvetica,Arial,sans-serif;fill:#f2b45a}"
    return f".m{{{' '.join(found[1].split())}}}{caption}"


def _frame(svg: str) -> tuple[str, str]:
    """Return the SVG before the rows, including the window, and the SVG after them."""
    opening = re.search(r"<svg [^>]*>", svg)
    window = re.search(r'<rect fill="#292929".*?(?=<g transform="translate\(9)', svg, re.DOTALL)
    assert opening is not None and window is not None
    title = re.sub(r'<text class="[^"]*-title".*?</text>', "", window[0], flags=re.DOTALL)
    return f'{opening[0]}{title}<g transform="translate(9, 41)">', "</g></svg>\n"
