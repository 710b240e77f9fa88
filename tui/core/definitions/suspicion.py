"""Finds suspicious content in a new text from a server. Pure."""


def suspicion(text: str) -> str:
    """Return the reason why a text is suspicious, in a few words, or ""."""
    # Compiles many patterns, which are not needed if nothing has changed.
    from tui.core.hidden_text.scan import MAX_CHARS, scan

    signs = dict.fromkeys(one.sign.value for one in scan(text, ""))
    if not signs and len(text) > MAX_CHARS:
        return "longer than a description"
    return ", ".join(signs)
