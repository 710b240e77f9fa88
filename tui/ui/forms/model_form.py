"""Asks for a model profile, or only for another key of one, and tries it before saving."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, ClassVar

from textual import events
from textual.app import App
from textual.binding import Binding, BindingType
from textual.content import Content

from tui.core.errors import McptuiError
from tui.core.forms.spec import Path
from tui.core.language.translate import N_, _, localized, n_, sentences
from tui.core.text import clean_line
from tui.model.endpoints.providers import Provider
from tui.runtime.model_changes import (
    KEY_STEPS,
    PASTED,
    STORED,
    THIS_RUN,
    ModelChanges,
    ModelValues,
)
from tui.ui.dialogs.dialog import heading
from tui.ui.dialogs.picker import Picker
from tui.ui.forms import model_fields as fields
from tui.ui.forms.form_pane import FormPane
from tui.ui.forms.form_rows import FieldNote, FormHead
from tui.ui.forms.form_screen import SAVE_KEYS, FormScreen
from tui.ui.keys.bindings import KeyOverrides
from tui.ui.widgets.inputs import Button

MOST_MODELS = 2000


class ModelForm(FormScreen[str | None]):
    """Adds a profile with `changes`, or replaces the key of `key_of`; returns its name, or None."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *SAVE_KEYS,
        Binding("down", "down", N_("Choose model, or next field"), priority=True),
    ]

    def __init__(
        self,
        keys: KeyOverrides,
        changes: ModelChanges,
        provider: Provider | None = None,
        *,
        key_of: ModelValues | None = None,
    ) -> None:
        self._changes = changes
        self._key_of = key_of
        self._provider = provider or Provider("", "")
        name = changes.free_name(self._provider.name) if self._provider.name else ""
        self._form = fields.new_key() if key_of else fields.new_profile(changes, self._provider, name)
        title = (
            heading(_("API key"), clean_line(key_of.name, 64))
            if key_of
            else heading(_("Add model"), localized(self._provider.title))
        )
        button = Button(_("Save"), "ctrl+s", self.action_save)
        super().__init__(title, FormPane(keys, types=False), button)
        self._place, self._no_keychain, self._about_models = "", "", _("↓ list the models")
        self._ids: tuple[str, ...] = ()
        self._listed: ModelValues | None = None
        self._tried: ModelValues | None = None  # values that failed: saved without a check next time
        self._work: asyncio.Task[None] | None = None
        self._is_saving, self._told = False, ""

    def on_mount(self) -> None:
        of, provider = self._key_of, self._provider
        variable = self._changes.variable_of(provider)
        self.pane.show(self._form, FormHead())

        async def find_place() -> None:
            self._place, self._no_keychain = await self._changes.key_place()
            self._look()

        self.run_worker(find_place(), name="place of the key")
        self._look()
        self.set_focus(self.pane)
        if not of and provider.base_url and (self._changes.is_set(variable) or not variable):
            self.pane.go_to(fields.MODEL)
            self._begin(self._list(show=False))
        elif not of:
            self.pane.go_to(self._key_path if variable else fields.URL)

    def on_unmount(self) -> None:
        if self._work is not None:
            self._work.cancel()

    def on_paste(self, event: events.Paste) -> None:
        """Take a key that was pasted while its place has the focus."""
        if self._where in (fields.SOURCE, fields.KEEP) and self._source in PASTED:
            event.stop()
            self.pane.set_text(self._key_path, event.text.strip())
            self.pane.go_to(self._key_path)

    @property
    def _where(self) -> Path:
        return self.pane.current.path if self.pane.current is not None else ()

    @property
    def _source(self) -> str:
        """Where the key of the profile is."""
        if self._key_of:
            return str(self._form.value()[0].get(fields.KEEP[0], PASTED[0]))
        field = self._form.field(fields.SOURCE)
        return list(fields.SOURCES)[field.arm if field is not None else 0]

    @property
    def _key_path(self) -> Path:
        """The field of the key, or of its variable."""
        own = fields.KEY if self._source in PASTED else fields.VARIABLE
        return fields.NEW_KEY if self._key_of else own

    def _values(self) -> ModelValues:
        if of := self._key_of:
            key = self.text(fields.NEW_KEY)
            return ModelValues(of.name, of.base_url, of.model, self._source, "", key, is_new=False)
        name = self.text(fields.NAME).strip() or self._proposed_name
        url, model, variable, key = map(self.text, (fields.URL, fields.MODEL, fields.VARIABLE, fields.KEY))
        return ModelValues(name, url, model, self._source, variable, key)

    @property
    def _proposed_name(self) -> str:
        model = self.text(fields.MODEL).strip()
        return self._changes.free_name(model) if model else ""

    def _look(self) -> None:
        """Show what is known about the models and the key."""
        provider, source, note = self._provider, self._source, self.pane.note
        page = _("Get a key at {page}", page=provider.key_page) if provider.key_page else ""
        place, why = localized(self._place), localized(self._no_keychain) if source == STORED else ""
        kept = _("Stored in {place}, not in the configuration.", place=place) if place else ""
        about = sentences(_(fields.FORGOTTEN) if source == THIS_RUN else kept, page)
        missing = _("No keychain: {why}.", why=why) if why else ""
        key = FieldNote(about, missing, is_error=False, placeholder=_("paste the key"))
        if of := self._key_of:
            note(fields.NEW_KEY, key)
            note(fields.KEEP, FieldNote(_("Sent to {url} only.", url=clean_line(of.base_url, 200))))
        else:
            variable = self.text(fields.VARIABLE).strip()
            is_set = self._changes.is_set(variable)
            unset = _(fields.UNSET, name=variable)
            unset, about = "" if is_set or not variable else unset, "" if is_set else page
            note(fields.KEY, key)
            note(fields.VARIABLE, FieldNote(about, unset, is_error=False, placeholder="NAME"))
            note(fields.URL, FieldNote(placeholder="https://HOST/v1"))
            note(fields.MODEL, FieldNote(self._about_models, placeholder=_("model ID")))
            note(fields.NAME, FieldNote(placeholder=self._proposed_name or _("default: from the model")))
        self.show_keys()
        self.fit()

    def _say(self, text: str) -> None:
        """Show a state next to the button; "" shows the keys of the current field."""
        self._told = text
        self.show_keys()

    def show_keys(self, said: str = "") -> None:
        field = self.pane.current if self.focused is self.pane else None
        self.KEYS = (("←→", _("choose")),) if field is not None and field.labels else ()
        super().show_keys(said or self._told)

    def on_form_pane_moved(self, event: FormPane.Moved) -> None:
        event.stop()
        self.show_keys()

    def on_form_pane_changed(self, event: FormPane.Changed) -> None:
        event.stop()
        if self._listed is not None and _endpoint(self._listed) != _endpoint(self._values()):
            self._ids, self._listed = (), None
            self._describe_models()
        self._told = ""
        self.say("")
        self._look()

    def _begin(self, work: Coroutine[Any, Any, None]) -> None:
        if self._work is not None:
            self._work.cancel()
        self._work = asyncio.create_task(work, name="model form")

    def action_down(self) -> None:
        """Choose one of the endpoint's models in the field for it, otherwise go to the next field."""
        if self.focused is not self.pane or self._where != fields.MODEL:
            self.pane.action_form_next()
        elif self._ids:
            self._open_ids()
        else:
            self._begin(self._list(show=True))

    def _describe_models(self, words: str = "") -> None:
        n = len(self._ids)
        listed = n_("↓ choose from {n} model", "↓ choose from {n} models", n) if n else _("↓ list the models")
        self._about_models = words or listed
        self._look()

    async def _list(self, *, show: bool) -> None:
        values = self._values()
        self._describe_models(_("Loading the models…"))
        try:
            found = await self._changes.offered(values)
        except McptuiError as error:
            self._describe_models()
            if show:
                self._complain(error)
            return
        if _endpoint(values) == _endpoint(self._values()):
            self._ids, self._listed = tuple(found[:MOST_MODELS]), values
        self._describe_models()
        if show and self._ids:
            self._open_ids()
        elif show:
            self.say(_("The endpoint lists no models. Enter a model ID."))

    def _open_ids(self) -> None:
        def chosen(model: str | None) -> None:
            if model is not None:
                self.pane.set_text(fields.MODEL, model)

        choices = [(one, Content(clean_line(one, 120))) for one in self._ids]
        at = self.pane.place_of_row()
        self.app.push_screen(Picker(_("Models"), choices, self.text(fields.MODEL), finds=True, at=at), chosen)

    def action_save(self) -> None:
        """Try the model and save the profile. After a failure, saving it again unchanged skips the check."""
        if self.is_current and not self._is_saving:
            self._begin(self._save(self._values()))

    async def _save(self, values: ModelValues) -> None:
        self._is_saving = True
        self.say("")
        try:
            if values != self._tried:
                self._say(_("Trying {model}…", model=clean_line(values.model, 60)))
                self._changes.check(values)
                self._tried = values
                await self._changes.try_out(values)
            self._tried = None
            self._say(_("Saving…"))
            await (self._changes.replace_key(values) if self._key_of else self._changes.add(values))
        except McptuiError as error:
            self._complain(error)
            self._say(_("ctrl+s again to save anyway   esc cancel") if self._tried == values else "")
        else:
            self.dismiss(values.name)
        finally:
            self._is_saving = False

    def _complain(self, error: McptuiError) -> None:
        self.say(clean_line(localized(error), 400))
        if error.next_step in KEY_STEPS:
            is_pasted = self._source in PASTED
            self.set_focus(self.pane)
            self.pane.go_to(self._key_path if is_pasted else fields.SOURCE, replace=is_pasted)


def _endpoint(values: ModelValues) -> tuple[str, ...]:
    return values.base_url, values.key, values.variable, values.secret


def add_model(
    app: App[Any], keys: KeyOverrides, changes: ModelChanges, added: Callable[[str | None], None]
) -> None:
    """Ask for a provider, then for the rest; `added` gets the name of the new profile, or None."""
    providers = tuple(changes.providers())

    def done(name: str | None) -> None:
        if name is not None:
            app.notify(_("Added the model “{name}” and switched to it.", name=name), timeout=4)
        added(name)

    def chosen(index: str | None) -> None:
        if index is not None:
            app.push_screen(ModelForm(keys, changes, providers[int(index)]), done)

    choices = [(str(at), fields.line_of(changes, one)) for at, one in enumerate(providers)]
    app.push_screen(Picker(_("Add model"), choices, finds=True), chosen)


def replace_key(
    app: App[Any],
    keys: KeyOverrides,
    changes: ModelChanges,
    of: ModelValues,
    replaced: Callable[[], object],
) -> None:
    """Ask for another key of a profile, which `changes` tries, keeps and uses."""

    def done(name: str | None) -> None:
        if name is not None:
            words = _(
                "“{name}” uses the new key. /retry sends the last question again.", name=clean_line(name, 64)
            )
            app.notify(words)
            replaced()

    app.push_screen(ModelForm(keys, changes, key_of=of), done)
