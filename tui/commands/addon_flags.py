"""Flags that add-ons bring to commands of the house. Loads the standard library only.

They are a table. `fill` adds them to the parser. `usage`, `examples` and `notes` are lines for the help. If
an argument of `deeds` is given, `run` acts in place of the command. `check` raises UsageError if arguments
contradict each other.
"""

import argparse
from collections.abc import Iterator, Mapping, Sequence

from tui.core.addons import FLAGS, brings, not_installed

TYPE_CHECKING = False  # importing `typing` takes a tenth of the start of a command
if TYPE_CHECKING:
    from typing import Any


def flags_of(command: str) -> "Iterator[Mapping[str, Any]]":
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
            found[-1]["fill"](parser)
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
