"""A tab for calling items: the list of items, the form, the result, and earlier calls."""

from collections.abc import Callable, Coroutine, Mapping, Sequence
from functools import partial
from typing import Any

from textual import events
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.message import Message
from textual.widgets import Input, TextArea

from tui.core.forms.form import Form
from tui.core.language.translate import N_, _, localized, n_
from tui.core.text import clean_line
from tui.core.tools import Tool
from tui.core.workbench import PromptInfo, ResourceInfo
from tui.ui.forms.form_pane import FormPane
from tui.ui.forms.form_rows import FormHead
from tui.ui.keys.action_table import Context
from tui.ui.keys.bindings import methods_by_key
from tui.ui.keys.footer import Entry
from tui.ui.widgets.bar import SplitBar
from tui.ui.widgets.inputs import Field, JsonArea
from tui.ui.widgets.rows import Row
from tui.ui.workbench.bars import BenchTab, CallButton, OtherKeys, keys_of
from tui.ui.workbench.bench_context import BenchContext
from tui.ui.workbench.bench_lists import ItemList
from tui.ui.workbench.call_list import CallList
from tui.ui.workbench.calls import HandCall, uri_of
from tui.ui.workbench.items import Folder, Item, head_of
from tui.ui.workbench.kept_calls import Badge
from tui.ui.workbench.result_view import ResultView

AT = N_("{where} {problem}")
VERBS = {"call": N_("Call"), "read": N_("Read"), "get": N_("Get"), "fetch": N_("Fetch")}
"""The label of the button for each action."""


class Bench(Horizontal):
    """List and calls on the left; the form of `item`, its button and the result on the right.

    `news` is what the user has not seen yet, by item key. `insisted`: the arguments are invalid, the user was
    told, and has not changed them since.
    """

    DEFAULT_CSS = """
    Bench { height: 1fr; }
    Bench > .bench-left { width: 30; border-right: solid $rule; }
    Bench > .bench-right { width: 1fr; }
    Bench ItemList { height: 2fr; background: $surface; }
    Bench CallList { height: 1fr; background: $surface; }
    Bench FormPane { height: auto; max-height: 55%; background: $surface; }
    Bench.-new FormPane { max-height: 75%; }
    Bench .bench-actions { height: 2; padding: 0 2; }
    Bench .bench-actions SplitBar { width: 1fr; margin-left: 3; }
    Bench JsonArea, Bench #raw-heading { display: none; background: $surface; }
    Bench JsonArea { height: 1fr; border: none; padding: 0 1; }
    Bench BenchPage { height: 1fr; padding: 0 1; background: $surface; }
    Bench #side-heading, Bench .result-line { background: $panel; }
    Bench Input { height: 1; border: none; padding: 0 1; background: $panel; display: none; }
    Bench.-filtering Input { display: block; }
    Bench.-raw JsonArea, Bench.-raw #raw-heading { display: block; }
    Bench.-raw FormPane { display: none; }
    Bench.-whole .bench-left, Bench.-whole FormPane { display: none; }
    Bench.-whole JsonArea, Bench.-whole #raw-heading, Bench.-whole .bench-actions { display: none; }
    Bench.-new.-raw BenchPage { height: 5; }
    Bench.-new CallList { height: 3; }
    """

    class Called(Message):
        """The user wants to call the item."""

    def __init__(self, tab: BenchTab, shared: BenchContext) -> None:
        # Most items have no calls yet, and a later change of class would compute all styles again.
        super().__init__(id=f"bench-{tab}", classes="-new")
        self._tab = tab
        self._shared = shared
        self.item: Item | None = None
        self.news = shared.book.news[shared.server, tab]
        self.list = ItemList(self.news)
        self.filter = Field(placeholder=_("name or description"), max_length=200, compact=True)
        self.calls = CallList()
        self.form = FormPane(shared.overrides)
        key = shared.overrides.first_of
        self.button = CallButton(self.form, key("bench.call"), lambda: self.post_message(self.Called()))
        self._other_keys = OtherKeys()
        self.raw = JsonArea(methods_by_key(shared.overrides, Context.WORKBENCH))
        self.raw_heading = SplitBar(id="raw-heading")
        self.result = ResultView(self.calls, shared)
        self.line = self.result.line
        self.page = self.result.page
        self._filled: object = None  # the arguments in the form before the user changed it
        self.insisted = False
        self._left = Vertical(classes="bench-left")

    def compose(self) -> ComposeResult:
        with self._left:
            yield self.filter
            yield self.list
            yield SplitBar(((f" {_('CALLS')}", "dim bold"),), id="side-heading")
            yield self.calls
        with Vertical(classes="bench-right"):
            yield self.form
            yield self.raw_heading
            yield self.raw
            with Horizontal(classes="bench-actions"):
                yield self.button
                yield self._other_keys
            yield self.line
            yield self.page

    def on_resize(self, event: events.Resize) -> None:
        self._fit_list()

    def _fit_list(self) -> None:
        self._left.styles.width = self.list.columns_of(self.app.size.width)

    def show_badges(self, badges: Mapping[str, Badge]) -> None:
        """Set the badges of items, by item key."""
        self.list.show_badges(badges)
        self._fit_list()

    def look(self) -> None:
        self.line.look()

    def show(self, items: Sequence[Item], empty: Sequence[Row]) -> None:
        """Show the items that the server offers; `empty` explains why there are none."""
        self.list.empty = tuple(empty)
        shown = self.item.key if self.item is not None else ""
        self.list.show(items)
        self._fit_list()
        selected = self.list.selected
        if selected is None or selected.key != shown or selected != self.item:
            self.choose(selected)
        elif self.item is not None and selected.tokens != self.item.tokens:
            self.item = selected
            self.form.head = self._head_of(selected)
            self.form.rebuild()

    def _mark_seen(self, item: Item | None) -> None:
        """Record that the user has seen an item, so that it is no longer news."""
        if item is not None and self.news.pop(item.key, ""):
            self.list.rows_changed()

    def choose(self, item: Item | None) -> None:
        """Select another item: show its form as the user left it, and its calls."""
        if (work := self.leave_form()) is not None:
            self.app.run_worker(work, name="remember a form")
        self.item = item
        name = item.label if item is not None else ""
        self.raw_heading.show((("  " + name, "text bold"), (f"   {_('arguments as JSON')}", "dim")))
        self.insisted = False
        self.is_raw = False
        self.line.say()
        form, shared = Form(item.schema if item is not None else {}), self._shared
        arguments, raw = None, ""
        if item is not None:
            last = shared.runtime.calls.memory.last.get(item.call_key(shared.server))
            arguments, raw = shared.book.drafts.get((shared.server, item.key)) or (last, "")
            self.button.label = _(VERBS[item.verb])
            self.button.refresh(layout=True)
        if arguments is not None:
            form.load(arguments)
        self._filled = form.value()[0]
        self.result.expect(item)
        self._show_form(form)
        self.button.display = item is not None
        self._other_keys.display = item is not None and not self._is_plain(item)
        if raw:
            with self.prevent(TextArea.Changed):
                self.raw.load_text(raw)
            self.is_raw = True
        self.show_calls()
        self.result.show()

    def _show_form(self, form: Form) -> None:
        if self.item is None:
            self.form.show(form, None)
            return
        about, ask = self.item.about, None
        if isinstance(about, ResourceInfo | PromptInfo):  # the server may suggest values of their arguments
            ask = partial(self._shared.runtime.workbench.complete, about)
        self.form.show(form, self._head_of(self.item), ask_values=ask)

    def _head_of(self, item: Item) -> FormHead:
        return head_of(item, has_output_schema=self._shared.promised(item) is not None)

    def leave_form(self) -> Coroutine[Any, Any, None] | None:
        """Store the form as a draft; return what remembers it for the next run, if it was changed."""
        if self.item is None:
            return None
        value, _problems = self.form.form.value()
        raw = self.raw.text if self.is_raw else ""
        self._shared.book.drafts[self._shared.server, self.item.key] = value, raw
        is_new = (arguments := self.arguments()[0]) not in (None, self._filled)
        return self._shared.remember(self.item, arguments) if is_new else None

    async def close(self) -> None:
        if (work := self.leave_form()) is not None:
            await work
        await self.result.close()

    def fill(self, arguments: object) -> None:
        if self.item is None:
            return
        form = Form(self.item.schema)
        form.load(arguments)
        self._show_form(form)
        if self.is_raw:
            self._raw_from_form()

    def show_calls(self, selected: HandCall | None = None) -> None:
        shared = self._shared
        calls = shared.book.of_item(shared.server, self.item) if self.item is not None else []
        self.calls.empty = "" if calls else self._shared.why_no_calls(self.item)
        self.calls.show(calls, selected)
        self.set_class(not calls, "-new")

    def on_call_list_moved(self, event: CallList.Moved) -> None:
        event.stop()
        self.line.say()
        self.result.show()

    def on_item_list_moved(self, event: ItemList.Moved) -> None:
        event.stop()
        if self.list.selected != self.item:
            self._mark_seen(self.item)
            self.choose(self.list.selected)
            self._mark_seen(self.item)
        if isinstance(folder := self.list.under_cursor, Folder):
            words = f"   {n_('{n} resource', '{n} resources', folder.count)}"
            self.line.say((clean_line(folder.key, 200), "tool"), (words, "dim"))

    def open_selected(self) -> None:
        """Go from the list to the form, or read an item without arguments; reuse a call's arguments; fold.

        On the button, call the item.
        """
        focused = self.screen.focused
        if focused is self.calls:
            if (call := self.calls.selected) is not None:
                self.fill(call.reusable)
                self.go_to_form()
        elif focused is self.page:
            self.page.action_choose()
        elif self.pressing or (self.item is not None and self._is_plain(self.item)):
            self.post_message(self.Called())
        elif not (focused is self.list and self.list.turn()) and self.item is not None:
            self.go_to_form()

    @staticmethod
    def _is_plain(item: Item) -> bool:
        """Return whether an item can be read or fetched without arguments."""
        return item.verb != "call" and not item.schema.get("properties")

    def maximize(self) -> None:
        self.toggle_class("-whole")
        if self.has_class("-whole"):
            self.screen.set_focus(self.page, scroll_visible=False)

    def choose_saved(self) -> None:
        if (item := self.item) is None:
            return

        def save() -> None:
            arguments, problem = self.arguments()
            if arguments is None:
                self.line.say((f"! {problem}", "bad"))
                return
            ask, saved = self._shared.prompt.ask, self._shared.arguments_to_keep(arguments)
            asked = _("Save arguments as")
            ask(asked, lambda name: self._shared.save_arguments(item, name.strip(), saved), about=item.key)

        def use(arguments: object) -> None:
            if self.item is item:
                self.fill(arguments)
                self.go_to_form()

        self._shared.choose_arguments(item, save, use)

    async def copy_as(self) -> None:
        """Copy the selected call, or from the list the item with its arguments, as a command or a script."""
        from tui.ui.workbench.copies import copy_call, copy_item  # not needed until something is copied

        call = None if self.list.has_focus else self.calls.selected
        if call is not None:
            await copy_call(self._shared, call)
        elif self.item is not None:
            arguments, problem = self.arguments()
            if problem:
                self.line.say((f"! {problem}", "bad"))
            if arguments is not None:
                copy_item(self._shared, self.item, arguments)

    def toggle_schema(self) -> None:
        self.result.toggle_schema(self.item)

    def offer(self) -> None:
        """Turn the selected tool off for the model, or on again."""
        about, shared = self.item.about if self.item is not None else None, self._shared
        if not isinstance(about, Tool) or shared.configured() is None:
            return
        if about.is_unaccepted:
            shared.runtime.host.review_changes(shared.server, about.name)
        elif about.withheld:
            self.line.say((_("! Not offered to the model: {why}.", why=localized(about.withheld)), "warn"))
        else:
            shared.choose(shared.runtime.server_changes.toggle_tool(shared.server, about.name))

    def attach(self) -> None:
        """Attach the content under the cursor of the result, otherwise the resource of the item."""
        if self.screen.focused is self.page and self.result.attach():
            return
        if uri := self._uri(_("Select a resource, or a link in a result, to attach it.")):
            self._shared.draft.attach_resource(self._shared.server, uri)
            self.app.notify(_("Attached to the next message: {uri}", uri=clean_line(uri, 200)), timeout=3)

    def _uri(self, otherwise: str) -> str:
        """Return the URI of the selected resource, or of the template with the values of its form.

        If there is none, show `otherwise` or the problem of the values, and return "".
        """
        about = self.item.about if self.item is not None else None
        if not isinstance(about, ResourceInfo):
            self.app.notify(otherwise, timeout=3)
            return ""
        arguments, problem = self.arguments()
        if problem:
            self.line.say((f"! {problem}", "bad"))
        return "" if problem else uri_of(about, arguments)

    def subscribe(self) -> None:
        """Subscribe to the resource, or to the template's resource with these values, or unsubscribe."""
        uri = self._uri(_("Select a resource to subscribe to it."))
        if not uri or self.item is None:
            return
        workbench, server = self._shared.runtime.workbench, self._shared.server
        if uri in workbench.subscriptions(server):
            workbench.unsubscribe(server, uri)
            self.line.say((_("Unsubscribed."), "text"))
        elif problem := workbench.subscribe(server, uri):
            self.line.say((f"! {clean_line(localized(problem), 300)}", "warn"))
        else:
            self._shared.book.subscribed_on[server][uri] = self.item.key
            self.line.say((_("Subscribed. The resource is read again when it changes."), "text"))
            newest, about = self.calls.newest, self.item.about
            if newest is None or (isinstance(about, ResourceInfo) and uri_of(about, newest.arguments) != uri):
                self.post_message(self.Called())  # otherwise there is nothing on screen that could change

    def back(self, cancel: "Callable[[Bench], bool]") -> bool:
        """Close the innermost part, or cancel a running call; return False if only the screen is left."""
        focused = self.screen.focused
        if focused is self.filter:
            self.close_filter()
        elif (focused is self.form and self.form.close_suggestions()) or cancel(self):
            pass
        elif self.has_class("-whole"):
            self.remove_class("-whole")
        elif self.line.what:
            self.result.show()
        elif focused is not self.list:
            self.screen.set_focus(self.list, scroll_visible=False)
        elif self.has_class("-filtering"):
            self.close_filter()
        else:
            return False
        return True

    def filter_or_search(self) -> None:
        """Filter the list. If the result has the focus, search in it instead."""
        if self.screen.focused is self.page:
            self._shared.prompt.ask(_("search in this result"), self.page.search, searches=True)
        else:
            self.add_class("-filtering")
            self.screen.set_focus(self.filter, scroll_visible=False)

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        self.list.filter(event.value)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.close_filter(keep=True)

    def close_filter(self, *, keep: bool = False) -> None:
        """Go back to the list, and remove the filter unless `keep` is set."""
        if not keep:
            self.filter.value = ""
        self.set_class(bool(self.filter.value), "-filtering")
        self.screen.set_focus(self.list, scroll_visible=False)

    def on_form_pane_name_wanted(self, event: FormPane.NameWanted) -> None:
        field = event.field
        event.stop()

        def named(name: str) -> None:
            self.form.added(self.form.form.add(field.path, name.strip()))
            self.go_to_form()

        asked = _("name of the new entry") if field.path else _("name of the new argument")
        self._shared.prompt.ask(asked, named, value=event.text)

    @property
    def is_raw(self) -> bool:
        return self.has_class("-raw")

    @is_raw.setter
    def is_raw(self, raw: bool) -> None:
        self.set_class(raw, "-raw")
        self._other_keys.of(self._shared.overrides, is_raw=raw)

    @property
    def context(self) -> Context | None:
        """The context of the focus. None in raw JSON, which has no context of its own."""
        focused = self.screen.focused
        if focused is self.raw:
            return None
        return Context.BENCH_FORM if focused is self.form else Context.BENCH_LIST

    @property
    def pressing(self) -> str:
        """The effect of enter if the button has the focus, otherwise ""."""
        return _(self.item.verb) if self.item is not None and self.screen.focused is self.button else ""

    def keys(self) -> Sequence[Entry]:
        """Return the keys that work now, for the footer."""
        overrides, context = self._shared.overrides, self.context
        return keys_of(overrides, context, self._tab, is_raw=self.is_raw, pressing=self.pressing)

    def go_to_form(self) -> None:
        """Focus the form or the raw JSON, or the button of a form without fields."""
        is_empty = self.item == self.list.selected and self.form.is_empty  # else another form follows
        form = self.button if is_empty else self.form
        self.screen.set_focus(self.raw if self.is_raw else form, scroll_visible=False)

    def toggle_raw(self) -> None:
        """Switch to raw JSON, or back to the form if the JSON is valid."""
        if self.item is None:
            return
        if not self.is_raw:
            self._raw_from_form()
            self.is_raw = True
        elif problem := self.form.form.from_edited(self.raw.text):
            self.line.say(
                (f"! {clean_line(localized(problem), 200)}", "bad"), (f"   {_('fix this first')}", "dim")
            )
            return
        else:
            self.is_raw = False
            self._show_form(self.form.form)
        self.go_to_form()

    def _raw_from_form(self) -> None:
        with self.prevent(TextArea.Changed):
            self.raw.load_text(self.form.form.as_json())

    def on_text_area_changed(self, event: TextArea.Changed) -> None:
        """Update the form from the JSON, and show its problem, if any."""
        event.stop()
        self.insisted = False
        if not (problem := self.form.form.from_json(self.raw.text)):
            problems = self.form.form.problems().items()
            problem = next(
                (_(AT, where=where(path), problem=localized(words)) for path, words in problems), ""
            )
        self.line.say(*((("! " + problem, "bad"),) if problem else ()))

    def on_form_pane_changed(self, event: FormPane.Changed) -> None:
        event.stop()
        self.insisted = False
        self.line.say()

    def arguments(self) -> tuple[object, str]:
        """Return the arguments, and their problem as a sentence, or ""."""
        form = self.form.form
        if self.is_raw and (problem := form.from_edited(self.raw.text)):
            return None, _("This {problem}.", problem=localized(problem))
        value, problems = form.value()
        for path, problem in problems.items():
            said = _(AT, where=where(path), problem=localized(problem))
            if more := len(problems) - 1:
                said = n_("{problem} ({n} more problem)", "{problem} ({n} more problems)", more, problem=said)
            return value, _("{problem}.", problem=said)
        return value, ""


def where(path: tuple[str | int, ...]) -> str:
    """Return the path of a field as text: "to › 2. › name", "the whole"."""
    parts = [f"{part + 1}." if isinstance(part, int) else clean_line(part, 40) for part in path]
    return " › ".join(parts) or _("the value")
