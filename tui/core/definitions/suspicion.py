"""What makes a text of a server suspicious when it is new. Pure."""


def suspicion(text: str) -> str:
    """Return what is suspicious about a text, in a few words, or ""."""
    # Many patterns, which a start without changes does not need.
    from tui.core.hidden_text.scan import MAX_CHARS, scan

    signs = dict.fromkeys(one.sign.value for one in scan(text, ""))
    if not signs and len(text) > MAX_CHARS:
        return "longer than a description"
    return ", ".join(signs)
