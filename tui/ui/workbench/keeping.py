"""What keys do with arguments: raw JSON, choices, arguments that are remembered or kept under a name."""

import json
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from textual.content import Content

from tui.core.errors import McptuiError
from tui.core.text import clean_line
from tui.core.tools import Tool
from tui.core.workbench import CallMemory, without_secrets
from tui.ui.dialogs.picker import Choice, Picker
from tui.ui.workbench.calling import Calling
from tui.ui.workbench.form_pane import FormPane
from tui.ui.workbench.items import Item
from tui.ui.workbench.tool_bench import Bench

if TYPE_CHECKING:
    from tui.ui.widgets.prompt import PromptLine


FORGET = "\x00forget"


class Keeping(Calling):
    """The doing of the keys of forms; the screen supplies what they act on."""

    prompt: "PromptLine"

    # ---- arguments ----

    def action_bench_raw(self) -> None:
        """Write the arguments as raw JSON, or in the form again."""
        bench = self.bench
        if bench is not None and bench.item is not None and (problem := bench.toggle_raw()):
            bench.line.say((f"! {clean_line(problem, 200)}", "bad"), ("   mend it first", "dim"))

    def on_form_pane_wanted(self, event: FormPane.Wanted) -> None:
        """Do what a form cannot do by itself."""
        bench, field = self.bench, event.field
        if event.what == "call":
            self.action_bench_call()
        elif bench is None or field is None:
            return
        elif event.what == "choose":
            choices = [
                Choice(one.label, Content(clean_line(one.label, 80) or '""')) for one in field.spec.choices
            ]

            def chosen(label: str | None) -> None:
                if label is not None:
                    bench.form.set_text(field.path, label)
                    bench.form.action_form_next()

            self.app.push_screen(Picker(clean_line(field.name, 40) or "Value", choices, field.text), chosen)
        else:
            self.prompt.ask("name of the entry", lambda name: self._add(bench, field.path, name))

    def _add(self, bench: Bench, path: tuple[str | int, ...], name: str) -> None:
        bench.form.added(bench.form.form.add(path, name.strip()))

    def promises(self, item: Item) -> bool:
        """Return whether an item has an output schema."""
        return isinstance(item.about, Tool) and self.runtime.workbench.output_schema(item.about) is not None

    def last_arguments(self, item: Item) -> object:
        """Return the arguments with which an item was called last, or None."""
        return self.runtime.calls.memory.last.get(item.call_key(self.server))

    def remember(self, item: Item, arguments: object) -> None:
        """Keep the arguments for the next time."""
        key = item.call_key(self.server)
        self._change(lambda memory: memory.called(key, self._without_secrets(arguments)))

    def _without_secrets(self, arguments: object) -> object:
        hidden = [
            one.path for bench in self.query(Bench) for one in bench.form.form.fields() if one.spec.secret
        ]
        return without_secrets(arguments, hidden=hidden, redact=self.runtime.redactor.redact)

    def _change(self, change: Callable[[CallMemory], CallMemory], said: str = "") -> None:
        async def store() -> None:
            try:
                await self.runtime.calls.change(change)
            except (McptuiError, ValueError) as error:
                self.app.notify(str(error), title="Not remembered", severity="warning")
            else:
                if said:
                    self.app.notify(said, timeout=2)

        self.app.run_worker(store(), name="remember a call")

    def action_bench_keep(self) -> None:
        """Keep the arguments under a name."""
        bench = self.bench
        if bench is None or bench.item is None:
            return
        key = bench.item.call_key(self.server)
        arguments, wrong = bench.arguments()
        if arguments is None:
            bench.line.say((f"! {wrong}", "bad"))
            return
        kept = self._without_secrets(arguments)

        def keep(name: str) -> None:
            name = name.strip()
            self._change(lambda memory: memory.with_saved(key, name, kept), f"kept as {name}")

        self.prompt.ask("keep these arguments as", keep)

    def action_bench_saved(self) -> None:
        """Take arguments that were kept."""
        bench = self.bench
        if bench is None or bench.item is None:
            return
        item, kept = bench.item, self._kept(bench.item)

        def chosen(name: str | None) -> None:
            if name == FORGET:
                self._forget(item)
            elif name is not None and name in kept and bench.item is item:
                bench.fill(kept[name])
                bench.go_to_form()

        choices = [Choice(name, _told(name, value)) for name, value in kept.items()]
        if choices:
            choices.append(Choice(FORGET, Content("forget one of them…").stylize("dim")))
        note = (
            f"Nothing is kept for {item.label} yet: {self._key('bench.keep')} keeps what stands in the form."
        )
        self.app.push_screen(Picker(f"Kept for {item.label}", choices, note=note), chosen)

    def _kept(self, item: Item) -> Mapping[str, object]:
        return self.runtime.calls.memory.saved.get(item.call_key(self.server), {})

    def _forget(self, item: Item) -> None:
        key = item.call_key(self.server)

        def chosen(name: str | None) -> None:
            if name is not None:
                self._change(lambda memory: memory.without_saved(key, name), f"{name} is forgotten")

        choices = [Choice(name, _told(name, value)) for name, value in self._kept(item).items()]
        self.app.push_screen(Picker("Forget", choices), chosen)


def _told(name: str, value: object) -> Content:
    said = clean_line(json.dumps(value, ensure_ascii=False, default=str)[:400], 80)
    return Content.assemble(clean_line(name, 60), "  ", (said, "dim"))
