"""Symbolic links in place of mcptui's own files and folders. Nothing is written through them."""

from tui.core.files import links_in
from tui.core.text import clean_line
from tui.settings.locations import data_dir, state_dir


def refused_links() -> list[str]:
    """Return a sentence for each link in place of the state or data folder, or directly in it. Blocks."""
    found = {path: None for folder in (state_dir(), data_dir()) for path in links_in(folder)}
    return [
        f"{clean_line(str(path), 400)} is a symbolic link, which mcptui does not follow here. "
        "Nothing is saved there. Replace the link with the file or folder itself."
        for path in found
    ]
