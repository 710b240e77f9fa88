"""Opens the dialogs that add a model profile, or replace its key."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from textual.app import App
from textual.content import Content

from tui.core.text import clean_line
from tui.ui.dialogs.picker import Picker, PickerChoice
from tui.ui.forms.model_form import ModelForm
from tui.ui.keys.bindings import KeyOverrides

if TYPE_CHECKING:
    from tui.runtime.model_changes import ModelChanges, ModelValues, ProviderChoice

TITLE_CELLS = 18


def add_model(
    app: App[Any], keys: KeyOverrides, changes: "ModelChanges", added: Callable[[str | None], None]
) -> None:
    """Ask for a provider, then for the rest; `added` gets the name of the new profile, or None."""
    providers = tuple(changes.providers())

    def line(one: "ProviderChoice") -> Content:
        about = f"{one.variable} is {'set' if one.is_set else 'not set'}" if one.variable else one.base_url
        return Content(f"{one.title:<{TITLE_CELLS}}{about}")

    def done(name: str | None) -> None:
        if name is not None:
            app.notify(f"Added the model “{name}” and switched to it.", timeout=4)
        added(name)

    def chosen(index: str | None) -> None:
        if index is not None:
            app.push_screen(ModelForm(keys, changes, providers[int(index)]), done)

    choices = [PickerChoice(str(at), line(one)) for at, one in enumerate(providers)]
    app.push_screen(Picker("Add model", choices, finds=True), chosen)


def replace_key(
    app: App[Any],
    keys: KeyOverrides,
    changes: "ModelChanges",
    of: "ModelValues",
    replaced: Callable[[], object],
) -> None:
    """Ask for another key of a profile, which `changes` tries, keeps and uses."""

    def done(name: str | None) -> None:
        if name is not None:
            app.notify(f"“{clean_line(name, 64)}” uses the new key. /retry sends the last question again.")
            replaced()

    app.push_screen(ModelForm(keys, changes, key_of=of), done)
