"""Content of header, status line and footer; what mcptui itself says in the conversation."""

import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from tui.core import units
from tui.core.files import short_path
from tui.core.language.translate import N_, _, localized, n_
from tui.core.ports import NO_MODEL
from tui.core.servers import fault_words
from tui.runtime.runtime import Runtime
from tui.ui.chat.bridge import Bridge
from tui.ui.chat.question_queue import QuestionQueue
from tui.ui.chat.regions import Regions
from tui.ui.chat.status_line import LOADING, Meter, Status
from tui.ui.chat.turn_queue import TurnQueue
from tui.ui.keys.action_table import Action, Context
from tui.ui.keys.footer import in_footer
from tui.ui.widgets import times
from tui.ui.widgets.server_rows import MOVING, running_words

AGAIN_SECONDS = 10.0
"""No note is added for a fault within this time after the last one: the status line shows it."""


@dataclass(slots=True)
class FaultNotes:
    """Decides which notes to show for one thing that can fail: a state machine without its own clock.

    `failing` is the text before a fault's reason, `working` the text for the end of the fault.
    """

    failing: str
    working: str
    _why: str = ""
    _noted_at: float = float("-inf")

    def forget(self) -> None:
        """Start over, for another conversation."""
        self._why, self._noted_at = "", float("-inf")

    def seen(self, why: str, now: float) -> Iterator[tuple[str, str]]:
        """Yield the note to add, if any, as text and kind. `why` is the reason of the fault, or "".

        `now` is in seconds and never decreases.
        """
        if why != self._why and (not why or now - self._noted_at >= AGAIN_SECONDS):
            self._why, self._noted_at = why, now
            failing = _("{problem}: {reason}.", problem=_(self.failing), reason=localized(why))
            yield (failing, "bad") if why else (_(self.working), "info")


class ChatStatus:
    """Header, status line and footer, from the stores. Reads nothing from a runtime that is not ready."""

    def __init__(
        self,
        runtime: Runtime,
        regions: Regions,
        chat: TurnQueue,
        bridge: Bridge,
        approvals: QuestionQueue,
        why_not: Callable[[Action], str],
    ) -> None:
        self._runtime = runtime
        self._regions = regions
        self._chat = chat
        self._bridge = bridge
        self._approvals = approvals
        self._why_not = why_not
        self._folder = short_path(os.getcwd())

    def show(self) -> bool:
        """Show changes, cheap if there are none; return whether something moves."""
        regions, runtime = self._regions, self._runtime
        focus = regions.focus_context
        statuses = runtime.host.statuses() if runtime.is_ready else ()
        # The line above the conversation shows that it has the focus; other panes have titles.
        lit = focus is Context.CONVERSATION and not regions.is_narrow
        regions.rule_top.light(regions.conversation.region.right if lit else 0)
        regions.rule_top.count(running_words(statuses))
        info = runtime.conversations.info if runtime.is_ready else None  # None before the first message
        title, faults = info.title if info is not None else "", fault_words(statuses)
        regions.header.show(title, self._folder, self._model, self._step, faults)
        regions.status_line.show(self._status(folded=regions.is_short))
        regions.footer.show(in_footer(focus, self._why_not, regions.overrides))
        return (
            not runtime.is_ready
            or self._chat.running
            or bool(runtime.conversations.busy)
            or any(status.state in MOVING for status in statuses)
        )

    @property
    def _model(self) -> str:
        return localized(self._runtime.model_label) if self._runtime.is_ready else _("loading…")

    @property
    def _step(self) -> str:
        meter = self._chat.meter
        if meter is None or not self._bridge.step:
            return ""
        return _("step {place}", place=self._place(meter.limits.max_steps))

    def _place(self, most: int) -> str:
        return _("{n} of {all}", n=self._bridge.step, all=max(most, self._bridge.step))

    def _status(self, *, folded: bool) -> Status:
        """Return the status line. `folded`: there is no header to show model and step."""
        runtime = self._runtime
        if not runtime.is_ready:
            return Status(activity=_(LOADING))
        meters = runtime.conversations.meters
        about = "~" if meters.estimated else ""
        context: Meter | str = f"{about}{units.count(meters.context)}" if meters.context else ""
        if meters.context and meters.window:
            words = _("{n} of {all}", n=context, all=units.count(meters.window))
            context = Meter(_("context"), meters.context, meters.window, words)
        unrecorded = _("not recorded") if runtime.unrecorded or runtime.decisions.problem else ""
        return Status(
            activity=self._activity(),
            urgent=self._approvals.current is not None or self._bridge.can_continue,
            stalled=self._bridge.is_stalled,
            meters=tuple(self._meters(with_step=folded)),
            model=self._model if folded else "",
            context=context,
            tokens=f"{about}{units.count(meters.tokens)}" if meters.tokens else "",
            cost="" if meters.cost is None else about + units.money(meters.cost, meters.currency),
            fault=_("not saved") if runtime.unsaved else unrecorded,
            news=self._news(),
        )

    def _news(self) -> str:
        """Return how many events are unread, or that the model is asked about some."""
        events = self._runtime.__dict__.get("events")
        if events is None:
            return ""
        if events.actor.running is not None:
            return _("asking about events")
        unread = events.inbox.unread
        return n_("{n} unread event", "{n} unread events", unread) if unread else ""

    def _activity(self) -> str:
        if self._approvals.current is not None:
            if not (others := self._approvals.waiting):
                return _("waiting for approval")
            return n_("{n} call waiting for approval", "{n} calls waiting for approval", others + 1)
        if self._bridge.can_continue:
            return _("limit reached: {key} continues", key=self._regions.key_of("chat.continue"))
        return _("stopping") if self._chat.stopping else self._bridge.activity

    def _meters(self, *, with_step: bool) -> Iterator[Meter]:
        meter = self._chat.meter
        if meter is None or self._bridge.waits:  # a countdown takes precedence
            return
        limits = meter.limits
        if with_step and self._step:
            words = self._place(limits.max_steps)
            yield Meter(_("step"), self._bridge.step, limits.max_steps, words)
        calls = max(meter.tool_calls, self._bridge.calls_begun)  # the meter counts finished calls
        most = limits.max_tool_calls
        yield Meter(_("calls"), calls, most, _("{n} of {all}", n=calls, all=most))
        seconds = meter.time.seconds
        words = _("{n} of {all}", n=times.clock(seconds), all=times.clock(limits.turn_seconds))
        yield Meter(_("time"), seconds, limits.turn_seconds, words)


class StandingNotes:
    """What mcptui itself says in the conversation: the welcome, problems, faults, changed instructions.

    The runtime is ready.
    """

    def __init__(self, runtime: Runtime, regions: Regions) -> None:
        self._runtime = runtime
        self._regions = regions
        self._seen: tuple[int, int] | None = None
        self._problems_shown: Sequence[str] = ()
        self._project_shown = 0
        self._opened = 0
        self._unsaved = FaultNotes(
            N_("This conversation is not saved"), N_("This conversation is saved again. Nothing was lost.")
        )
        self._unrecorded = FaultNotes(N_("The traffic is not recorded"), N_("The traffic is recorded again."))
        self._unexported = FaultNotes(N_("Telemetry is not exported"), N_("Telemetry is exported again."))
        self._undecided = FaultNotes(N_("Decisions are not recorded"), N_("Decisions are recorded again."))
        self._failed = FaultNotes(N_("Internal error, see mcptui.log. Failed thread"), "")

    def show(self) -> None:
        """Show changes, cheap if there are none."""
        runtime = self._runtime
        self._show_faults()
        seen = (runtime.host.revision, runtime.revision)
        if seen != self._seen:
            self._seen = seen
            self.show_problems()
            examples, key_of = runtime.examples(), self._regions.key_of
            lines = list(self._welcome_lines(bool(examples)))
            keys = [(key_of("focus.conversation"), _("pick an example"))] if examples else []
            keys.append((key_of("focus.servers"), _("servers and tools")))
            keys.append((key_of("chat.models"), _("switch model")))
            self._regions.conversation.set_welcome(lines, examples, keys)
            project = runtime.request.project
            if project.changed and project.revision != self._project_shown:
                self._project_shown = project.revision
                if runtime.conversations.messages:  # an empty conversation shows it at its start
                    self._regions.conversation.add_note(runtime.request.project_words, "info")

    def _welcome_lines(self, has_examples: bool) -> Iterator[str]:
        """Yield the lines of an empty conversation."""
        model, key_of = self._runtime.model_label, self._regions.key_of
        choosing, adding = key_of("chat.models"), key_of("model.add")
        yield _("Ask anything, or try an example.") if has_examples else _("Ask anything.")
        if self._runtime.model_notice:
            yield _(
                "This is the {model}. To use another, set an API key such as OPENAI_API_KEY, start Ollama "
                "or LM Studio, or add a model ({models}, {add}).",
                model=localized(model),
                models=choosing,
                add=adding,
            )
        elif model == NO_MODEL:
            yield _(
                "No model is selected. Select one ({models}), or add one ({models}, {add}).",
                models=choosing,
                add=adding,
            )
        else:
            yield localized(model)
        if project := self._runtime.request.project_words:
            yield localized(project)

    def show_problems(self) -> None:
        """Add new problems to the conversation; some occur only while the app runs."""
        problems = list(dict.fromkeys(self._runtime.problems))
        for problem in [one for one in problems if one not in self._problems_shown]:
            kind = "warn" if problem in self._runtime.warnings else "bad"
            self._regions.conversation.add_note(problem, kind)
        self._problems_shown = problems

    def _show_faults(self) -> None:
        """Show why something is not saved, and when it is again; meanwhile, the status line has a mark."""
        if self._opened != (opened := self._runtime.conversations.opened):
            self._opened = opened
            self._unsaved.forget()
        now = time.monotonic()
        for notes, why in (
            (self._unsaved, self._runtime.unsaved),
            (self._unrecorded, self._runtime.unrecorded),
            (self._undecided, self._runtime.decisions.problem),
            (self._unexported, self._runtime.traffic.unsent),
            (self._failed, self._runtime.failed_thread),
        ):
            for text, role in notes.seen(why, now):
                self._regions.conversation.add_note(text, role)
