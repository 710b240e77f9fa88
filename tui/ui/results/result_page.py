"""The page of a result: follows its links, attaches its contents to the message, and saves them."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tui.core.tools import BinaryContent, Content, LinkContent, ResourceContent
from tui.ui.results.message_draft import ResultSource, attach_content
from tui.ui.results.result_sheets import Stack, file_name
from tui.ui.widgets.files import ask_to_save
from tui.ui.widgets.page import Page

if TYPE_CHECKING:
    from collections.abc import Callable

    from tui.ui.keys.key_overrides import KeyOverrides
    from tui.ui.widgets.inputs import PromptLine


class ResultPage(Page):
    """Shows a result of `source`; without one, links are only text."""

    def __init__(
        self, overrides: "KeyOverrides", source: ResultSource | None, *, id: str | None = None
    ) -> None:
        super().__init__(id=id)
        self._overrides = overrides
        self._source = source

    @property
    def content(self) -> Content | None:
        """The content under the cursor."""
        return self.sheet.content(self.cursor) if isinstance(self.sheet, Stack) else None

    def action_choose(self) -> None:
        """Read the resource of the link under the cursor; fold or unfold any other row."""
        content = self.content
        if self._source is None or not isinstance(content, LinkContent):
            super().action_choose()
            return
        from tui.ui.results.result_screen import read_link

        read_link(self.app, self._source, content, self._overrides)

    def attach(self, content: Content | None, name: str) -> bool:
        """Attach a content to the message; return whether there is one."""
        if self._source is None or content is None:
            return False
        try:
            what = attach_content(self._source, content, name)
        except ValueError as error:
            self.notify(f"Not attached: {error}.", severity="warning", timeout=5)
        else:
            self.notify(f"Attached to the next message: {what}", timeout=3)
        return True

    def save(
        self,
        prompt: "PromptLine",
        stem: str,
        whole: Any,
        *,
        label: str = "save as",
        then: "Callable[[Path], object]" = str,
    ) -> None:
        """Ask for a file for the image or text under the cursor, otherwise for `whole` as JSON.

        `stem` is its name, unless the content of a resource has one.
        """
        found = self.sheet.saved(self.cursor) if isinstance(self.sheet, Stack) else None
        text = json.dumps(whole, ensure_ascii=False, indent=2, default=str) if found is None else ""
        data, ending = found or (text.encode("utf-8", "replace"), "json")
        content = self.content
        uri = content.uri if isinstance(content, ResourceContent | BinaryContent) else ""
        path = Path.cwd() / (file_name(uri, ending) or f"{stem}.{ending}")
        ask_to_save(prompt, path, data, label=label, then=then)
