"""What the parts of a workbench share: its server, runtime, calls, keys, and the stored arguments."""

import os
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Any

from textual.content import Content

from tui.core.errors import McptuiError
from tui.core.forms.spec import Path
from tui.core.language.translate import N_, _, localized
from tui.core.secrets.walk import OMITTED
from tui.core.servers import LOG_LEVELS, SamplingRule, ServerStatus
from tui.core.text import clean_line, compact
from tui.core.tools import Tool
from tui.core.workbench import SavedCall, arguments_to_keep
from tui.runtime.options import absolute
from tui.traffic.filter.fields import written
from tui.ui.dialogs.confirm import change_trust
from tui.ui.dialogs.dialog import heading
from tui.ui.dialogs.picker import Choice, Picker
from tui.ui.forms.form_pane import FormPane
from tui.ui.widgets.rows import Row, filled
from tui.ui.widgets.server_rows import configured, trust_words
from tui.ui.workbench.calls import BenchHistory, HandCall
from tui.ui.workbench.items import Item
from tui.ui.workbench.saved_calls import saved_calls

if TYPE_CHECKING:
    from textual.screen import Screen

    from tui.core.context.context_parts import DefinitionTokens
    from tui.runtime.runtime import Runtime
    from tui.ui.keys.bindings import KeyOverrides
    from tui.ui.results.message_draft import MessageDraft
    from tui.ui.widgets.inputs import PromptLine


SAVE, FORGET = "\x00save", "\x00forget"
"""Entries of the list of saved arguments that save or delete some."""


_TOGGLED = {
    ("instructions", False): N_("The model does not get the instructions of this server."),
    ("instructions", True): N_("The model gets the instructions of this server."),
    ("offer_resources", False): N_("The model cannot read the resources of this server."),
    ("offer_resources", True): N_("The model can read the resources of this server."),
}
"""The notice when a field is turned off or on."""

RULES = (
    (SamplingRule.NEVER, N_("requests are declined")),
    (SamplingRule.ASK, N_("you review and can edit each request and reply")),
    (SamplingRule.ALLOW, N_("without asking, within its budget")),
)


@dataclass(frozen=True, slots=True, eq=False)
class BenchContext:
    """Data that the parts of a workbench share: its screen and server, the calls, the keys in use.

    `draft` is the message to the model.
    """

    screen: "Screen[Any]"
    runtime: "Runtime"
    server: str
    book: BenchHistory
    overrides: "KeyOverrides"
    prompt: "PromptLine"
    draft: "MessageDraft"

    def choose(self, choice: Coroutine[Any, Any, str], done: str = "") -> None:
        """Run an action that returns an error or "", and show the error, or `done`."""

        async def choose() -> None:
            if problem := await choice:
                self.screen.notify(clean_line(localized(problem), 400), severity="warning", markup=False)
            elif done:
                self.screen.notify(done, timeout=3, markup=False)

        self.screen.run_worker(choose(), exit_on_error=True)

    def _chosen(self, field: str, value: Any) -> Coroutine[Any, Any, str]:
        return self.runtime.configuration.choose(self.server, field, value)

    def toggle_tools(self) -> None:
        """Turn all tools off for the model, or on if any is off."""
        if (status := self.configured()) is not None:
            self.choose(self._chosen("off", () if status.spec.off else ("*",)))

    def toggle(self, field: str) -> None:
        """Turn a field of the server's configuration on or off, and say so."""
        if (status := self.configured()) is not None:
            is_on = not getattr(status.spec, field)
            self.choose(self._chosen(field, is_on), _(_TOGGLED[field, is_on]))

    def toggle_trust(self) -> None:
        def change(trusted: bool) -> None:
            if self.configured() is not None:
                self.choose(self.runtime.trust.toggle(self.server))
                words = trust_words(self.server, self.overrides.first_of("bench.trust"), trusted=trusted)
                self.screen.notify(words, markup=False)

        if (status := self.configured()) is not None:
            change_trust(status, change, self.screen.app.push_screen)

    def edit_roots(self) -> None:
        """Ask for the server's roots: the directories it may work in."""
        if (status := self.configured()) is None:
            return
        self.prompt.ask(
            _("roots, separated by commas"),
            lambda text: self.choose(self._chosen("roots", absolute(listed(text)))),
            value=", ".join(status.spec.roots),
            about=self.server,
            placeholder="~/src, /srv/data",
            check=lambda text: next(filter(None, map(root_problem, listed(text))), ""),
        )

    def choose_sampling(self) -> None:
        """Ask whether the server may use the model (sampling)."""
        if (status := self.configured()) is not None:
            words = [(one, Content.assemble(_(one.value), (f"   {_(about)}", "dim"))) for one, about in RULES]
            self._pick("sampling", Picker(_("Allow sampling?"), words, status.spec.sampling), SamplingRule)

    def choose_level(self) -> None:
        """Ask for the minimum level of the messages that the server logs."""
        if (status := self.configured()) is not None:
            now = status.spec.log_level
            words = [(one, Content(f"{one}   {_('now')}" if one == now else one)) for one in LOG_LEVELS]
            self._pick("log_level", Picker(_("Log level"), words, now or "info"))

    def _pick(self, field: str, picker: Picker, as_value: Callable[[str], object] = str) -> None:
        def chosen(value: str | None) -> None:
            if value is not None:
                self.choose(self._chosen(field, as_value(value)))

        self.screen.app.push_screen(picker, chosen)

    @property
    def status(self) -> ServerStatus | None:
        """The status of the server; None once it is no longer configured."""
        return self.runtime.host.find(self.server)

    @property
    def left_row(self) -> Row:
        """The row in place of the contents, once the server is no longer configured."""
        key = (self.overrides.first_of("bench.back"), "text bold")
        gone: Row = ((_("This server is no longer configured."), "bad"), (" ", ""))
        return (*gone, *filled(_("Press {key} to close the workbench."), "dim", key=key))

    def configured(self) -> ServerStatus | None:
        """Return the status of the server; if it is no longer configured, say so and return None."""
        return configured(self.runtime.host, self.server, self.screen.notify)

    def promised(self, item: "Item | None") -> "Mapping[str, Any] | None":
        """Return the output schema of an item that is a tool, or None."""
        about = item.about if item is not None else None
        return self.runtime.workbench.output_schema(about) if isinstance(about, Tool) else None

    def called_tool(self, item: "Item | None") -> str:
        """Return the name of an item that is a tool and has been called in this run, or ""."""
        entries = self.runtime.recording.entries
        name = item.about.name if item is not None and isinstance(item.about, Tool) else ""
        if not name or name not in entries.tools.texts or self.server not in entries.sources.texts:
            return ""
        tool, source = entries.tools.texts.index(name), entries.sources.texts.index(self.server)
        pairs = zip(entries.tool[: len(entries)], entries.source[: len(entries)], strict=True)
        return name if (tool, source) in pairs else ""

    def traffic_of(self, item: "Item | None", call: "HandCall | None") -> tuple[str, FilePath | None]:
        """Return the filter for the traffic of a call, of a called tool, or of the server, in this order.

        Of a call of an earlier run, returns its recording, too.
        """
        if call is not None:
            return f"call:{call.id}", call.past.path if call.past is not None else None
        tool = self.called_tool(item)
        return f"server:{written(self.server)}" + (f" tool:{written(tool)}" if tool else ""), None

    def why_no_calls(self, item: "Item | None") -> str:
        """Return where to find the model's calls if there are none by hand, or ""."""
        key = self.overrides.first_of("bench.call_traffic")
        words = _("No calls by hand yet. Press {key} for those of the model.", key=key)
        return words if self.called_tool(item) else ""

    @property
    def tokens(self) -> "DefinitionTokens | None":
        """The tokens of the server in each model request; None if there are none."""
        return self.runtime.request.definition_tokens().get(self.server) if self.runtime.is_ready else None

    # ---- stored arguments, without their secrets ----

    def remember(self, item: Item, arguments: object) -> Coroutine[Any, Any, None]:
        """Remember the arguments of a call, or those in a form on screen, for the form in the next run."""
        key, kept = item.call_key(self.server), self.arguments_to_keep(arguments)

        async def store() -> None:
            try:
                await self.runtime.calls.change(lambda memory: memory.called(key, kept))
            except McptuiError as error:
                self.screen.app.notify(localized(error), title=_("Not saved"), severity="warning")

        return store()

    def arguments_to_keep(
        self, arguments: object, instead: Callable[[Path], Any] = lambda path: OMITTED
    ) -> object:
        """Return arguments without secrets; `instead` returns what replaces the value at a path."""
        forms = (pane.form for pane in self.screen.query(FormPane))
        hidden = [field.path for form in forms for field in form.fields() if field.spec.secret]
        return arguments_to_keep(arguments, self.runtime.redactor.redact, hidden=hidden, instead=instead)

    def save_arguments(self, item: Item, name: str, saved: object) -> None:
        save = saved_calls(self.runtime, self.server).save(item.call_key(self.server), name, saved)
        self._change_saved(self.prompt.saving(save))

    def _change_saved(self, change: Coroutine[Any, Any, str]) -> None:
        """Change the saved calls, and say what was done, or why not."""
        app = self.screen.app

        async def store() -> None:
            try:
                app.notify(await change, timeout=4)
            except (McptuiError, ValueError) as error:
                app.notify(localized(error), title=_("Not saved"), severity="warning")

        app.run_worker(store(), name="change the saved calls")

    def choose_arguments(self, item: Item, save: Callable[[], None], use: Callable[[object], None]) -> None:
        """Let the user save the arguments of an item, or choose saved or kept ones and use them."""
        self.screen.run_worker(self._choose_arguments(item, save, use), exit_on_error=True)

    async def _choose_arguments(
        self, item: Item, save: Callable[[], None], use: Callable[[object], None]
    ) -> None:
        key, push = item.call_key(self.server), self.screen.app.push_screen
        calls = saved_calls(self.runtime, self.server)
        saved = await calls.of(key)

        def choice(one: SavedCall) -> Choice:
            kept = (f"  {_('kept')}", "$text-accent") if one.kept else ""
            arguments = ("  " + compact(one.arguments, 80), "dim")
            return one.name, Content.assemble(clean_line(one.name, 60), kept, arguments)

        def forget(name: str | None) -> None:
            if name is not None:
                self._change_saved(calls.forget(key, name))

        def chosen(name: str | None) -> None:
            if name == SAVE:
                save()
            elif name == FORGET:
                push(Picker(_("Delete saved arguments"), list(map(choice, deletable))), forget)
            elif (found := next((one for one in saved if one.name == name), None)) is not None:
                use(found.arguments)

        if not saved:
            save()
            return
        deletable = [one for one in saved if not one.kept]
        others = {SAVE: _("Save the arguments in the form…")}
        others |= {FORGET: _("Delete saved arguments…")} if deletable else {}
        more = [(value, Content(words).stylize("dim")) for value, words in others.items()]
        push(Picker(heading(_("Saved arguments"), item.label), [*map(choice, saved), *more]), chosen)


def listed(text: str) -> list[str]:
    """Return the paths in a typed line."""
    return [part.strip() for part in text.split(",") if part.strip()]


def root_problem(root: str) -> str:
    """Return why a typed path cannot be a root, or ""."""
    if os.path.isdir(os.path.expanduser(root)):
        return ""
    return _("{path} is not a directory", path=clean_line(root, 60))
