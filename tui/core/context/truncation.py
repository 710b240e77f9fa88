"""Text cut to what fits: its head and its tail, and a note with exact figures. Pure."""


def octets(text: str) -> int:
    """Return how many bytes `text` is in UTF-8."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "replace"))


def is_cut(text: str, limit: int) -> bool:
    """Whether `text` has more than `limit` bytes."""
    return len(text) > limit or (len(text) * 4 > limit and octets(text) > limit)


def cut(text: str, limit: int, kept: str = "") -> str:
    """Return `text` in at most about `limit` bytes: 70 % head, 30 % tail, and a note on what is missing.

    The cuts are at ends of lines where there are some near.

    Args:
        text: whole.
        limit: bytes; the note comes on top of it if it is very small.
        kept: the name by which `read_result` knows the whole, or "".
    """
    if not is_cut(text, limit):
        return text
    encoded = text.encode("utf-8", "replace")
    room = max(limit - 200, 64)
    head = _decoded(encoded[: room * 7 // 10])
    tail = _decoded(encoded[len(encoded) - room * 3 // 10 :])
    if (end := head.rfind("\n", len(head) * 3 // 4)) >= 0:
        head = head[:end]
    if (start := tail.find("\n", 0, len(tail) // 4)) >= 0:
        tail = tail[start + 1 :]
    missing = len(encoded) - octets(head) - octets(tail)
    figures = f"{missing:,} of {len(encoded):,} bytes are left out here"
    where = (
        f'all of it is kept as "{kept}": call read_result with this name and offset {len(head)}, or grep'
        if kept
        else "ask for less to see the rest"
    )
    return f"{head}\n[… {figures}; {where} …]\n{tail}"


def _decoded(encoded: bytes) -> str:
    """Return the text of bytes that were cut anywhere."""
    return encoded.decode("utf-8", "ignore")
