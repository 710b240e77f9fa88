"""Changes to the configuration from the chat screen: its file in the user's editor, and its servers."""

import asyncio
import os
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from tui.core.errors import McptuiError
from tui.core.language.translate import _, localized, message, sentences
from tui.core.questions import Action, ConfigErrors
from tui.core.servers import ServerStatus
from tui.core.text import capitalized, clean_line, quoted_name
from tui.ui.chat.editor import EditorSession, edit_file, editor_of
from tui.ui.chat.question_queue import QuestionQueue
from tui.ui.chat.regions import Regions
from tui.ui.widgets.server_rows import configured, toggle_server, trust_words, why_only_listed

if TYPE_CHECKING:
    from tui.runtime.runtime import Runtime
    from tui.runtime.server_changes import Draft, ServerValues


def _sentence(text: str) -> str:
    """Return a text as a sentence: capitalized, with a full stop."""
    text = capitalized(text.strip().rstrip("."))
    return text if text.endswith(("?", "？", "。")) else _("{sentence}.", sentence=text)


class ConfigEditing:
    """Opens the configuration file in the user's editor, and changes the servers in it from their pane.

    If the file has errors, they are shown with their lines, until the user closes them or the next reload
    ends. The previous configuration stays in use.
    """

    def __init__(
        self, runtime: "Runtime", regions: Regions, editor: EditorSession, questions: QuestionQueue
    ) -> None:
        self._runtime = runtime
        self._regions = regions
        self._editor = editor
        self._questions = questions
        self._errors: asyncio.Task[None] | None = None

    # ---- the file ----

    def open(self) -> None:
        self._editor.begin(self._edit)

    def reload(self) -> None:
        """Apply the file on disk."""
        self._regions.start(self._apply(), "reload the configuration")

    async def _edit(self) -> None:
        configuration, command = self._runtime.configuration, editor_of(os.environ)
        config = configuration.file
        path = config.path
        is_new = await configuration.exclusively(lambda: asyncio.to_thread(config.begin))
        before = config.stamp()
        try:
            with self._editor.lent():
                await edit_file(path, command, message("The configuration was not reloaded."))
        finally:
            unchanged = config.stamp() == before
            if is_new and unchanged:
                path.unlink(missing_ok=True)
        if unchanged:
            self._regions.notify(_("Configuration unchanged."), timeout=3)
        else:
            await self._apply()

    async def _apply(self) -> None:
        async def show(errors: Sequence[str]) -> None:
            if (await self._questions.ask(ConfigErrors(errors))).action is Action.ACCEPT:
                self.open()

        errors, notes = await self._runtime.configuration.reload()
        if self._errors is not None:
            self._errors.cancel()
        if errors:
            if self._questions.first is not None:
                told = _("The configuration has errors. Answer the open question to see them.")
                self._regions.notify(told)
            self._errors = self._regions.start(show(errors), "show configuration errors")
            return
        text = clean_line(sentences(_("Configuration reloaded."), *map(localized, notes)), 800)
        self._regions.notify(text, timeout=8 if notes else 3)

    # ---- its servers ----

    def why_none(self) -> str:
        """Return why no server can be selected, or ""."""
        is_there = self._runtime.is_ready and self._runtime.host.servers  # asked many times a second
        return "" if is_there else message("there are no servers")

    def why_unchanged(self) -> str:
        none = message("no tools have changed since you accepted them")
        return self.why_none() or ("" if self._changed() else none)

    def _changed(self) -> list[str]:
        return [status.name for status in self._runtime.host.statuses() if status.changes]

    def review_changes(self) -> None:
        """Review the changes of the selected server, or of the first server with changes."""
        name, changed = self._regions.servers.selected, self._changed()
        self._runtime.host.review_changes(name if name in changed else changed[0])

    def start_or_stop(self) -> None:
        self._steer(lambda status: toggle_server(self._runtime.host, status))

    def restart(self) -> None:
        self._steer(lambda status: self._runtime.host.request_restart(status.name))

    def _steer(self, steer: Callable[[ServerStatus], None]) -> None:
        """Start, stop or restart the selected server, unless it is only listed, and say so."""
        status = self._regions.servers.selected_status
        if status is None:
            return
        if why := why_only_listed(status.spec, self._regions.key_of):
            self._regions.notify(why)
            return
        steer(status)
        self._regions.servers.tick()

    def add(self) -> None:
        from tui.runtime.server_changes import ServerValues

        self._open_form(ServerValues())

    def change(self) -> None:
        if (name := self._regions.servers.selected) is None:
            return
        try:
            values = self._runtime.server_changes.values(name)
        except McptuiError as error:
            self._regions.notify(clean_line(localized(error), 400), timeout=8)
            return
        self._open_form(values, name)

    def _open_form(self, values: "ServerValues", name: str = "") -> None:
        """Edit the values of the server `name`, or of a new one, and change or add it."""
        from tui.ui.forms.server_form import ServerForm

        changes = self._runtime.server_changes

        def make(typed: str, values: "ServerValues") -> "Draft":
            return changes.draft(name or typed, values, changes=name)

        def take(draft: "Draft | None") -> None:
            if draft is not None and name:
                told = _("Changed the server {server}.", server=quoted_name(name))
                self._run(changes.change(draft), told)
            elif draft is not None:
                select = partial(self._regions.servers.select, draft.name)
                told = _("Added the server {server}.", server=quoted_name(draft.name))
                self._run(changes.add(draft), told, select)

        self._regions.open_dialog(ServerForm(self._regions.overrides, make, values, name), take)

    def toggle_disabled(self) -> None:
        if (status := self._selected_status()) is None:
            return
        name = status.name

        async def toggle() -> Sequence[str]:
            disabled, notes = await self._runtime.server_changes.toggle(name)
            server = quoted_name(name)
            done = _("Disabled the server {server}.", server=server)
            return [done if disabled else _("Enabled the server {server}.", server=server), *notes]

        self._run(toggle())

    def toggle_trust(self) -> None:
        from tui.ui.dialogs.confirm import change_trust

        if (status := self._selected_status()) is None:
            return
        name = status.name

        async def toggle() -> Sequence[str]:
            problem = await self._runtime.trust.toggle(name)
            return [problem] if problem else []

        def change(trusted: bool) -> None:
            if configured(self._runtime.host, name, self._regions.notify) is not None:
                words = trust_words(name, self._regions.key_of("servers.trust"), trusted=trusted)
                self._run(toggle(), words, seconds=8)

        change_trust(status, change, self._regions.open_dialog)

    def remove(self) -> None:
        from tui.ui.dialogs.confirm import Confirm

        if (name := self._regions.servers.selected) is None:
            return

        def decided(yes: bool | None) -> None:
            if yes:
                told = _("Removed the server {server}.", server=quoted_name(name))
                self._run(self._runtime.server_changes.remove(name), told)

        question = _("Remove the server {server} from the configuration?", server=quoted_name(name))
        about = _(
            "This stops the server and deletes it from the configuration. To keep it, disable it instead."
        )
        confirm = Confirm(question, yes=_("remove"), no=_("keep"), about=about)
        self._regions.open_dialog(confirm, decided)

    def _selected_status(self) -> ServerStatus | None:
        name = self._regions.servers.selected
        return configured(self._runtime.host, name, self._regions.notify) if name is not None else None

    def _run(
        self,
        change: Awaitable[Sequence[str] | None],
        done: str = "",
        after: Callable[[], None] = lambda: None,
        *,
        seconds: float = 3,
    ) -> None:
        """Carry out a change in the background: a server may take seconds to stop.

        `done` and the sentences that the change returns are shown, and `after` is called.
        """

        async def work() -> None:
            more = await change or ()
            told = [done, *(_sentence(localized(one)) for one in more)]
            text = clean_line(sentences(*told), 400)
            self._regions.notify(text, timeout=8 if len([*filter(None, told)]) > 1 else seconds)
            after()

        self._regions.start(work(), "change the configuration")
