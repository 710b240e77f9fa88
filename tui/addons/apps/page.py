"""An app view as a still page: its text and structure, without anything that runs, loads or leads elsewhere.

Two walls: only names of known elements are kept, without their attributes, and the policy of the page forbids
the rest. A policy alone is not enough, because browsers resolve names for links and hints that it does not
cover. Styles would cover mcptui's own line, which says where the page comes from.
"""

import asyncio
import re
import secrets
from collections.abc import Awaitable, Callable
from html import escape

from tui.core.text import clean_line
from tui.host.sign_in.loopback import HOST, NOTHING, Loopback, Reply, text_reply

POLICY = f"{NOTHING}; base-uri 'none'; form-action 'none'; sandbox"
SERVED_SECONDS = 120.0
"""How long the browser may take to get the page."""

MAX_HTML = 4 << 20

_KEPT = frozenset(
    "abbr address article aside b blockquote br caption center cite code col colgroup dd del details dfn div"
    " dl dt em figcaption figure footer h1 h2 h3 h4 h5 h6 header hr i ins kbd li main mark menu nav ol p pre"
    " q s samp section small span strong sub summary sup table tbody td tfoot th thead time tr u"
    " ul var".split()
)
_TOKEN = re.compile(
    r"<!--.*?(?:-->|\Z)"
    r"|<(?P<dropped>script|style|noscript|template|iframe|object|svg|math|title)\b"
    r".*?(?:</(?P=dropped)\b[^>]*+(?:>|\Z)|\Z)"
    r"|<(?P<end>/?)(?P<tag>[a-z][^\s/>]*+)"
    r"(?:[^>\"']++|\"[^\"]*+(?:\"|\Z)|'[^']*+(?:'|\Z)){0,2000}[^>]*+(?:>|\Z)"
    r"|<[!?/][^>]*+(?:>|\Z)"
    r"|(?P<text><|[^<]++)",
    re.IGNORECASE | re.DOTALL,
)
"""A comment, an element that is dropped with all that is in it, a tag, a declaration, or text.

Each ends at the end of the document if nothing else ends it, so that no part is read twice: the parser of the
standard library takes minutes for what a hostile server can send.
"""


def still_page(html: str, uri: str) -> bytes:
    """Return the page of an app view, with a line that says what it is."""
    body, has_text = list[str](), False
    for token in _TOKEN.finditer(html[:MAX_HTML]):
        if text := token["text"]:
            body.append(text.replace("<", "&lt;").replace(">", "&gt;"))
            has_text = has_text or bool(text.strip())
        elif (tag := (token["tag"] or "").lower()) in _KEPT:
            body.append(f"<{token['end']}{tag}>")
    removed = "Scripts, styles, links, forms and images are removed."
    if not has_text:
        removed = "This view has no text of its own: its scripts would write it, and they do not run here."
    return (
        "<!doctype html><html><meta charset=utf-8><title>mcptui: app view</title>"
        f"<p><small>mcptui: {escape(clean_line(uri, 400))}, shown as text. {removed}</small></p><hr>"
        f"<div>{''.join(body)}</div></html>"
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
