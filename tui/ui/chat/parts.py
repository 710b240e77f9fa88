"""The objects behind the chat screen, created and connected."""

import re
from collections.abc import Iterable
from inspect import isawaitable

from tui.core.language.translate import _, localized, sentences
from tui.runtime.runtime import Runtime
from tui.ui.chat.attention import ChatAttention
from tui.ui.chat.bridge import Bridge
from tui.ui.chat.commands import SlashCommands
from tui.ui.chat.composer.composer import Composer
from tui.ui.chat.composer.pastes import Written
from tui.ui.chat.config_changes import ConfigEditing
from tui.ui.chat.conversation_actions import ConversationActions
from tui.ui.chat.editor import EditorSession
from tui.ui.chat.navigation import Navigator
from tui.ui.chat.outbox import Outbox, SerialQueue
from tui.ui.chat.question_queue import QuestionQueue
from tui.ui.chat.regions import Regions
from tui.ui.chat.status import ChatStatus, StandingNotes
from tui.ui.chat.trace_preview import TracePreview
from tui.ui.chat.transcript.transcript import Choice
from tui.ui.chat.turn_queue import A_TURN_RUNS, TurnQueue
from tui.ui.keys.action_table import OF_SCREENS, Action, Context, action, of_context
from tui.ui.keys.bindings import NEED_RUNTIME, method_at


class ChatParts:
    """The objects behind the chat screen. Its panes are mounted; the runtime is not ready yet."""

    def __init__(self, runtime: Runtime, regions: Regions) -> None:
        self.runtime = runtime
        self.regions = regions
        self._sources = regions.composer.completing.sources
        self.bridge = Bridge(runtime, regions)
        self.navigator = Navigator(runtime, regions)
        self.approvals = runtime.questioner = QuestionQueue(runtime, regions, self.bridge)
        self.turns = TurnQueue(runtime, regions, self.approvals, self.bridge)
        sent = SerialQueue[Composer.Sent](regions.start)
        self.current = ConversationActions(runtime, regions, self.bridge, self.turns, self.navigator, sent)
        commands = SlashCommands(runtime, regions, self.current, self.navigator)
        self.outbox = Outbox(runtime, regions, self.turns, sent, commands.run, self.current.take_left)
        self.editor = EditorSession(regions)
        self.editing = ConfigEditing(runtime, regions, self.editor, self.approvals)
        self.attention = ChatAttention(runtime, regions.screen.app, self.turns, self.approvals)
        self.status = ChatStatus(runtime, regions, self.turns, self.bridge, self.approvals, self.why_not)
        preview = TracePreview(regions)
        regions.trace.moved = preview.look
        regions.ticker.observers += (
            regions.servers.tick,
            regions.trace.tick,
            preview.look,
            self.outbox.show_held,
            regions.fit_servers,
            self.status.show,
            self.current.follow,
            self.current.comparison.show,
            self.turns.flush,
            self.attention.look,
        )

    async def copy(self) -> None:
        from tui.ui.chat.copies import copy_selected  # not needed for the first frame

        await copy_selected(self)

    async def begin(self, problems: Iterable[str]) -> None:
        """Show what the runtime has loaded; `problems` of theme and keys come first."""
        runtime, regions = self.runtime, self.regions
        runtime.host.on_change = regions.ticker.changed
        runtime.tell_user = self.navigator.tell_user
        regions.servers.show_host(
            runtime.host,
            tokens=runtime.request.latest_definition_tokens,
            attached=dict if runtime.door is None else runtime.door.attached_words,
            mistakes=any(one not in runtime.warnings for one in runtime.problems),
        )
        if runtime.conversations.messages or runtime.conversations.remarks:  # a saved conversation was named
            self.current.show()
        else:  # the conversation may have notes about messages that were sent while the app loaded
            self.current.adopt()
        notes = StandingNotes(runtime, regions)
        for problem in problems:
            regions.conversation.add_note(problem, "bad")
        notes.show_problems()
        regions.ticker.observers.append(notes.show)
        self._sources.runtime = runtime
        self.turns.flush()
        regions.ticker.wake()
        await self.outbox.begin()
        if server := runtime.options.opens:
            self.navigator.open_server(server)

    async def close(self) -> None:
        await self.outbox.close()
        await self._sources.close()
        await self.turns.close()
        await self.regions.close()

    # ---- actions of the chat screen ----

    def why_not(self, found: Action) -> str:
        """Return why an action is unavailable now, in a few words, or ""; other screens say it themselves."""
        if not found.when or found.context in OF_SCREENS:
            return ""
        why: str = method_at(self, found.when)()
        return why

    async def act(self, action_id: str) -> None:
        """Run an action, or say why it is unavailable; those that need the runtime do nothing without it."""
        found = action(action_id)
        # Without a turn to stop, the key for it has another meaning.
        if found.id != "chat.cancel" and self._says_unavailable(found):
            return
        if found.id in NEED_RUNTIME and not self.runtime.is_ready:
            return
        result = method_at(self, found.place)()
        if isawaitable(result):
            await result

    def _says_unavailable(self, found: Action) -> bool:
        """Say why an action is unavailable and return True; if it is available, return False."""
        if not (why := self.why_not(found)):
            return False
        next_step = ""
        if why == A_TURN_RUNS:
            next_step = _("Press {key} to stop it.", key=self.regions.key_of("chat.cancel"))
        what = re.split("[,，]", _(found.help))[0]
        action = f"{what[:1].lower()}{what[1:]}"
        told = _("Cannot {action}: {why}.", action=action, why=localized(why))
        self.regions.notify(sentences(told, next_step), timeout=4)
        return True

    def explain_letter(self, key: str) -> None:
        """Say why a letter in the conversation does nothing: it answers no question, or is text."""
        for found in of_context(Context.QUESTION):
            if key in self.regions.overrides.keys_of(found).split(",") and self._says_unavailable(found):
                return
        told = _("Press {key} to write a message.", key=self.regions.key_of("focus.composer"))
        self.regions.notify(told, timeout=4)

    def open_rules(self) -> None:
        """Show the rules that apply to the call that waits for approval."""
        self.navigator.open_rules(self.approvals.current)

    def choose(self, what: Choice) -> None:
        """Act on what the user chose in the conversation."""
        match what:
            case str(question):
                self.regions.go_to(Context.COMPOSER)
                self.turns.send(Written(question, question))
            case (server, link):
                self.navigator.open_link(server, link)
            case None:
                self.current.open_menu()
