"""The line of the workbench about a watched server: the last restart, and the keys for it."""

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from tui.addons.watch.globs import guessed
from tui.addons.watch.report import RANKS, RestartReport, fitting, report_row, watched_words
from tui.addons.watch.watches import ServerWatch, Watches
from tui.core.language.translate import N_, _, localized
from tui.core.questions import DefinitionsQuestion
from tui.core.servers import ServerStatus
from tui.core.text import clean_line
from tui.ui.dialogs.dialog import heading
from tui.ui.dialogs.rows_dialog import RowsDialog
from tui.ui.permission.permission_dialogs import differences
from tui.ui.platform.key_order import open_once
from tui.ui.widgets.bar import key_cap, spread
from tui.ui.widgets.rows import EMPTY, Row, width_of
from tui.ui.widgets.symbols import symbols_for
from tui.ui.workbench.watch_line import WatchLine

if TYPE_CHECKING:
    from tui.ui.workbench.bench_context import BenchContext
    from tui.ui.workbench.screen import ServerScreen

GAP = ("   ", "")
STANDING = 3
"""Keys that are always there: accept, watch, auto."""

SLOW_SECONDS, HINT_SECONDS = 3, 5
"""A restart that takes longer says how long, and then which setting may help."""


PAUSED = N_("Not watching in this run. The configuration still has watch.")


class WatchStatus(WatchLine):
    """The line. With `auto`, the last call is repeated after each restart."""

    DEFAULT_CSS = "WatchStatus { background: $surface; padding: 0 1; }"

    def __init__(self, shared: "BenchContext") -> None:
        super().__init__(id="bench-watch")
        self._shared = shared
        self.auto = False
        self._repeated = 0
        self._left: Sequence[Row] = (EMPTY,)
        self._keys: Sequence[Row] = ()

    @property
    def watched(self) -> ServerWatch | None:
        watches = self._shared.runtime.watches
        return watches.find(self._shared.server) if watches is not None else None

    def look(self) -> None:
        status, watch = self._shared.status, self.watched
        is_shown = status is not None and bool(status.spec.is_own or status.spec.watch or watch)
        if is_shown != self.display:
            self.display = is_shown
            self._screen.set_class(is_shown, "-watched")  # notices leave room for the line
        if status is None or not is_shown:
            return
        self._repeat(watch)
        watches = self._shared.runtime.watches
        if watches is not None and status.name in watches.awaited and status.failed:
            left: Sequence[Row] = (_silent(status),)
        else:
            left = _left(watch)
        shown = left, self._keys_of(status, watch)
        if shown != (self._left, self._keys):
            self._left, self._keys = shown
            self.refresh()

    def row(self, width: int) -> Row:
        """Return the line with as many keys as there is room for, the most important ones first.

        What is to be said is shortened for the keys about the last restart, but for no other, and only if it
        does not fit beside the first of them.
        """
        keys: Row = EMPTY
        about = [width_of((GAP, *key)) for key in self._keys[:-STANDING]]
        rooms = [width - sum(about[:n]) for n in range(len(about), 0, -1)] or [width]
        whole = (row for room in rooms for row in self._left if width_of(row) <= room)
        left = next(whole, None) or fitting(self._left, rooms[0])
        for key in self._keys:
            more = (*keys, *((GAP,) if keys else ()), *key)
            if width_of(left) + 3 + width_of(more) > width:
                break
            keys = more
        return spread(left, keys, width) if keys else left

    def _keys_of(self, status: ServerStatus, watch: ServerWatch | None) -> Sequence[Row]:
        first, report = self._shared.overrides.first_of, watch.report if watch is not None else None
        keys: list[Row] = []
        if report is not None and (report.result.changes or report.result.removed):
            keys.append(key_cap(first("watch.changes"), _("changes")))
        if report is not None and report.kept is not None and report.kept.differing:
            keys.append(key_cap(first("bench.tests"), _("review")))
        on = _("accepts definitions") if status.spec.is_own else _("asks about definitions")
        keys.append(key_cap(first("watch.accept"), on))
        keys.append(key_cap(first("watch.toggle"), _("watch") if watch is None else _("stop watching")))
        keys.append(key_cap(first("watch.auto"), _("auto on") if self.auto else _("auto off")))
        return keys

    def _repeat(self, watch: ServerWatch | None) -> None:
        """With `auto`, repeat the last call of the tab after a restart."""
        if watch is None or watch.restarts == self._repeated or watch.is_restarting:
            return
        self._repeated = watch.restarts
        screen = self._screen
        if self.auto and (bench := screen.bench) is not None:
            screen.calls.repeat(bench)

    @property
    def _screen(self) -> "ServerScreen":
        screen: ServerScreen = self._shared.screen  # type: ignore[assignment]
        return screen


def _silent(status: ServerStatus) -> Row:
    """Return why a remote server is not connected."""
    why = clean_line(localized(status.detail), 300).removesuffix(".").removesuffix("。")
    return ((f"! {why}", "bad"), (f" · {_('connects once it answers')}", "dim"))


def _left(watch: ServerWatch | None) -> Sequence[Row]:
    """Return what the watch does, or what became of the last restart, and shorter lines of the same."""
    signs = symbols_for()
    match watch:
        case None:
            return (((_("not watching"), "dim"),),)
        case ServerWatch(is_restarting=True):
            seconds = int(time.monotonic() - watch.began)
            since = f"  {seconds} s" if seconds >= SLOW_SECONDS else ""
            said = (f"{signs.spinner[0]} {_('restarting')}{since}", "warn bold")
            if seconds < HINT_SECONDS or not (setting := watch.stop_first):
                return ((said,),)
            hint = _("if it waits for the old process: {setting}", setting=setting)
            return ((said, (f" · {hint}", "dim")),)
        case ServerWatch(problem=str(problem)) if problem:
            return (((f"! {localized(problem)}", "bad"),),)
        case ServerWatch(report=None):
            words = watched_words(watch.shown, is_empty=watch.is_empty)
            return (((clean_line(words, 200), "warn" if watch.is_empty else "dim"),),)
        case ServerWatch(report=RestartReport() as report):
            sign = (f"{signs.done} ", "ok") if report.result.is_new else (f"{signs.failed} ", "bad bold")
            return tuple((sign, *report_row(report, shorter)) for shorter in range(RANKS + 1))
    return (EMPTY,)


def _line(owner: "ServerScreen") -> WatchStatus:
    return owner.query_one(WatchStatus)


def toggle(owner: "ServerScreen") -> None:
    """Watch the files of the server, after asking which ones, or stop or resume watching."""
    status, watches = owner.shared.configured(), owner.shared.runtime.watches
    if status is None or watches is None:
        return
    if status.spec.watch:
        watches.paused ^= {status.name}
        is_configured = owner.shared.runtime.options.opens != status.name
        stopped = _(PAUSED) if is_configured else _("No longer watching.")
        owner.notify(stopped if status.name in watches.paused else _("Watching."), timeout=3)
        return

    def chosen(text: str) -> None:
        if patterns := tuple(filter(None, (part.strip() for part in text.split(",")))):
            _watch(owner, watches, patterns)

    guess = ", ".join(guessed(status.spec))
    asked, example = _("files to watch"), "src/**/*.py, *.json"
    owner.prompt.ask(asked, chosen, value=guess, about=owner.server, placeholder=example)


def _watch(owner: "ServerScreen", watches: Watches, patterns: tuple[str, ...]) -> None:
    runtime, server = owner.shared.runtime, owner.server
    runtime.host.reconfigure(server, is_own=True)
    owner.shared.choose(runtime.configuration.choose(server, "watch", patterns))
    watches.begin()


def toggle_auto(owner: "ServerScreen") -> None:
    """Repeat the last call after each restart, or stop that."""
    line = _line(owner)
    line.auto = not line.auto
    words = _("The last call is repeated after each restart.") if line.auto else _("Calls are not repeated.")
    owner.notify(words, timeout=3)


def toggle_accepting(owner: "ServerScreen") -> None:
    """Accept the definitions of the server as they change, or ask."""
    if (status := owner.shared.configured()) is not None:
        is_own = not status.spec.is_own
        owner.shared.runtime.host.reconfigure(owner.server, is_own=is_own)
        accepted = _("Changed definitions are accepted as they change.")
        owner.notify(accepted if is_own else _("Changed definitions need your consent."), timeout=3)


def show_changes(owner: "ServerScreen") -> None:
    """Show what changed in the definitions at the last restart."""
    watch = _line(owner).watched
    result = watch.report.result if watch is not None and watch.report is not None else None
    if result is None or not (result.changes or result.removed):
        owner.notify(_("The last restart changed no definitions."), timeout=3)
        return
    gone: list[Row] = [((name, "accent"), ("  " + _("removed, breaking"), "warn")) for name in result.removed]
    changed, _more = differences(DefinitionsQuestion(owner.server, result.changes), "")
    open_once(owner.app, RowsDialog(heading(_("Changed at the last restart")), [*gone, *changed]))
