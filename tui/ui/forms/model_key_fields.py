"""The fields for the key of a model profile: where it is, and the key itself or the name of its variable."""

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING

from textual import events
from textual.app import ComposeResult
from textual.containers import Vertical

from tui.core.text import clean_line
from tui.ui.widgets.inputs import Choices, Field, FormField

if TYPE_CHECKING:
    from tui.runtime.model_changes import ModelChanges, ModelValues, ProviderChoice

KEYS = (
    ("environment", "environment variable"),
    ("store", "store"),
    ("run", "this run only"),
    ("none", "none"),
)
PASTED = ("store", "run")
"""The choices for which the key is pasted."""

FORGOTTEN = "Kept in memory only and forgotten when mcptui quits."


class KeyFields(Vertical):
    """Says of each choice, before it is saved, where the key would be and what is missing.

    `changed` is called after another choice. With `only`, the key is pasted for that profile.
    """

    DEFAULT_CSS = "KeyFields { width: 1fr; height: auto; }"

    def __init__(
        self,
        changes: "ModelChanges",
        provider: "ProviderChoice",
        changed: Callable[[], object],
        *,
        only: "ModelValues | None" = None,
    ) -> None:
        super().__init__()
        self._changes = changes
        self._provider = provider
        self._only = only
        source = "store" if only or not provider.is_set else "environment"
        if not (provider.variable or only):
            source = "none"
        options = [one for one in KEYS if not only or one[0] in PASTED]
        self._source = Choices(options, source, changed, id="source")
        self.variable = Field(provider.variable, placeholder="NAME", compact=True, select_on_focus=False)
        self.secret = Field(placeholder="paste the key", password=True, compact=True)
        self._variable_field = FormField("Variable", self.variable)
        self._secret_field = FormField("Key", self.secret)
        self._place = self._no_keychain = ""
        self._placing: asyncio.Task[None] | None = None

    def compose(self) -> ComposeResult:
        if only := self._only:
            yield self._secret_field
            about = f"Sent to {clean_line(only.base_url, 200)} only."
            yield FormField("Keep it", self._source, about=about)
        else:
            yield FormField("API key", self._source)
            yield self._variable_field
            yield self._secret_field

    def on_mount(self) -> None:
        self._placing = asyncio.create_task(self._find_place(), name="place of the key")

    def on_unmount(self) -> None:
        if self._placing is not None:
            self._placing.cancel()

    @property
    def chosen(self) -> str:
        return self._source.chosen

    @property
    def first(self) -> Field:
        """The field to fill in."""
        return self.secret if self.chosen in PASTED else self.variable

    def enter_again(self) -> None:
        """Focus what has to change: the key, selected so that another one replaces it, or where it is."""
        if self.chosen not in PASTED:
            self._source.focus()
            return
        self.secret.focus()
        self.secret.select_all()

    def on_paste(self, event: events.Paste) -> None:
        """Take a key that was pasted while the choices have the focus."""
        if self._source.has_focus and self.chosen in PASTED:
            event.stop()
            self.secret.focus()
            self.secret.value = event.text.strip()

    async def _find_place(self) -> None:
        self._place, self._no_keychain = await self._changes.key_place()
        self.look()

    def look(self) -> None:
        """Show the fields of the choice, and what is known about the key."""
        source = self.chosen
        self._variable_field.display = source == "environment"
        self._secret_field.display = source in PASTED
        page = f" Get a key at {self._provider.key_page}" if self._provider.key_page else ""
        variable = self.variable.value.strip()
        known = variable == self._provider.variable
        is_set = self._provider.is_set if known else self._changes.is_set(variable)
        self._variable_field.describe("" if is_set else page.strip())
        self._variable_field.complain(
            f"{variable} is not set. Choose “store” or “this run only” to paste the key instead."
            if variable and not is_set
            else "",
            is_error=False,
        )
        place = f"Stored in {self._place}, not in the configuration." if self._place else ""
        self._secret_field.describe((FORGOTTEN if source == "run" else place) + page)
        missing = f"No keychain: {self._no_keychain}." if self._no_keychain and source == "store" else ""
        self._secret_field.complain(missing, is_error=False)
