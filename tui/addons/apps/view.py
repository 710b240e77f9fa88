"""The app view of the selected tool: its source in the result view, its text in the browser after a yes."""

import base64
import binascii
from typing import TYPE_CHECKING, Any

from textual.screen import Screen

from tui.addons.apps.page import serve_once, still_page
from tui.core.background import in_daemon_thread
from tui.core.jsonrpc.app_views import APP_SCHEME
from tui.core.language.translate import N_, _
from tui.core.text import clean_line
from tui.core.tools import BinaryContent, ResourceContent, Tool
from tui.core.workbench import ResourceInfo
from tui.ui.dialogs.confirm import Confirm
from tui.ui.results.message_draft import ResultSource
from tui.ui.results.result_screen import ResultScreen

if TYPE_CHECKING:
    from tui.ui.workbench.screen import ServerScreen

_QUESTION = N_("Show the text of this app view in the browser?")
_ABOUT = N_(
    "Its scripts do not run, and it loads nothing. mcptui removes scripts, styles, links, forms and images, "
    "and serves the rest once, to this computer only."
)


def why_no_view(screen: "ServerScreen") -> str:
    """Return why nothing can be shown, or ""."""
    if why := screen.why_no_item():
        return why
    return "" if _selected(screen) else _("The selected tool has no app view.")


def _selected(screen: "ServerScreen") -> str:
    about = screen.bench.item.about if screen.bench is not None and screen.bench.item is not None else None
    match about:
        case Tool(app_view=uri):
            return uri
        case ResourceInfo(uri=uri) if uri.startswith(APP_SCHEME):
            return uri
    return ""


def show(screen: "ServerScreen") -> None:
    """Read the app view of the selected tool and show its source."""
    shared, uri = screen.shared, _selected(screen)
    source = ResultSource(shared.server, shared.runtime.workbench, shared.draft)
    screen.app.push_screen(ResultScreen(f"{shared.server} › {uri}", None, source, uri=uri))


def ask_to_open(screen: "Screen[Any]", content: ResourceContent | BinaryContent) -> None:
    """Ask whether to show the text of an app view in the browser, and do so after a yes."""

    async def open_page() -> None:
        from tui.core.web import open_browser

        page = await in_daemon_thread("app view", lambda: still_page(_html(content), content.uri))
        if not await serve_once(page, lambda url: in_daemon_thread("browser", lambda: open_browser(url))):
            screen.app.notify(_("Cannot open a browser here. Save the text with w instead."), timeout=5)

    def answered(yes: bool | None) -> None:
        if yes:
            screen.app.run_worker(open_page(), exit_on_error=False)

    about = f"{clean_line(content.uri, 400)}\n{_(_ABOUT)}"
    screen.app.push_screen(Confirm(_(_QUESTION), yes=_("open"), no=_("cancel"), about=about), answered)


def _html(content: ResourceContent | BinaryContent) -> str:
    if isinstance(content, ResourceContent):
        return content.text
    try:
        return base64.b64decode(content.data).decode("utf-8", "replace")
    except (binascii.Error, ValueError):
        return ""
