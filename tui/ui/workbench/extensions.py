"""Turns extensions of a server on and off, and shows what it offers differently then."""

from collections.abc import Iterator

from textual.content import Content

from tui.core.comparison.offers import OfferChange, change_words
from tui.core.comparison.values import Change
from tui.core.jsonrpc.extensions import EXTENSIONS
from tui.core.jsonrpc.protocol import MODERN
from tui.core.language.translate import _, localized, sentences
from tui.core.text import capitalized, clean_line, quoted_name
from tui.ui.dialogs.dialog import heading
from tui.ui.dialogs.picker import Picker
from tui.ui.dialogs.rows_dialog import RowsDialog
from tui.ui.platform.key_order import open_once
from tui.ui.widgets.rows import Row
from tui.ui.workbench.bench_context import BenchContext

_STYLES = {Change.REMOVED: "warn", Change.ADDED: "ok"}


class ExtensionSwitches:
    """Turns extensions of the server of one workbench on and off."""

    def __init__(self, shared: BenchContext) -> None:
        self._shared = shared

    async def choose(self) -> None:
        """Ask for an extension to turn on or off."""
        shared, screen = self._shared, self._shared.screen
        if (status := shared.configured()) is None:
            return
        uses = (await shared.runtime.workbench.identity(shared.server)).extensions
        uses = uses or tuple(status.spec.our_side(MODERN).uses({}))
        choices = [
            (one.id, Content.assemble(one.name, (f"   {_(one.use.value)}", "dim")))
            for one in uses
            if one.can_switch
        ]

        def chosen(name: str | None) -> None:
            if name is not None:
                screen.run_worker(self._switch(name), exit_on_error=True)

        note = _("This server has none to turn off.")
        screen.app.push_screen(Picker(_("Turn an extension on or off"), choices, note=note), chosen)

    async def _switch(self, name: str) -> None:
        shared, screen, title = self._shared, self._shared.screen, EXTENSIONS[name].title
        name_of = quoted_name(shared.server)
        screen.notify(_("Asking {server} what it offers…", server=name_of), timeout=3, markup=False)
        done = await shared.runtime.server_changes.switch_extension(shared.server, name)
        if done.problem:
            screen.notify(clean_line(localized(done.problem), 400), severity="warning", markup=False)
        said = _("{extension} is off for {server}.", extension=title, server=name_of)
        if done.is_on:
            said = _("{extension} is on for {server}.", extension=title, server=name_of)
        changes = capitalized(localized(change_words(done.changes)))
        said = sentences(said, _("{changes}.", changes=changes) if done.changes else "")
        screen.notify(said, timeout=5, markup=False)
        if done.changes and screen.is_current:
            said = _("What the server offers differently without {extension}", extension=title)
            if done.is_on:
                said = _("What the server offers differently with {extension}", extension=title)
            open_once(screen.app, RowsDialog(heading(said), list(offer_rows(done.changes))))


def offer_rows(changes: tuple[OfferChange, ...]) -> Iterator[Row]:
    """Yield the changes of an offer, each followed by its differences."""
    for one in changes:
        yield ((localized(one.words), _STYLES.get(one.change, "text")),)
        for line in one.lines:
            yield ((f"  {localized(line)}", "dim"),)
