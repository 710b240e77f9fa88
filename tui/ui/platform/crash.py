"""How the app ends after a defect: with a traceback, but without the values of local variables.

Textual 8.2.8 prints the local variables of every frame, API keys among them, and has no public way not to.
"""

import sys
import traceback
from collections.abc import Callable
from typing import Any

from textual.app import App


def report_crash(app: App[Any], report: Callable[[str], None]) -> None:
    """Report the traceback of an unhandled exception, instead of what Textual would print.

    A version of Textual without `_fatal_error` never calls this, and prints its own.
    """

    def fatal_error() -> None:
        error = getattr(app, "_exception", None) or sys.exc_info()[1]
        report("".join(traceback.format_exception(error)) if error else "unknown defect")
        close_at_once(app)

    setattr(app, "_fatal_error", fatal_error)  # noqa: B010


def crash(app: App[Any], error: Exception) -> None:
    """End the app with an error that was raised outside of Textual's tasks."""
    if (handle := getattr(app, "_handle_exception", None)) is not None:
        handle(error)
    else:  # a callback that raises ends the app, too, once it is called
        app.call_later(_raise, error)


def close_at_once(app: App[Any]) -> None:
    """End the app without waiting for the messages in its queue."""
    if (close := getattr(app, "_close_messages_no_wait", None)) is not None:
        close()
    else:
        app.exit(return_code=1)


def _raise(error: Exception) -> None:
    raise error
