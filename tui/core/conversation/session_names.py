"""Which saved conversation a person means by a name. Pure."""

from collections.abc import Sequence

from tui.core.conversation.sessions import SessionInfo
from tui.core.errors import UsageError

LAST = "last"
"""The name of the conversation in which something was said last."""

LIST_STEP = "`mcptui sessions` lists them."


def named(sessions: Sequence[SessionInfo], name: str) -> SessionInfo | None:
    """Return the conversation of that id, of that title, or whose id begins or ends so; None if none.

    Args:
        sessions: the last changed first.
        name: what the person wrote.

    Raises:
        UsageError: several could be meant.
    """
    if name == LAST:  # one that cannot be opened is not gone on with
        return next((one for one in sessions if not one.problem), None)
    exact = [one for one in sessions if one.id == name]
    titled = [one for one in sessions if one.title.casefold() == name.casefold()]
    begun = [one for one in sessions if name and (one.id.startswith(name) or one.id.endswith(name))]
    for found in (exact, titled, begun):
        if len(found) > 1:
            ids = ", ".join(one.id for one in found[:5])
            raise UsageError(f"{len(found)} conversations could be meant: {ids}", where=name)
        if found:
            return found[0]
    return None
