"""The tab of the workbench with the skills of its server: their state, their manifest, and their text."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType

from tui.addons.skills.approvals import Approval
from tui.addons.skills.entry import SkillEntry
from tui.addons.skills.loader import DECLINED, WORDS, SkillLoader, changes_of
from tui.core.language.translate import _, localized, n_
from tui.core.text import clean, clean_line, compact, padded
from tui.core.units import size as in_bytes
from tui.ui.dialogs.rows_dialog import TextDialog
from tui.ui.keys.action_table import Context
from tui.ui.keys.bindings import bench_list_bindings
from tui.ui.widgets.bar import Rule, SplitBar
from tui.ui.widgets.lines import RowsPane
from tui.ui.widgets.rows import EMPTY, Row, wrap
from tui.ui.workbench.addon_tabs import AddonList, AddonPane, pane_bindings
from tui.ui.workbench.bars import BenchTab

if TYPE_CHECKING:
    from tui.ui.workbench.bench_context import BenchContext
    from tui.ui.workbench.screen import ServerScreen

STYLES = {Approval.NEW: "dim", Approval.APPROVED: "ok", Approval.CHANGED: "warn", Approval.EACH_TIME: "warn"}
LABEL = 16
MAX_ROWS = 10
"""Rows of the list above the manifest."""


class SkillList(AddonList):
    """The skills of a server, one a row."""

    BINDINGS: ClassVar[list[BindingType]] = [*pane_bindings(Context.SKILLS), *bench_list_bindings()]


class SkillsTab(AddonPane):
    """The skills of one server."""

    DEFAULT_CSS = """
    SkillsTab > SplitBar { background: $panel; padding: 0 1; }
    SkillsTab > SkillList { background: $surface; }
    SkillsTab > RowsPane { height: 1fr; padding: 0 1; background: $surface; }
    """

    context = Context.SKILLS

    def __init__(self, shared: "BenchContext") -> None:
        super().__init__(id="bench-skills")
        self._shared = shared
        self._line = SplitBar()
        self.list: AddonList = SkillList("skills", self._show_detail, self.act, lambda one: one and one.uri)
        self._detail = RowsPane(lambda width: list(self._detail_rows(width)))
        self._seen: object = None

    @property
    def _loader(self) -> SkillLoader | None:
        found: SkillLoader | None = self._shared.runtime.skill_loader
        return found

    def compose(self) -> ComposeResult:
        yield self._line
        yield self.list
        yield Rule()
        yield self._detail

    def on_mount(self) -> None:
        self.reload()

    def look(self) -> None:
        if (loader := self._loader) is None:
            return
        listing, problem = loader.listing(self._shared.server)
        seen = loader.revision, listing, problem, self.list.columns
        if seen == self._seen:
            return
        self._seen = seen
        entries = listing.entries if listing is not None else ()
        rows = [self._row(loader, listing.label(one), one) for one in entries] if listing is not None else []
        rows = rows or list(self._empty())
        self.list.show(entries, rows)
        self.list.styles.height = max(1, min(len(rows), MAX_ROWS))
        problems = len(listing.problems) if listing is not None else 0
        left = ((n_("{n} skill", "{n} skills", len(entries)), "text"),) if listing is not None else ()
        right = ((n_("{n} entry omitted", "{n} entries omitted", problems), "warn"),) if problems else ()
        self._line.show(left, ((_("not listed again"), "bad"),) if problem and rows else right)
        self._show_detail()

    def _empty(self) -> Iterator[Row]:
        """Yield the rows in place of skills, with what to do."""
        assert self._loader is not None
        listing, problem = self._loader.listing(self._shared.server)
        text = _("Listing skills…")
        if listing is not None:
            text = _("This server lists no skills. It may still serve some. To load one: /skills URI")
        elif problem:
            yield from wrap(((clean_line(localized(problem), 1_000), "bad"),), self.list.columns)
            text = _("Press R to try again.")
        yield ((text, "dim"),)

    def _row(self, loader: SkillLoader, label: str, entry: SkillEntry) -> Row:
        words, style = self._state(loader, entry)
        files = _("files not listed") if entry.is_dynamic else _files(entry)
        name = padded(clean_line(label, 40), min(40, max(16, self.list.columns // 4)))
        about = clean_line(entry.description, 300)
        return (
            (f" {name}  ", "text bold"),
            (padded(words, 17), style),
            (padded(files, 17), "dim"),
            (about, "text"),
        )

    def _state(self, loader: SkillLoader, entry: SkillEntry) -> tuple[str, str]:
        approval = loader.state(entry).approval
        if entry.declined:
            return localized(DECLINED), "bad"
        return localized(WORDS[approval]), STYLES[approval]

    def _show_detail(self) -> None:
        self._detail.rewrap()

    def _detail_rows(self, width: int) -> Iterator[Row]:
        entry, loader = self.list.selected, self._loader
        if loader is None or entry is None:
            listing = loader.listing(self._shared.server)[0] if loader is not None else None
            for text in listing.problems if listing is not None else ():
                yield from wrap(((clean(localized(text)), "warn"),), width)
            return
        words, style = self._state(loader, entry)
        yield EMPTY
        yield ((padded(_("state"), LABEL), "dim"), (words, style))
        notes = [entry.declined] if entry.declined else list(changes_of(entry, loader.state(entry)))
        for text in notes:
            yield from wrap(((clean(localized(text)), style),), width, first=((" " * LABEL, ""),))
        facts = [(_("about"), entry.description), ("URI", entry.uri)]
        facts += [
            (name, value if isinstance(value, str) else compact(value, 400))
            for name, value in entry.frontmatter.items()
            if name not in ("name", "description")
        ]
        redact = self._shared.runtime.redactor.redact
        for label, text in facts:
            shown = clean_line(redact(text), 2_000)
            yield from wrap(((shown, "text"),), width, first=((padded(clean_line(label, 14), LABEL), "dim"),))
        total = _("{files}, {size}", files=_files(entry), size=in_bytes(entry.size))
        yield ((padded(_("files"), LABEL), "dim"), (_("not listed") if entry.is_dynamic else total, "text"))
        for path, file in entry.by_path.items():
            inner = "   " + _("a skill of its own") if path in entry.nested else ""
            yield (
                (" " * LABEL, ""),
                (clean_line(redact(path), 200), "text"),
                (f"  {in_bytes(file.size)}{inner}", "dim"),
            )

    # ---- keys ----

    def read(self) -> None:
        """Show the SKILL.md of the selected skill, if it matches the manifest."""
        entry, loader = self.list.selected, self._loader
        if entry is None or loader is None:
            self._none_selected()
            return

        async def show() -> None:
            text = await loader.preview(entry)
            if self.screen.is_current:
                self.app.push_screen(TextDialog(f"{clean_line(entry.name, 80)} / SKILL.md", text))

        self.run(show())

    def load(self) -> None:
        """Load the selected skill, and attach it to the next message."""
        entry, loader, shared = self.list.selected, self._loader, self._shared
        if entry is None or loader is None:
            self._none_selected()
            return

        async def attach() -> None:
            shared.draft.attach([await loader.attach(shared.server, entry.uri)])
            name = clean_line(entry.name, 80)
            self.app.notify(_("The skill {name} is attached to the next message.", name=name), timeout=4)

        self.run(attach())

    def revoke(self) -> None:
        entry, loader = self.list.selected, self._loader
        if entry is None or loader is None:
            self._none_selected()
        elif loader.state(entry).approval is Approval.APPROVED:
            loader.revoke(entry)
            self.app.notify(_("Approval revoked. mcptui asks before this skill is loaded again."), timeout=4)
        else:
            self.app.notify(_("This skill is not approved."), timeout=3)

    def reload(self) -> None:
        """List the skills again."""
        if self._loader is not None and self._shared.server in self._loader.servers():
            self._loader.begin_listing(self._shared.server, again=True)

    def back(self) -> None:
        screen: Any = self.screen
        screen.back()

    def _none_selected(self) -> None:
        self.app.notify(_("No skill is selected."), timeout=3)


def _files(entry: SkillEntry) -> str:
    return n_("{n} file", "{n} files", len(entry.by_path))


def show_tab(owner: "ServerScreen") -> None:
    """Show the tab of a workbench."""
    owner.show_tab(BenchTab.SKILLS)
