"""What the workbench shows of kept calls, if an add-on has the service "kept calls"."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from tui.core.addons import service
from tui.core.language.translate import _
from tui.core.tools import ToolResult
from tui.core.workbench import CallKey, PromptResult
from tui.ui.keys.bindings import KeyOverrides
from tui.ui.widgets.bar import key_cap
from tui.ui.widgets.rows import Row
from tui.ui.widgets.symbols import symbols_for

if TYPE_CHECKING:
    from tui.core.comparison.values import LinePair
    from tui.runtime.runtime import Runtime

Result = ToolResult | PromptResult


@dataclass(frozen=True, slots=True)
class Badge:
    """The number of kept calls of an item.

    `passed` is how they ended last, None if one never ran, and `failed` how many of them failed.
    """

    kept: int
    passed: bool | None = None
    failed: int = 0

    def cell(self, *, long: bool) -> tuple[str, str]:
        """Return the text and the style for a list: "3 kept ✓" or "6 kept, 1 ✗", short "3 ✓" or "1 of 6 ✗".

        Those that never ran are "3 kept" in both.
        """
        signs = symbols_for()
        kept = _("{n} kept", n=self.kept)
        if self.passed is None:
            return kept, "dim"
        shown = kept if long else str(self.kept)
        if self.passed:
            return f"{shown} {signs.done}", "ok"
        if self.failed == self.kept:
            return f"{shown} {signs.failed}", "bad"
        some = _("{failed} of {all}", failed=self.failed, all=self.kept)
        return (
            f"{_('{kept}, {failed}', kept=kept, failed=self.failed) if long else some} {signs.failed}",
            "bad",
        )


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
        return (_("as kept"), "ok") if self.is_same else (_("differs"), "bad")


@dataclass(frozen=True, slots=True)
class KeptCheck:
    """How many kept calls of a running server return what they did, the names of those that do not.

    `not_run` are those that need another process, answers, or a destructive tool.
    """

    passed: int = 0
    differing: Sequence[str] = ()
    not_run: int = 0


class KeptCalls(Protocol):
    """The kept calls of one server."""

    @property
    def badges(self) -> Mapping[CallKey, Badge]:
        """The badges of its items; another object once they have changed."""

    @property
    def revision(self) -> int:
        """Grows when the kept calls may have changed."""

    def look(self) -> None:
        """Follow the files of kept calls and their last runs. Cheap: what takes time is done in a thread."""

    async def verdict(self, key: CallKey, arguments: Any, result: Result) -> KeptVerdict | None:
        """Compare a result with that of a kept call; None if no call with these arguments was kept."""

    async def close(self) -> None:
        """Called once, when the workbench is closed."""


class NoKeptCalls:
    """`KeptCalls` without the add-on."""

    badges: Mapping[CallKey, Badge] = {}
    revision = 0

    def look(self) -> None:
        pass

    async def verdict(self, key: CallKey, arguments: Any, result: Result) -> KeptVerdict | None:
        return None

    async def close(self) -> None:
        pass


class Badged(Protocol):
    """Shows the badges of items."""

    def show_badges(self, badges: Mapping[str, Badge]) -> None:
        """Set the badges of items, by item key."""


class BenchKept:
    """The kept calls of the server of a workbench, if the add-on is there, and the badges of its items."""

    def __init__(self, runtime: "Runtime", server: str) -> None:
        made = service("kept calls")
        self._kept: KeptCalls = made(runtime, server) if made is not None else NoKeptCalls()
        self._shown: Mapping[CallKey, Badge] = {}
        self._revision = 0
        self.verdict, self.close = self._kept.verdict, self._kept.close

    def look(self, benches: Iterable[Badged]) -> bool:
        """Show changes; cheap if there are none. Return whether results are to be compared again."""
        self._kept.look()
        if (badges := self._kept.badges) is not self._shown:
            self._shown = badges
            for one in benches:
                one.show_badges({f"{key.kind} {key.name}": badge for key, badge in badges.items()})
        before, self._revision = self._revision, self._kept.revision
        return before != self._revision


def keep_hint(overrides: KeyOverrides, *, is_typing: bool) -> Row:
    """Return the key that keeps a result, nothing without the add-on.

    Where letters are typed, it follows esc.
    """
    try:
        key = overrides.first_of("keep.call")
    except KeyError:
        return ()
    leave = f"{overrides.first_of('bench.back')} " if is_typing else ""
    return (*key_cap(f"{leave}{key}", _("keep")), ("   ", "")) if key else ()
