"""The models screen: configured and discovered models, and the models that an endpoint offers."""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar
from urllib.parse import urlsplit

from textual.binding import BindingType

from tui.core import units
from tui.core.errors import McptuiError
from tui.core.language.translate import N_, _, localized, n_
from tui.core.matching import has_words
from tui.core.ports import EFFORTS, ModelChoice
from tui.core.text import clean_line
from tui.ui.dialogs.dialog import heading
from tui.ui.keys.action_table import Action, Context
from tui.ui.keys.bindings import KeyOverrides, bindings_of
from tui.ui.lists.finder import FinderScreen
from tui.ui.lists.items import (
    HEADINGS,
    OFFLINE,
    FinderItem,
    choice_item,
    effort_item,
    fits,
    free_item,
    id_item,
    words,
)
from tui.ui.widgets.rows import EMPTY, Row

if TYPE_CHECKING:
    from tui.runtime.conversations import Conversations

CONFIGURATION, EDIT = "configuration", "/config"
"""The source of the user's own profiles, and the command that edits their file."""

MOST_IDS = 500

_WAYS = N_(
    "To use another model, press ctrl+n, set an API key such as OPENAI_API_KEY, or start Ollama or LM Studio."
)


@dataclass(slots=True)
class EndpointModels:
    """The models that an endpoint offers, as far as it has responded."""

    choice: ModelChoice
    ids: Sequence[str] = ()
    loading: bool = True
    problem: str = ""
    task: asyncio.Task[None] | None = None


class ModelsScreen(FinderScreen[bool | None]):
    """Switches the model, unless `busy` returns a reason against it; returns whether it was switched.

    `purpose` says what the model is for, if not for all further turns. `add` asks for a new profile and calls
    its argument with the name of the new profile, or None. `replace_key` asks for another key of a profile.
    """

    CONTEXTS = (Context.MODELS,)
    PLACEHOLDER = N_("model, profile or URL")
    OPENED_BY = "chat.models"
    BINDINGS: ClassVar[list[BindingType]] = bindings_of(Context.MODELS)

    def __init__(
        self,
        conversations: "Conversations",
        overrides: KeyOverrides,
        *,
        add: Callable[[Callable[[str | None], None]], None],
        replace_key: Callable[[str], Coroutine[Any, Any, None]],
        busy: Callable[[], str],
        purpose: str = "",
    ) -> None:
        super().__init__(overrides)
        self._conversations = conversations
        self._add = add
        self._replace_key = replace_key
        self._busy = busy
        self._purpose = purpose
        self._choices: Sequence[ModelChoice] | None = None
        self._offer: EndpointModels | None = None

    def on_mount(self) -> None:
        self._title(_("looking…"))
        self.keep_task(self._read(), "list the models")

    @property
    def _efforts(self) -> dict[str, ModelChoice]:
        """The current model with each other reasoning effort, for a comparison, by the key of its item."""
        now = self._conversations.effort
        return {
            f"{one.model} effort\n{level}": one
            for one in self._choices or ()
            if self._purpose and one.current and one.where != OFFLINE
            for level in EFFORTS
            if level != now
        }

    async def _read(self) -> None:
        try:
            self._choices = await self._conversations.active_model.choices()
        finally:
            self._choices = self._choices or ()
            if self.is_mounted and self._offer is None:
                current = next((one.name for one in self._choices if one.current), "")
                self.show_items(current)

    def show_items(self, key: str = "") -> None:
        text, offer = self.field.value.strip(), self._offer
        if offer is not None:
            self.list.show(self._ids(offer, text), key)
            self._title("")
        elif self._choices is not None:
            shown = [choice_item(one) for one in self._choices if fits(one, text)]
            if shown:
                shown.insert(0, HEADINGS)
            elif self._choices:
                ids = self.overrides.first_of("model.offered")
                about = (
                    _("No profile matches “{words}”.", words=clean_line(text, 60)),
                    _("Press {key} to list the models of an endpoint.", key=ids),
                )
                shown = [words(""), *map(words, about)]
            shown += [effort_item(key) for key in self._efforts if has_words(key, text)]
            if not text and all(one.where == OFFLINE for one in self._choices):
                shown += [words(""), words(_(_WAYS))]
            self.list.show(shown, key)
            self._title("")

    def _ids(self, offer: EndpointModels, text: str) -> list[FinderItem]:
        if offer.loading:
            items = [words(""), words(_("Loading models…"))]
        elif offer.problem:
            items = [words(""), words(localized(offer.problem), "bad")]
        else:
            found = [one for one in offer.ids if has_words(one, text)]
            now = offer.choice.model if offer.choice.current else ""
            items = [id_item(one, current=one == now) for one in found[:MOST_IDS]]
            if len(found) > MOST_IDS:
                items.append(words(_("and {n} more, type to filter", n=len(found) - MOST_IDS)))
            if not offer.ids:
                items = [words(""), words(_("The endpoint lists no models. Enter a model ID."))]
        if text and text not in offer.ids:
            items.append(free_item(text))
        return items

    def _title(self, state: str) -> None:
        offer, of, models = self._offer, self._purpose, len(self._choices or ())
        if offer is not None:
            of = _("of {profile}", profile=clean_line(offer.choice.name, 60))
            models = models if offer.loading or offer.problem else len(offer.ids)
        count = state or n_("{n} model", "{n} models", models)
        self.title_line.show(heading(_("Models"), of), ((count, "dim"),))

    def about(self, key: str) -> Row:
        if (choice := self._profile) is None:
            return EMPTY
        source = clean_line(_(choice.source), 40)
        if choice.source == CONFIGURATION:
            source = _("in the configuration, {command} edits it", command=EDIT)
        host = _("offline") if choice.where == OFFLINE else choice.where
        with suppress(ValueError):  # without the password of a URL
            host = urlsplit(host).netloc.rpartition("@")[2] or host
        facts = [clean_line(host, 80), source]
        if choice.where != OFFLINE:
            window = _("window {tokens} tokens", tokens=units.count(choice.window or 0))
            facts.append(window if choice.window else _("context window unknown"))
        return (("   ".join((*facts, *(clean_line(localized(one), 80) for one in choice.facts))), "dim"),)

    def offers(self, found: Action) -> bool:
        choice, profile = self._choice(self.list.current) if self._offer is None else None, self._profile
        match found.id:
            case "model.forget":
                return choice is not None and bool(choice.learned)
            case "model.key":
                return profile is not None and profile.where != OFFLINE
            case "model.leave" | "model.add":
                return True
        return self._offer is not None or bool(self.list.current)

    def show_keys(self, **labels: str) -> None:
        super().show_keys(**(labels if self._offer is None else {"leave": N_("back"), "offered": ""}))

    @property
    def _profile(self) -> ModelChoice | None:
        """The selected profile, or the one whose models are listed."""
        return self._choice(self.list.current) if self._offer is None else self._offer.choice

    def _choice(self, name: str) -> ModelChoice | None:
        return next((one for one in self._choices or () if one.name == name), None)

    def action_model_offered(self) -> None:
        if self._back():
            return
        self.refilter()
        if (choice := self._choice(self.list.current)) is None:
            return
        offer = self._offer = EndpointModels(choice)
        self.empty_quietly()
        self.show_items()
        offer.task = self.keep_task(self._ask(offer), "ask which models there are")

    async def _ask(self, offer: EndpointModels) -> None:
        try:
            offer.ids = await self._conversations.active_model.offered(offer.choice.name)
        except McptuiError as error:
            offer.problem = localized(error)
        offer.loading = False
        if offer is self._offer:
            self.show_items(offer.choice.model)

    def _back(self) -> bool:
        """Close the list of an endpoint's models; return False if it is not open."""
        offer, self._offer = self._offer, None
        if offer is not None:
            if offer.task is not None:
                offer.task.cancel()
            self.empty_quietly()
            self.show_items(offer.choice.name)
        return offer is not None

    def _is_busy(self) -> bool:
        """Return whether the model cannot be switched now, and say why."""
        if problem := self._busy():
            self.tell(problem, "warn")
        return bool(problem)

    def action_model_add(self) -> None:
        """Add a profile and switch to it."""

        def added(name: str | None) -> None:
            if name is not None and self.is_current:
                self.dismiss(True)

        if not self._is_busy():
            self._add(added)

    def action_model_key(self) -> None:
        """Ask for another key of the profile, and switch to it."""
        choice = self._profile
        if self._is_busy():
            return
        if choice is None or choice.where == OFFLINE:
            self.tell(_("The demo model needs no key.") if choice is not None else _("No models"), "warn")
        else:
            self.keep_task(self._replace_key(choice.name), "paste a key")

    def action_model_take(self) -> None:
        self.choose()

    def take(self, key: str) -> None:
        if self._is_busy():
            return
        name, model = (key, "") if self._offer is None else (self._offer.choice.name, key)
        effort: str | None = None
        if name in self._efforts:
            current = self._efforts[name]
            name, model, effort = current.name, current.model, name.rpartition("\n")[2]

        async def switch() -> None:
            self.tell(_("switching…"), "dim", lasting=True)
            await self._conversations.switch(name, model, effort, for_branch=bool(self._purpose))
            self.tell("")
            if self.is_current:
                self.dismiss(True)

        self.keep_task(switch(), "switch the model")

    def action_model_forget(self) -> None:
        choice = self._choice(self.list.current) if self._offer is None else None
        if choice is None or not choice.learned:
            why = _("Nothing was learned about this endpoint.")
            self.tell(why if choice else _("Select a configured model first."), "warn")
            return
        if choice.current and self._is_busy():
            return

        async def forget() -> None:
            await self._conversations.forget_learned(choice.name)
            self._choices = await self._conversations.active_model.choices()
            self.show_items(choice.name)
            self.tell(_("Forgot what was learned about {model}.", model=clean_line(choice.model, 60)))

        self.keep_task(forget(), "forget what was learned")

    def action_model_leave(self) -> None:
        if not self.empty_field() and not self._back():
            self.dismiss(None)
