"""The result screen: the complete result of a call, or a resource that a result links to."""

import asyncio
import json
from collections.abc import Callable, Coroutine
from functools import partial
from pathlib import Path
from typing import Any, ClassVar
from uuid import uuid4

from textual.app import App
from textual.binding import BindingType

from tui.core.addons import service
from tui.core.background import Tasks, in_daemon_thread
from tui.core.language.translate import N_, _, localized
from tui.core.text import clean_line
from tui.core.tools import BinaryContent, Content, LinkContent, ResourceContent, ToolResult
from tui.core.web import web_address
from tui.ui.dialogs.confirm import Confirm
from tui.ui.dialogs.dialog import ViewScreen
from tui.ui.keys.action_table import Context
from tui.ui.keys.bindings import bindings_of
from tui.ui.platform import clipboard
from tui.ui.results.message_draft import ResultSource, attach_content
from tui.ui.results.result_sheets import Stack, file_name, is_app, sheet_of_result
from tui.ui.widgets.files import ask_to_save, file_stem, open_file
from tui.ui.widgets.inputs import PromptLine
from tui.ui.widgets.page import Lines, Page

READ_SECONDS = 60.0


class ResultScreen(ViewScreen[None]):
    """Shows the result of the call `name`; without a `result`, the resource `uri` of its server."""

    CONTEXTS = (Context.RESULT,)
    BINDINGS: ClassVar[list[BindingType]] = bindings_of(Context.RESULT)

    def __init__(
        self,
        name: str,
        result: ToolResult | None,
        source: ResultSource | None = None,
        *,
        uri: str = "",
    ) -> None:
        follow = partial(follow_link, source=source)
        self.page, self._prompt = Page(follow), PromptLine()
        super().__init__(self.page, prompt=self._prompt)
        self._source = source
        self._uri = uri
        self._of = clean_line(name, 120)
        self._result = result
        self._tasks = Tasks()

    def on_mount(self) -> None:
        heading = _("RESOURCE") if self._uri else _("RESULT")
        self._title.show(((heading, "text bold"), (f"   {self._of}", "text")))
        self._tasks.start(self._lay_out(), "lay out a result")

    async def _lay_out(self) -> None:
        if self._result is None and self._source is not None:
            self.page.show(Lines([((_("reading…"), "dim"),)]))
            call = f"hand-link-{uuid4().hex[:8]}"
            self._result = await self._source.workbench.read_resource(
                self._source.server, self._uri, call=call, seconds=READ_SECONDS
            )
        if self._result is not None:
            self.page.show(await asyncio.to_thread(sheet_of_result, self._result))

    async def on_unmount(self) -> None:
        await self._tasks.cancel()

    @property
    def _content(self) -> Content | None:
        """The content under the cursor, or the only one."""
        found = content_of(self.page)
        only = self._result.content if self._result is not None else ()
        return only[0] if found is None and len(only) == 1 else found

    def attach(self) -> None:
        if not attach_part(self.page, self._source, self._content, self._of):
            self.notify(_("Select a link, a text or an image to attach."), timeout=3)

    def save(self) -> None:
        self._ask_path(N_("save as"), str)

    def open_part(self) -> None:
        """Save the part under the cursor, then open it with the system's program.

        A web address is opened in the browser, after confirmation. An app (`ui://`) is not, whatever address
        the server gives to its content: the system's program would run code that mcptui does not run. An
        add-on may show its text.
        """
        content = self._content
        address = content.uri if isinstance(content, LinkContent) else self._uri
        if address.lower().startswith(("https:", "http:")):
            self._ask_to_visit(address)
        elif isinstance(content, ResourceContent | BinaryContent) and (
            is_app(content.uri) or is_app(self._uri)
        ):
            if (ask_to_open := service("app page")) is not None:
                ask_to_open(self, content)
            else:
                self.notify(_("This is the source of an MCP app. You can read and save it."), timeout=4)
        else:
            self._ask_path(N_("save and open as"), self._ask_to_open)

    def _ask_to_visit(self, address: str) -> None:
        found = web_address(address)
        if found.problem:
            self.notify(
                _("Not opened: {why}", why=localized(found.problem)),
                severity="warning",
                timeout=5,
                markup=False,
            )
            return

        async def visit() -> None:
            from tui.core.web import open_browser

            if not await in_daemon_thread("browser", lambda: open_browser(address)):
                self.app.notify(_("Cannot open a browser here."), timeout=5)
                clipboard.copy(self.app, address, _("the URL"))

        odd = "".join(f"\n! {localized(one)}" for one in found.warnings)
        about = f"{clean_line(address, 2000)}\n{_('host: {name}', name=clean_line(found.host, 300))}{odd}"
        self._ask_first(_("Open this URL from the server in the browser?"), about, visit)

    def _ask_path(self, label: str, then: Callable[[Path], object]) -> None:
        stem = file_stem(self._of, "result")
        structured = self._result.structured if self._result is not None else None
        save_part(self.page, self._prompt, stem, structured, label=label, then=then)

    def _ask_to_open(self, path: Path) -> None:
        question = _("Open this file from the server with the default program?")
        self._ask_first(question, clean_line(str(path), 300), partial(open_file, self.app, path))

    def _ask_first(self, question: str, about: str, open_it: Callable[[], Coroutine[Any, Any, None]]) -> None:
        def answered(yes: bool | None) -> None:
            if yes:
                self.app.run_worker(open_it(), exit_on_error=True)

        self.app.push_screen(Confirm(question, yes=_("open"), no=_("cancel"), about=about), answered)


def read_link(app: App[Any], source: ResultSource, link: LinkContent) -> None:
    """Show the resource that a result links to, read from the server of the result."""
    name = f"{source.server} › {link.name or link.uri}"
    app.push_screen(ResultScreen(name, None, source, uri=link.uri))


def content_of(page: Page) -> Content | None:
    """Return the content under the cursor."""
    return page.sheet.content(page.cursor) if isinstance(page.sheet, Stack) else None


def follow_link(page: Page, source: ResultSource | None) -> bool:
    """Read the resource of the link under the cursor; return whether there is a link."""
    link = content_of(page)
    if source is None or not isinstance(link, LinkContent):
        return False
    read_link(page.app, source, link)
    return True


def attach_part(page: Page, source: ResultSource | None, content: Content | None, name: str) -> bool:
    """Attach a content of a result to the message; return whether there is one."""
    if source is None or content is None:
        return False
    try:
        what = attach_content(source, content, name)
    except ValueError as error:
        page.notify(_("Not attached: {why}.", why=localized(error)), severity="warning", timeout=5)
    else:
        page.notify(_("Attached to the next message: {what}", what=what), timeout=3)
    return True


def save_part(
    page: Page,
    prompt: PromptLine,
    stem: str,
    whole: Any,
    *,
    label: str = N_("save as"),
    then: Callable[[Path], object] = str,
) -> None:
    """Ask for a file for the image or text under the cursor, otherwise for `whole` as JSON.

    `stem` is its name, unless the content of a resource has one.
    """
    found = page.sheet.saved(page.cursor) if isinstance(page.sheet, Stack) else None
    text = json.dumps(whole, ensure_ascii=False, indent=2, default=str) if found is None else ""
    data, ending = found or (text.encode("utf-8", "replace"), "json")
    content = content_of(page)
    uri = content.uri if isinstance(content, ResourceContent | BinaryContent) else ""
    path = Path.cwd() / (file_name(uri, ending) or f"{stem}.{ending}")
    ask_to_save(prompt, path, data, label=label, then=then)
