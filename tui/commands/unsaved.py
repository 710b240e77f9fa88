"""Messages at the end of a command without a screen about what it could not save."""

import sys

from tui.core.text import clean
from tui.runtime.runtime import Runtime


def say_unsaved(runtime: Runtime) -> None:
    """After shutdown, print on stderr what was not saved, and why."""
    for what, why in (
        ("some messages were not saved", runtime.conversations.problem),
        ("the traffic was not recorded", runtime.unrecorded),
        ("some decisions were not recorded", runtime.decisions.problem),
    ):
        if why:
            print(f"mcptui: {what}: {clean(why)}", file=sys.stderr)


def say_unrecorded(runtime: Runtime) -> None:
    """Print on stderr that nothing was recorded if the folder of recordings is not writable. Blocks."""
    from tui.settings.locations import state_dir
    from tui.storage.sessions.file import folder_problem

    if why := folder_problem(state_dir()):
        print(f"mcptui: nothing was recorded: {clean(why)}", file=sys.stderr)
    else:
        say_unsaved(runtime)
