"""Asks for a model profile (endpoint, key, model), or only for its key, and tries it before saving."""

import asyncio
from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any, ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input

from tui.core.errors import McptuiError
from tui.core.text import clean_line
from tui.core.units import plural
from tui.ui.dialogs.picker import FindingPicker, PickerChoice
from tui.ui.forms.model_key_fields import KeyFields
from tui.ui.widgets.inputs import Button, Choices, Field, FormField, type_into
from tui.ui.widgets.literal import Literal

if TYPE_CHECKING:
    from tui.runtime.model_changes import ModelChanges, ModelValues, ProviderChoice

FROM_MODEL = "default: from the model"
MOST_MODELS = 2000

AROUND, PROBLEM_ROWS = 7, 4
"""Rows of the form around its fields, and rows for a problem."""


class ModelForm(ModalScreen[str | None]):
    """Adds a profile with `changes`, or replaces the key of `key_of`; returns its name, or None."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "back", "Cancel", priority=True),
        Binding("tab", "app.focus_next", "Next field", priority=True),
        Binding("shift+tab", "app.focus_previous", "Previous field", priority=True),
        Binding("ctrl+s,ctrl+enter", "save", "Save", priority=True),
        Binding("down", "down", "Choose model, or next field", priority=True),
        Binding("up", "app.focus_previous", "Previous field", priority=True),
    ]

    DEFAULT_CSS = """
    ModelForm { align: center bottom; background: $surface 60%; }
    ModelForm > Vertical {
        width: 100%; height: auto; max-height: 100%; padding: 1 3; margin: 0 0 1 0;
        background: $panel; border-left: outer $accent;
    }
    ModelForm > Vertical > * { max-width: 104; }
    ModelForm .title { width: 1fr; text-style: bold; margin-bottom: 1; }
    ModelForm VerticalScroll { height: auto; scrollbar-size-vertical: 1; }
    ModelForm #problem { width: 1fr; height: auto; max-height: 4; padding: 0 0 0 2; color: $bad; }
    ModelForm .buttons { height: 1; margin-top: 1; }
    ModelForm .buttons Literal { width: 1fr; margin-left: 3; color: $text-dim; }
    """

    def __init__(
        self,
        changes: "ModelChanges",
        provider: "ProviderChoice | None" = None,
        *,
        key_of: "ModelValues | None" = None,
    ) -> None:
        from tui.runtime.model_changes import ProviderChoice

        super().__init__()
        self._changes = changes
        self._key_of = key_of
        if provider is None:
            of = key_of
            provider = (
                ProviderChoice(of.name, of.name, of.base_url, model=of.model)
                if of
                else ProviderChoice("", "")
            )
        self._provider = provider
        self._url = Field(
            provider.base_url, placeholder="https://HOST/v1", compact=True, select_on_focus=False
        )
        self._key = KeyFields(changes, provider, self._look, only=key_of)
        self._model = Field(provider.model, placeholder="model ID", compact=True)
        self._model_field = FormField("Model", self._model, required=True)
        name = changes.free_name(provider.name) if provider.name and not key_of else provider.name
        self._called = Field(name, placeholder=FROM_MODEL, max_length=64, compact=True, select_on_focus=False)
        self._state = Literal("")
        self._problem = Literal("", id="problem")
        self._problem.display = False
        self._ids: tuple[str, ...] = ()
        self._listed: ModelValues | None = None
        self._tried: ModelValues | None = None  # values that failed: saved without a check next time
        self._work: asyncio.Task[None] | None = None
        self._is_saving = False
        self._told = ""

    def compose(self) -> ComposeResult:
        with Vertical():
            of = self._key_of
            about = f"API key · {clean_line(of.name, 64)}" if of else f"Add model · {self._provider.title}"
            yield Literal(about, classes="title")
            with VerticalScroll(can_focus=False):
                if of:
                    yield self._key
                else:
                    yield FormField("Base URL", self._url, required=True)
                    yield self._key
                    yield self._model_field
                    yield FormField("Profile name", self._called)
            yield self._problem
            with Horizontal(classes="buttons"):
                yield Button("Save", "ctrl+s", self.action_save)
                yield self._state

    def on_mount(self) -> None:
        self._look()
        has_key = (self._provider.is_set or not self._provider.variable) and not self._key_of
        self.set_focus(self._model if self._provider.base_url and has_key else self._first)
        if self._provider.base_url and has_key:
            self._begin(self._list(show=False))

    @property
    def _first(self) -> Field:
        """The first field to fill in."""
        return self._key.first if self._provider.variable or self._key_of else self._url

    def on_unmount(self) -> None:
        if self._work is not None:
            self._work.cancel()

    def on_key(self, event: events.Key) -> None:
        """Accept characters that were typed before the form had the focus."""
        if self.focused is None:
            type_into(self._first, event)

    @property
    def _profile_name(self) -> str:
        """The name of the profile: by default the model's, which the placeholder shows."""
        shown = self._called.placeholder
        return self._called.value.strip() or ("" if shown == FROM_MODEL else str(shown))

    def _values(self) -> "ModelValues":
        from tui.runtime.model_changes import ModelValues

        return ModelValues(
            self._profile_name,
            self._url.value,
            self._model.value,
            self._key.chosen,
            self._key.variable.value,
            self._key.secret.value,
            is_new=self._key_of is None,
        )

    def _look(self) -> None:
        """Show what is known about the models and the key."""
        self._key.look()
        self._model_field.describe(self._about_models())
        self._say("")

    def _about_models(self) -> str:
        return f"↓ choose from {plural(len(self._ids), 'model')}" if self._ids else "↓ list the models"

    def _say(self, text: str) -> None:
        """Show a state next to the button; "" shows the keys of the focused field."""
        self._told = text
        choose = "←→ choose   " if isinstance(self.focused, Choices) else ""
        self._state.show(text or f"esc cancel   {choose}enter next field")

    def on_descendant_focus(self) -> None:
        if not self._told:
            self._say("")

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        if self._listed is not None and not self._same_endpoint(self._listed):
            self._ids, self._listed = (), None
        self._show_problem("")
        if event.input is self._model:
            self._propose_name()
        self._look()

    def _propose_name(self) -> None:
        model = self._model.value.strip()
        self._called.placeholder = self._changes.free_name(model) if model else FROM_MODEL

    def _same_endpoint(self, other: "ModelValues") -> bool:
        now = self._values()
        return (now.base_url, now.key, now.variable, now.secret) == (
            other.base_url,
            other.key,
            other.variable,
            other.secret,
        )

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Go to the next field. Does not save, since a line may be typed by mistake."""
        event.stop()
        self.focus_next()

    def _begin(self, work: Coroutine[Any, Any, None]) -> None:
        if self._work is not None:
            self._work.cancel()
        self._work = asyncio.create_task(work, name="model form")

    def action_down(self) -> None:
        """Choose one of the endpoint's models in the field for it, otherwise go to the next field."""
        if self.focused is not self._model:
            self.focus_next()
        elif self._ids:
            self._open_ids()
        else:
            self._begin(self._list(show=True))

    async def _list(self, *, show: bool) -> None:
        values = self._values()
        self._model_field.describe("Loading the models…")
        try:
            found = await self._changes.offered(values)
        except McptuiError as error:
            self._model_field.describe(self._about_models())
            if show:
                self._complain(error)
            return
        if self._same_endpoint(values):
            self._ids, self._listed = tuple(found[:MOST_MODELS]), values
        self._model_field.describe(self._about_models())
        if show and self._ids:
            self._open_ids()
        elif show:
            self._show_problem("! The endpoint lists no models. Enter a model ID.")

    def _open_ids(self) -> None:
        choices = [PickerChoice(one, Content(clean_line(one, 120))) for one in self._ids]

        def chosen(model: str | None) -> None:
            if model is not None:
                self._model.value = model
                self.set_focus(self._model)

        self.app.push_screen(FindingPicker("Models", choices, self._model.value), chosen)

    def action_save(self) -> None:
        """Try the model and save the profile. After a failure, saving it again unchanged skips the check."""
        if self.is_current and not self._is_saving:
            self._propose_name()
            self._begin(self._save(self._values()))

    async def _save(self, values: "ModelValues") -> None:
        self._is_saving = True
        self._show_problem("")
        try:
            if values != self._tried:
                self._say(f"Trying {clean_line(values.model, 60)}…")
                self._changes.check(values)
                self._tried = values
                await self._changes.try_out(values)
            self._tried = None
            self._say("Saving…")
            await (self._changes.replace_key(values) if self._key_of else self._changes.add(values))
        except McptuiError as error:
            self._complain(error)
            self._say("ctrl+s again to save anyway   esc cancel" if self._tried == values else "")
        else:
            self.dismiss(values.name)
        finally:
            self._is_saving = False

    def _complain(self, error: McptuiError) -> None:
        from tui.runtime.model_changes import KEY_STEPS

        self._show_problem(f"! {clean_line(str(error), 400)}")
        if error.next_step in KEY_STEPS:
            self._key.enter_again()

    def _show_problem(self, text: str) -> None:
        self._problem.show(text)
        self._problem.display = bool(text)
        self._fit()

    def on_resize(self) -> None:
        self._fit()

    def _fit(self) -> None:
        """Make the fields scroll if they would push the button off the screen."""
        around = AROUND + (PROBLEM_ROWS if self._problem.display else 0)
        for fields in self.query(VerticalScroll):
            fields.styles.max_height = max(3, self.app.size.height - around)

    def action_back(self) -> None:
        self.dismiss(None)
