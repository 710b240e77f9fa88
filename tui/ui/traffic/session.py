"""What stands behind live traffic: the servers that can be asked again, and the turns as they were seen."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # none of it is needed for the first frame
    from tui.runtime.runtime import Runtime
    from tui.traffic.spans.entries import Span
    from tui.ui.workbench.calls import CallBook


@dataclass(frozen=True, slots=True)
class Session:
    """The running program; a recording that is read from a file has none.

    Attributes:
        runtime: its servers.
        book: the calls made by hand, of which each has a number of its own.
        spans: gives the turns of the conversation, which know of approvals.
        open_form: opens the workbench of a server with the form of a tool and these arguments in it.
    """

    runtime: "Runtime"
    book: "CallBook"
    spans: "Callable[[], Sequence[Span]]"
    open_form: Callable[[str, str, Any], None] = lambda server, tool, arguments: None
