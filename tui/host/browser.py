"""Opens an address in the user's browser, after they agreed."""

import os
import webbrowser

from tui.core.web import has_browser


def open_browser(address: str) -> bool:
    """Open an address in the user's browser; False if no browser is available."""
    if not has_browser(os.environ):
        return False
    try:
        return webbrowser.open(address)
    except (webbrowser.Error, OSError):
        return False
