"""Stored arguments of calls: the last arguments of each item, and those saved under a name."""

import json
from collections.abc import Callable, Mapping

from textual.content import Content

from tui.core.errors import McptuiError
from tui.core.text import clean_line
from tui.core.workbench import CallMemory, without_secrets
from tui.ui.dialogs.picker import Picker, PickerChoice
from tui.ui.forms.form_pane import FormPane
from tui.ui.workbench.bench_context import BenchContext
from tui.ui.workbench.items import Item

SAVE, FORGET = "\x00save", "\x00forget"


class SavedArguments:
    """Stores arguments without their secrets, and returns them."""

    def __init__(self, shared: BenchContext) -> None:
        self._shared = shared

    def last(self, item: Item) -> object:
        """Return the arguments of the last call of an item, or None."""
        return self._shared.runtime.calls.memory.last.get(item.call_key(self._shared.server))

    def remember(self, item: Item, arguments: object) -> None:
        """Store the arguments of a call."""
        key = item.call_key(self._shared.server)
        self._change(lambda memory: memory.called(key, self._without_secrets(arguments)))

    def _without_secrets(self, arguments: object) -> object:
        forms = self._shared.screen.query(FormPane)
        hidden = [field.path for pane in forms for field in pane.form.fields() if field.spec.secret]
        return without_secrets(arguments, hidden=hidden, redact=self._shared.runtime.redactor.redact)

    def _change(self, change: Callable[[CallMemory], CallMemory], message: str = "") -> None:
        app = self._shared.screen.app

        async def store() -> None:
            try:
                await self._shared.runtime.calls.change(change)
            except (McptuiError, ValueError) as error:
                app.notify(str(error), title="Not saved", severity="warning")
            else:
                if message:
                    app.notify(message, timeout=2)

        app.run_worker(store(), name="remember a call")

    def save(self, item: Item, arguments: object) -> None:
        """Save arguments of an item under a name."""
        key, saved = item.call_key(self._shared.server), self._without_secrets(arguments)

        def save(name: str) -> None:
            name = name.strip()
            self._change(lambda memory: memory.with_saved(key, name, saved), f"Saved as {name}.")

        self._shared.prompt.ask("Save arguments as", save)

    def choose(self, item: Item, save: Callable[[], None], use: Callable[[object], None]) -> None:
        """Let the user save the arguments of an item, or choose saved ones and use them."""
        saved = self._saved(item)

        def chosen(name: str | None) -> None:
            if name == SAVE:
                save()
            elif name == FORGET:
                self._forget(item)
            elif name is not None and name in saved:
                use(saved[name])

        if not saved:
            save()
            return
        choices = [PickerChoice(name, _choice_text(name, value)) for name, value in saved.items()]
        choices.append(PickerChoice(SAVE, Content("Save the arguments in the form…").stylize("dim")))
        choices.append(PickerChoice(FORGET, Content("Delete saved arguments…").stylize("dim")))
        self._shared.screen.app.push_screen(Picker(f"Saved arguments of {item.label}", choices), chosen)

    def _saved(self, item: Item) -> Mapping[str, object]:
        return self._shared.runtime.calls.memory.saved.get(item.call_key(self._shared.server), {})

    def _forget(self, item: Item) -> None:
        key = item.call_key(self._shared.server)

        def chosen(name: str | None) -> None:
            if name is not None:
                self._change(lambda memory: memory.without_saved(key, name), f"Deleted {name}.")

        choices = [PickerChoice(name, _choice_text(name, value)) for name, value in self._saved(item).items()]
        self._shared.screen.app.push_screen(Picker("Delete saved arguments", choices), chosen)


def _choice_text(name: str, value: object) -> Content:
    text = clean_line(json.dumps(value, ensure_ascii=False, default=str)[:400], 80)
    return Content.assemble(clean_line(name, 60), "  ", (text, "dim"))
