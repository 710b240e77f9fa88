"""Commands and flags that add-ons bring to the command line. Loads the standard library only."""

import argparse
from collections.abc import Iterator, Sequence

from tui.core.addons import FLAGS, brings, not_installed

TYPE_CHECKING = False  # importing `typing` takes a tenth of the start of a command
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Fill = Callable[[argparse.ArgumentParser], object]


class AddonFlags:
    """Flags of an add-on for a command of the house.

    `fill` adds them to the parser. `usage`, `examples` and `notes` are lines for its help. If an argument of
    `deeds` is given, `run` (`package.module:name`) acts in place of the command. `check` raises UsageError if
    the arguments contradict each other.
    """

    def __init__(
        self,
        fill: "Fill",
        *,
        usage: str = "",
        examples: str = "",
        notes: str = "",
        deeds: Sequence[str] = (),
        run: str = "",
        check: "Callable[[argparse.Namespace], None] | None" = None,
    ) -> None:
        self.fill = fill
        self.usage = usage
        self.examples = examples
        self.notes = notes
        self.deeds = deeds
        self.run = run
        self.check = check


def flags_of(command: str) -> "Iterator[AddonFlags]":
    """Yield the flags that installed add-ons bring to a command."""
    for addon in FLAGS[command]:
        if (brought := brings(addon)) is not None:
            yield brought["flags"][command]


def fill_addon_flags(parser: argparse.ArgumentParser, command: str) -> None:
    """Add the flags of add-ons to a command, and themselves to its arguments as `addon_flags`.

    Flags of a missing add-on are not shown. An error says that it is not installed.
    """
    found = []
    for addon, names in FLAGS[command].items():
        if (brought := brings(addon)) is not None:
            found.append(brought["flags"][command])
            found[-1].fill(parser)
            continue
        for name in names:
            parser.add_argument(name, nargs="*", action=_Missing, const=addon, help=argparse.SUPPRESS)
    parser.set_defaults(addon_flags=found)


class _Missing(argparse.Action):
    """A flag of an add-on that is not installed: an error in one sentence."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: "str | Sequence[Any] | None",
        option_string: str | None = None,
    ) -> None:
        parser.error(not_installed(str(self.const), option_string or ""))
