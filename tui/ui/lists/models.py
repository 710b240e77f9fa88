"""The models that can be asked: those that are configured or found, and what an endpoint offers."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from textual.binding import BindingType

from tui.core import units
from tui.core.errors import McptuiError
from tui.core.ports import ModelChoice
from tui.core.text import clean_line
from tui.ui.keys.actions import Action, Context
from tui.ui.keys.bindings import bindings_of
from tui.ui.keys.key_overrides import KeyOverrides
from tui.ui.lists.finder import Finder
from tui.ui.lists.items import Item, words
from tui.ui.lists.model_items import OFFLINE, choice_item, fits, free_item, id_item
from tui.ui.widgets.rows import EMPTY, Row
from tui.ui.widgets.symbols import Symbols

if TYPE_CHECKING:
    from tui.runtime.conversations import Conversations

MOST_IDS = 500

_WAYS = (
    "Three ways to another model: an API key in the environment such as OPENAI_API_KEY; Ollama "
    "or LM Studio running here; [models] in the configuration."
)


@dataclass(slots=True)
class Offer:
    """What the endpoint of a choice offers, as far as it has answered."""

    choice: ModelChoice
    ids: Sequence[str] = ()
    loading: bool = True
    problem: str = ""
    task: asyncio.Task[None] | None = None


class ModelsScreen(Finder[bool | None]):
    """Gives whether another model is asked from now on.

    Args:
        conversations: knows the models.
        overrides: the keys in force.
        symbols: what the terminal can show.
        busy: why the model cannot be changed now, or "".
        purpose: what the model is chosen for, if it is not for all that follows.
    """

    CONTEXT = Context.MODELS
    CONTEXTS = (Context.MODELS,)
    PLACEHOLDER = "a model, a profile, an address"
    BINDINGS: ClassVar[list[BindingType]] = bindings_of(Context.MODELS)

    def __init__(
        self,
        conversations: "Conversations",
        overrides: KeyOverrides,
        symbols: Symbols,
        *,
        busy: Callable[[], str],
        purpose: str = "",
    ) -> None:
        super().__init__(conversations, overrides, symbols, busy)
        self._purpose = purpose
        self._choices: Sequence[ModelChoice] | None = None
        self._offer: Offer | None = None

    def on_mount(self) -> None:
        """Look which models there are."""
        super().on_mount()
        self._title("looking…")
        self.keep_task(self._read(), "list the models")

    async def _read(self) -> None:
        try:
            self._choices = await self.conversations.models()
        except McptuiError:
            self._choices = ()
            raise
        finally:
            if self.is_mounted and self._offer is None:
                current = next((one.name for one in self._choices or () if one.current), "")
                self._show(current)

    # ---- the list ----

    def sift(self, text: str) -> None:
        """Show the models that fit, or the ids of the endpoint."""
        self._show()

    def _show(self, key: str = "") -> None:
        text, offer = self.field.value.strip(), self._offer
        if offer is not None:
            self.list.show(self._ids(offer, text), key)
            self._title("")
        elif self._choices is not None:
            shown = [choice_item(one, self.symbols) for one in self._choices if fits(one, text)]
            if not shown:
                about = f"No model fits “{clean_line(text, 60)}”." if self._choices else _WAYS
                shown = [words(""), words(about)]
                if self._choices:
                    shown.append(
                        words(f"{self.key('model.offered')} on a model lists what its endpoint offers.")
                    )
            elif not text and all(one.where == OFFLINE for one in self._choices):
                shown += [words(""), words(_WAYS)]
            self.list.show(shown, key)
            self._title("")

    def _ids(self, offer: Offer, text: str) -> list[Item]:
        if offer.loading:
            items = [words(""), words("Asking the endpoint which models it offers…   esc goes back")]
        elif offer.problem:
            items = [words(""), words(offer.problem, "bad")]
        else:
            found = [one for one in offer.ids if text.casefold() in one.casefold()]
            now = offer.choice.model if offer.choice.current else ""
            items = [id_item(one, current=one == now, symbols=self.symbols) for one in found[:MOST_IDS]]
            if len(found) > MOST_IDS:
                items.append(words(f"and {len(found) - MOST_IDS} more: write a part of the name"))
            if not offer.ids:
                items = [words(""), words("The endpoint lists no models. Write the id of one.")]
        if text and text not in offer.ids:
            items.append(free_item(text))
        return items

    def _title(self, state: str) -> None:
        left: Row = (("MODELS", "accent bold"),)
        offer = self._offer
        if offer is not None:
            left = (*left, (f"   {clean_line(offer.choice.name, 60)} offers", "text"))
            state = state or ("" if offer.loading or offer.problem else f"{len(offer.ids)} ")
        elif self._purpose:
            left = (*left, (f"   {self._purpose}", "text"))
        self.title_line.show(left, ((state or f"{len(self._choices or ())} ", "dim"),))

    def about(self, key: str) -> Row:
        """Return the address of a model, whole."""
        offer = self._offer
        choice = offer.choice if offer is not None else self._choice(key)
        if choice is None:
            return EMPTY
        window = f"   {units.count(choice.window)} tokens fit into one request" if choice.window else ""
        return ((f"{clean_line(choice.where, 200)}{window}", "dim"),)

    def offers(self, found: Action) -> bool:
        """Taking needs something to take."""
        return found.id == "model.leave" or self._offer is not None or bool(self.list.current)

    def _choice(self, name: str) -> ModelChoice | None:
        return next((one for one in self._choices or () if one.name == name), None)

    # ---- what an endpoint offers ----

    def action_model_offered(self) -> None:
        """List what the endpoint of the marked model offers; from there, go back."""
        if self._offer is not None:
            self._back()
            return
        self.resift()
        choice = self._choice(self.list.current)
        if choice is None:
            return
        offer = self._offer = Offer(choice)
        self._empty_quietly()
        self._show()
        offer.task = self.keep_task(self._ask(offer), "ask which models there are")

    async def _ask(self, offer: Offer) -> None:
        try:
            offer.ids = await self.conversations.offered(offer.choice.name)
        except McptuiError as error:
            offer.problem = str(error)
        offer.loading = False
        if offer is self._offer:
            self._show(offer.choice.model)

    def _back(self) -> None:
        offer, self._offer = self._offer, None
        if offer is not None:
            if offer.task is not None:
                offer.task.cancel()
            self._empty_quietly()
            self._show(offer.choice.name)

    def _empty_quietly(self) -> None:
        self.field.value = ""
        self._sifted = ""

    # ---- keys ----

    def action_model_take(self) -> None:
        """Ask the marked model from now on."""
        self.choose()

    def take(self, key: str) -> None:
        """Ask another model from now on."""
        if problem := self.busy():
            self.tell(problem, "warn")
            return
        offer = self._offer
        name, model = (offer.choice.name, key) if offer is not None else (key, "")

        async def switch() -> None:
            self.tell("switching…", "dim", lasting=True)
            await self.conversations.switch(name, model)
            self.tell("")
            if self.is_current:
                self.dismiss(True)

        self.keep_task(switch(), "switch the model")

    def action_model_leave(self) -> None:
        """Empty the field, go back from what an endpoint offers, leave the list."""
        if self.empty_field():
            return
        if self._offer is not None:
            self._back()
        else:
            self.dismiss(None)
