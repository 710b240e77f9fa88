"""Reviews what leaves in an HTML page before it is written, with a switch for each part."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

from textual.binding import BindingType

from tui.core.errors import McptuiError, reason_of
from tui.core.forms.form import Form
from tui.core.forms.spec import BOOLEANS
from tui.core.language.translate import N_, _, localized
from tui.core.text import capitalized
from tui.core.units import file_stamp, size
from tui.storage.exports.contents import WORDS, Choice, Review
from tui.storage.exports.document import Portion
from tui.storage.exports.shapes import named_servers
from tui.ui.dialogs.dialog import heading
from tui.ui.dialogs.export_dialogs import Export
from tui.ui.forms.form_pane import FormPane
from tui.ui.forms.form_rows import SWITCH, FieldNote, FormHead
from tui.ui.forms.form_screen import SAVE_KEYS, FormScreen
from tui.ui.keys.bindings import overrides_of
from tui.ui.widgets.inputs import Button
from tui.ui.widgets.literal import Literal

REDACT = "redact"
_ON, _OFF = BOOLEANS
_REDACTED = N_("On: texts become their type and length. Names and times stay.")
_KEPT = N_("Off: texts are kept, configured secrets removed.")


class ShareReview(FormScreen[Export | None]):
    """Returns the export without the parts that were switched off, or None.

    Shows the parts that there are, once they are counted. `telling` is a name for the file that has the title
    of the conversation: it gets another one if the conversation is left out or redacted.
    """

    BINDINGS: ClassVar[list[BindingType]] = SAVE_KEYS
    KEYS = (("space", N_("on or off")),)

    def __init__(
        self, app: object, wanted: Export, count: Callable[[], Awaitable[Review]], telling: str = ""
    ) -> None:
        self._wanted, self._count, self._telling = wanted, count, telling
        self._form = Form({})
        self._review: Review | None = None
        self._stamp = file_stamp()
        self._parts: list[tuple[Portion, str]] = []
        self._leaves = Literal(_("Counting…"))
        pane = FormPane(overrides_of(app), types=False)
        button = Button(_("Save"), "ctrl+s", self.action_save)
        super().__init__(heading(_("This page will contain")), pane, button, below=self._leaves)

    def on_mount(self) -> None:
        async def count() -> None:
            try:
                self._review = await self._count()
            except (McptuiError, OSError) as error:
                self._leaves.show(capitalized(reason_of(error, 600)))
            else:
                self._show(self._review)

        self._show(Review())
        self._counting = self.run_worker(count(), name="review an export")

    def typed(self) -> None:
        """Nothing: switches are set again at once."""

    def _show(self, review: Review) -> None:
        """Show a switch for each part, all of them on."""
        self._parts = review.lines()
        names = [*(portion.value for portion, _ in self._parts), REDACT]
        self._form = Form(
            {
                "type": "object",
                "properties": {name: {"type": "boolean", "format": SWITCH} for name in names},
                "required": names,
            }
        )
        for name in names:
            self._form.set((name,), _ON if name != REDACT or self._wanted.choice.shapes else _OFF)
        self.pane.show(self._form, FormHead())
        for portion, words in self._parts:
            self.pane.note((portion.value,), FieldNote(localized(words), placeholder=_(WORDS[portion][1])))
        self.set_focus(self.pane)
        self._look()

    def on_form_pane_changed(self, event: FormPane.Changed) -> None:
        event.stop()
        self._look()

    def _is_on(self, name: str) -> bool:
        return self.text((name,)) == _ON

    def _look(self) -> None:
        """Show what the switches leave."""
        self.pane.note((REDACT,), FieldNote(_(_REDACTED) if self._is_on(REDACT) else _(_KEPT)))
        if (review := self._review) is not None:
            left = sum(review.octets[portion] for portion, _ in self._parts if self._is_on(portion.value))
            most, to = _("At most {size}", size=size(left)), _("To {path}", path=self._path(self._choice()))
            if review.servers:
                where = localized(named_servers(review.servers))
                most = _("At most {size}, {where}", size=size(left), where=where)
            self._leaves.show(f"{most}\n{to}")
        self.say("")

    def action_save(self) -> None:
        if self._review is not None and self.is_current:
            choice = self._choice()
            self.dismiss(replace(self._wanted, choice=choice, path=self._path(choice)))
        elif self._counting.is_running:
            self.say(_("Not saved yet. Press ctrl+s again once the parts are shown."))

    def _choice(self) -> Choice:
        without = frozenset(portion for portion, _ in self._parts if not self._is_on(portion.value))
        return Choice(self._is_on(REDACT), without)

    def _path(self, choice: Choice) -> Path:
        path = self._wanted.path
        tells = path.stem == self._telling and (choice.shapes or Portion.CONVERSATION in choice.without)
        return path.with_stem(f"conversation-{self._stamp}") if tells else path
