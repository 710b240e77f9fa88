"""Runs the actions of the chat screen, and asks whether they are available."""

from collections.abc import Callable
from inspect import isawaitable

from tui.traffic.spans.span_values import CallSpan
from tui.ui.chat.bridge import Bridge
from tui.ui.chat.outbox import Outbox
from tui.ui.chat.question_queue import ApprovalKeys
from tui.ui.chat.regions import Regions
from tui.ui.chat.turn_queue import A_TURN_RUNS, TurnQueue
from tui.ui.keys.action_table import OF_SCREENS, Action, Context, action, of_context
from tui.ui.keys.bindings import method_at


class ActionHandlers:
    """Finds the methods that the table of actions names, on `owners`, the objects of the chat screen."""

    def __init__(self, owners: object, regions: Regions) -> None:
        self._owners = owners
        self._regions = regions

    def why_not(self, found: Action) -> str:
        """Return why an action is unavailable now, in a few words, or ""; other screens say it themselves."""
        is_ours = found.when and found.context not in OF_SCREENS
        return str(method_at(self._owners, found.when)()) if is_ours else ""

    async def act(self, action_id: str) -> None:
        """Run an action, or say why it is unavailable."""
        found = action(action_id)
        # Without a turn to stop, the key for it has another meaning.
        if found.id != "chat.cancel" and self.says_unavailable(found):
            return
        result = method_at(self._owners, found.place)()
        if isawaitable(result):
            await result

    def says_unavailable(self, found: Action) -> bool:
        """Say why an action is unavailable and return True; if it is available, return False."""
        if not (why := self.why_not(found)):
            return False
        stop = self._regions.key_of("chat.cancel")
        next_step = f" Press {stop} to stop it." if why == A_TURN_RUNS else ""
        what = found.help.partition(",")[0]
        self._regions.notify(f"Cannot {what[:1].lower()}{what[1:]}: {why}.{next_step}", timeout=4)
        return True

    def explain_letter(self, key: str) -> None:
        """Say why a letter in the conversation does nothing: it answers no question, or is text."""
        for found in of_context(Context.QUESTION):
            if key in self._regions.overrides.keys_of(found).split(",") and self.says_unavailable(found):
                return
        self._regions.notify(f"Press {self._regions.key_of('focus.composer')} to write a message.", timeout=4)


class TurnKeys:
    """Stops and continues turns, and cancels what the user started."""

    def __init__(
        self,
        regions: Regions,
        bridge: Bridge,
        turns: TurnQueue,
        outbox: Outbox,
        approvals: ApprovalKeys,
        busy: Callable[[], str],
    ) -> None:
        """Take what turns need; `busy` returns why the conversation cannot be changed now."""
        self._regions = regions
        self._bridge = bridge
        self._turns = turns
        self._outbox = outbox
        self._approvals = approvals
        self._busy = busy

    def why_idle(self) -> str:
        return "" if self._turns.running else "no turn is running"

    def why_not_continue(self) -> str:
        if not self._bridge.can_continue:
            return "the last turn did not end at a limit"
        return A_TURN_RUNS if self._turns.running else ""

    def continue_turn(self) -> None:
        if problem := self._busy():
            self._regions.notify(problem)
        else:
            self._turns.continue_turn()

    def cancel(self) -> None:
        """Close a list, cancel a command or stop the turn; otherwise, focus the composer."""
        composer = self._regions.composer
        if (composer.has_focus and composer.leave()) or self._outbox.cancel():
            return
        if self._turns.running or self._turns.reading:
            self._approvals.close()
            if held := self._turns.cancel():
                composer.put_back(held)
        else:
            self._regions.go_to(Context.COMPOSER)

    def cancel_call(self) -> None:
        regions = self._regions
        span = regions.trace.selected if regions.focus_context is Context.TRACE else None
        call = span.id if isinstance(span, CallSpan) else regions.conversation.selected_call
        self._approvals.close()
        if not self._turns.cancel_call(call):
            regions.notify("Select a running call first.", timeout=3)
