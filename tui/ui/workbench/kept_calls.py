"""What the workbench shows of kept calls, if an add-on has the service "kept calls"."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from textual.containers import Vertical

from tui.core.addons import service
from tui.core.tools import ToolResult
from tui.core.workbench import CallKey, PromptResult
from tui.ui.keys.action_table import Context
from tui.ui.widgets.lines import LinePane
from tui.ui.widgets.symbols import symbols_for

if TYPE_CHECKING:
    from tui.core.comparison.values import LinePair
    from tui.runtime.runtime import Runtime
    from tui.ui.workbench.bench_context import BenchContext

Result = ToolResult | PromptResult


@dataclass(frozen=True, slots=True)
class Badge:
    """The number of kept calls of an item. `passed`: how they ended last; None if one never ran."""

    kept: int
    passed: bool | None = None

    def cell(self, *, long: bool) -> tuple[str, str]:
        """Return the text and the style for a list: "3 kept ✓", or "3✓"."""
        signs = symbols_for()
        sign = {True: signs.done, False: signs.failed, None: ""}[self.passed]
        style = {True: "ok", False: "bad", None: "dim"}[self.passed]
        return (f"{self.kept} kept {sign}".rstrip() if long else f"{self.kept}{sign}"), style


@dataclass(frozen=True, slots=True)
class KeptVerdict:
    """Whether a call made by hand has the result of a kept call with the same arguments.

    `pairs` are the kept result and that of the call, line by line.
    """

    name: str
    is_same: bool
    pairs: "Sequence[LinePair]" = ()

    @property
    def cell(self) -> tuple[str, str]:
        return ("as kept", "ok") if self.is_same else ("differs", "bad")


class KeptCalls(Protocol):
    """The kept calls of one server."""

    @property
    def badges(self) -> Mapping[CallKey, Badge]:
        """The badges of its items; another object once they have changed."""

    def look(self) -> None:
        """Follow the files of kept calls and their last runs. Cheap: what takes time is done in a thread."""

    async def verdict(self, key: CallKey, arguments: Any, result: Result) -> KeptVerdict | None:
        """Compare a result with that of a kept call; None if no call with these arguments was kept."""

    async def close(self) -> None:
        """Called once, when the workbench is closed."""


class NoKeptCalls:
    """`KeptCalls` without the add-on."""

    badges: Mapping[CallKey, Badge] = {}

    def look(self) -> None:
        pass

    async def verdict(self, key: CallKey, arguments: Any, result: Result) -> KeptVerdict | None:
        return None

    async def close(self) -> None:
        pass


class CasesPane(Vertical):
    """The tab with the cases of a server, for an add-on. `list` has the focus, with the keys of `CONTEXT`."""

    CONTEXT: ClassVar[Context] = Context.TESTS
    DEFAULT_CSS = "CasesPane { height: 1fr; }"

    list: LinePane

    def look(self) -> None:
        """Show changes; cheap if there are none."""

    def stays(self) -> str:
        """Return why the workbench cannot be closed now, or ""."""
        return ""


def cases_pane(shared: "BenchContext") -> CasesPane | None:
    """Return the tab with the cases of a server, or None without the add-on."""
    made = service("tests tab")
    found: CasesPane | None = made(shared) if made is not None else None
    return found


def kept_calls(runtime: "Runtime", server: str) -> KeptCalls:
    """Return the kept calls of a server."""
    made = service("kept calls")
    found: KeptCalls = made(runtime, server) if made is not None else NoKeptCalls()
    return found


class Badged(Protocol):
    """A list of items that shows badges."""

    def show_badges(self, badges: Mapping[str, Badge]) -> None:
        """Set the badges of items, by item key."""


class KeptBadges:
    """Shows the badges of kept calls in lists of items."""

    def __init__(self, kept: KeptCalls, lists: Sequence[Badged]) -> None:
        self._kept, self._lists = kept, lists
        self._shown: Mapping[CallKey, Badge] = {}

    def look(self) -> None:
        """Show changes; cheap if there are none."""
        self._kept.look()
        if (badges := self._kept.badges) is not self._shown:
            self._shown = badges
            for one in self._lists:
                one.show_badges({f"{key.kind} {key.name}": badge for key, badge in badges.items()})
