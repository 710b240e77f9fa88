"""An app view as a still page: its text and styles, without anything that runs, loads or leads elsewhere.

Two walls: what is not on the list of elements is removed, and the policy of the page forbids the rest. A
policy alone is not enough, because browsers resolve names for links and hints that it does not cover.
"""

import asyncio
import secrets
from collections.abc import Awaitable, Callable
from html import escape
from html.parser import HTMLParser

from tui.core.text import clean_line
from tui.host.sign_in.loopback import HOST, NOTHING, Loopback, Reply, text_reply

POLICY = f"{NOTHING}; base-uri 'none'; form-action 'none'; style-src 'unsafe-inline'; sandbox"
SERVED_SECONDS = 120.0
"""How long the browser may take to get the page."""

MAX_HTML = 4 << 20

_KEPT = frozenset(
    "a abbr address article aside b blockquote body br button caption center cite code col colgroup dd del"
    " details dfn div dl dt em fieldset figcaption figure footer h1 h2 h3 h4 h5 h6 header hr i ins kbd label"
    " legend li main mark menu nav ol option p pre q s samp section select small span strong sub summary sup"
    " table tbody td textarea tfoot th thead time tr u ul var".split()
)
"""Elements whose tags are kept, with their class, id and the attributes of `_ATTRIBUTES` only."""

_ATTRIBUTES = frozenset({"class", "id", "title", "colspan", "rowspan", "dir", "lang", "open"})
_DROPPED = frozenset({"script", "noscript", "template", "iframe", "object", "svg", "math", "head", "title"})
"""Elements that are removed with all that is in them; styles of the head are kept."""

_EMPTY = frozenset({"br", "hr", "col"})


class _StillPage(HTMLParser):
    """Collects the kept part of a document in `body`, and its style sheets in `styles`."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.body: list[str] = []
        self.styles: list[str] = []
        self.has_text = False
        self._in_style = False
        self._dropped: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._in_style = tag == "style"
        if tag == "body":
            self._dropped.clear()  # a head that was not closed
        elif tag in _DROPPED:
            self._dropped.append(tag)
        elif tag in _KEPT and not self._dropped:
            kept = [f' {name}="{escape(value or "")}"' for name, value in attrs if name in _ATTRIBUTES]
            self.body.append(f"<{tag}{''.join(kept)}>")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in _DROPPED and tag != "style":
            self.handle_starttag(tag, attrs)

    def handle_endtag(self, tag: str) -> None:
        self._in_style = False
        if tag in self._dropped:
            del self._dropped[self._dropped.index(tag) :]
        elif tag in _KEPT - _EMPTY - {"body"} and not self._dropped:
            self.body.append(f"</{tag}>")

    def handle_data(self, data: str) -> None:
        if self._in_style:
            self.styles.append(data.replace("<", ""))
        elif not self._dropped:
            self.body.append(escape(data))
            self.has_text = self.has_text or bool(data.strip())


def still_page(html: str, uri: str) -> bytes:
    """Return the page of an app view, with a line that says what it is."""
    parser = _StillPage()
    parser.feed(html[:MAX_HTML])
    parser.close()
    removed = "Scripts, links, forms and images are removed."
    if not parser.has_text:
        removed = "This view has no text of its own: its scripts would write it, and they do not run here."
    return (
        "<!doctype html><html><meta charset=utf-8><title>mcptui: app view</title>"
        f"<style>{''.join(parser.styles)}</style>"
        f"<p style='all: revert; font: 13px sans-serif; border-bottom: 1px solid'>mcptui: "
        f"{escape(clean_line(uri, 400))}, shown as text. {removed}</p>"
        f"<div>{''.join(parser.body)}</div></html>"
    ).encode("utf-8", "replace")


async def serve_once(
    page: bytes, open_address: Callable[[str], Awaitable[bool]], seconds: float = SERVED_SECONDS
) -> bool:
    """Serve a page to the first request for a random path, then close; return whether a browser was opened.

    Cancelling it closes the port too.
    """
    path, served = f"/{secrets.token_urlsafe(24)}", asyncio.Event()

    def answer(target: str) -> Reply:
        if served.is_set() or not secrets.compare_digest(target.encode(), path.encode()):
            return text_reply(404, "Not found.")
        served.set()
        loopback.refuse()
        return Reply(200, page, POLICY)

    loopback = Loopback(answer)
    await loopback.open()
    try:
        if not await open_address(f"http://{HOST}:{loopback.port}{path}"):
            return False
        try:
            async with asyncio.timeout(seconds):
                await served.wait()
        except TimeoutError:
            pass
        return True
    finally:
        await loopback.close()
