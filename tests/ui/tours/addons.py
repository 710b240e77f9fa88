"""Screens of add-ons, and questions without snapshots: whether longer texts have room."""

import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from textual.screen import Screen

from tests.changing_server import tool
from tests.ui.fake_host import running
from tests.ui.fakes import FakeRuntime
from tests.ui.kept_stage import CASES
from tests.ui.snapshot_stage import MILK, idle
from tests.ui.snapshot_tour import Tour, Visit
from tests.ui.test_held_messages import Way
from tests.unit.addons.events.test_rows import subscribed
from tests.unit.addons.skills.site import raw_entry
from tests.unit.addons.tests.review.stage import TEXT, failures
from tests.unit.addons.tests.screens.test_keep_turn import keeping
from tui.addons.doctor.screen import DoctorScreen
from tui.addons.doctor.steps import Checklist, Step
from tui.addons.events.inbox import Inbox
from tui.addons.events.rules import EventRule
from tui.addons.events.screen import EventsScreen
from tui.addons.events.subscribe import SubscribeForm
from tui.addons.events.subscription import State as Standing
from tui.addons.events.wire import EventType
from tui.addons.skills.approvals import Approval, ApprovalState
from tui.addons.skills.entry import SkillEntry, entry_of
from tui.addons.skills.server_skills import SkillListing
from tui.addons.tests.review.decisions import Review
from tui.addons.tests.review.last_runs import LastRuns, LastRunsReporter
from tui.addons.tests.run.outcome import Outcome, RunOutcome, State, SuiteOutcome, TurnCell, TurnRun
from tui.addons.tests.run.reporter import RunStart
from tui.addons.tests.screens.keep_dialog import KeepDialog
from tui.addons.tests.screens.keep_turn import KeptTurn
from tui.addons.tests.screens.review_screen import ReviewScreen
from tui.addons.tests.screens.turn_table import TurnConversation, TurnTable
from tui.addons.tests.suite.case import TurnCase
from tui.addons.tests.suite.read import read_suite
from tui.addons.tests.turns.last_cells import LastCells
from tui.addons.watch.handover import HandoverResult
from tui.addons.watch.report import RestartReport
from tui.addons.watch.watches import ServerWatch
from tui.core.context.instructions import project_instructions
from tui.core.conversation.conversation import AssistantMessage, Conversation, UserMessage
from tui.core.conversation.sessions import Reopened, SessionMeta
from tui.core.language.translate import message, n_message
from tui.core.permission.definitions import Accepted, DefinitionChange
from tui.core.questions import AgentQuestion, AttachQuestion, ConfigErrors, SkillQuestion
from tui.core.workbench import CacheHint
from tui.ui.dialogs.rows_dialog import TextDialog
from tui.ui.dialogs.text_dialogs import ProjectDialog
from tui.ui.keys.bindings import KeyOverrides
from tui.ui.workbench.kept_calls import KeptCheck


async def opened(visit: Visit, name: str, screen: Screen[Any], *texts: str) -> None:
    """Look at a screen, and close it."""
    visit.app.push_screen(screen)
    await visit.see(name, *texts)
    await visit.press("escape")


DOCTOR = Checklist(
    "weather",
    "python weather.py",
    [
        Step("command", "/usr/bin/python"),
        Step("interpreter", "Python 3.13 (/usr/bin/python)"),
        Step("stray output", "nothing", said=(message("no output that is not a message"), "")),
        Step.failed("handshake", "timeout", "wait longer"),
    ],
    ("lists", "schemas", "tokens"),
)


async def doctor(visit: Visit) -> None:
    screen = DoctorScreen(visit.runtime, "weather")

    async def examine() -> None:
        screen._found = DOCTOR
        screen.call_later(screen.look)

    screen._examine = examine
    await opened(visit, "doctor", screen, "Failed at handshake.", "not reached")


HOOK = EventType("hook", "A hook", ("webhook",))
PUSH = EventType("push", "A push", ("push",), {"properties": {"repo": {"type": "string"}}})


def of_events(runtime: FakeRuntime) -> None:
    """Let a runtime have a lost subscription, an event, and a rule that is not confirmed."""
    rule = EventRule("hub/push", "Anything odd?")
    acting = SimpleNamespace(turns=[], confirmed={})
    actor = SimpleNamespace(is_on=True, rules=[rule], state=acting, running=None)
    actor.standing = lambda rule: "not confirmed"
    known = SimpleNamespace(
        begin=lambda: None, offers=lambda server: True, revision=1, problem="", actor=actor
    )
    known.inbox = Inbox()
    known.inbox.add("hub", event="push", at=0.0, data={"n": 1})
    known.subscriptions = [subscribed(state=Standing.LOST, gaps=2)]
    known.subscriptions[0].task, known.delivers = None, True
    known.of = lambda server: known.subscriptions

    async def types(server: str) -> tuple[list[EventType], str]:
        return [PUSH, HOOK], ""

    known.types = types
    runtime.events = known


async def events(visit: Visit) -> None:
    of_events(visit.runtime)
    await opened(
        visit, "events", EventsScreen(visit.runtime, visit.app.main.parts.navigator), "1 unread", "lost"
    )
    form = SubscribeForm(KeyOverrides(), "hub", PUSH, "push")
    await opened(visit, "event-subscribe", form, "SUBSCRIBE", "keeps a stream")


def failed_suite() -> None:
    """Write a suite whose cases failed."""
    file = Path("weather.mcp.toml")
    file.write_text('server = "weather"\n' + CASES)
    suite = read_suite(file)
    why = 'text: expected "Hangzhou: rain, <number> °C.", got "Hangzhou: snow"'
    outcomes = [Outcome(case.name, case.line, State.FAILED, why, ms=12.0) for case in suite.cases]
    reporter = LastRunsReporter(LastRuns(), lambda: Path("run.mcptrace"), str)
    reporter.began(RunStart([suite], None, time.time()))
    reporter.suite_ended(SuiteOutcome(suite, outcomes))
    reporter.ended(RunOutcome())
    runs = [
        TurnRun(State.PASSED, steps=2, tokens=3000, ms=12.5),
        TurnRun(State.FAILED, "get_weather: not called"),
    ]
    cell = TurnCell("qwen3", "qwen3:8b", "EUR", 2, runs)
    cells = LastCells()
    outcome = Outcome("rain?", 4, State.FAILED, "1 of 2", case=TurnCase("rain?", 4), cell=cell)
    cells.put(file, outcome, Path("run.mcptrace"), time.time())
    cells.close()


async def kept_tests(visit: Visit) -> None:
    failed_suite()
    await visit.press("alt+t")
    await visit.see("tests-failed", "2 failed", 'got "Hangzhou: snow"')
    await visit.press("escape")
    await opened(visit, "turn-table", TurnTable(visit.runtime), "1 turn case", "run 2")
    talk = Conversation(messages=[UserMessage("Rain?"), AssistantMessage("Yes.")])
    shown = TurnConversation(Reopened(MILK, SessionMeta(), talk), (("rain?", "text"),))
    await opened(visit, "turn-conversation", shown, "Yes.")
    found = failures(Path("review.mcp.toml"))
    review = Review.of(found, {found[0].path: TEXT})
    screen = ReviewScreen(review, lambda failure: None, lambda failure: None)
    visit.app.push_screen(screen)
    await visit.see("review-contract", "REVIEW", "a tool is gone")
    await visit.press("n")
    await visit.see("review", "2 of 5", "expected")
    await visit.press("a")
    await visit.see("review-accepted", "1 accepted")
    await visit.press("escape")
    kept = keeping(Path.cwd(), "weather", "notes")
    await opened(
        visit, "keep-turn", KeepDialog(KeptTurn(kept, kept.target())), "KEEP THE TURN", "added to 2 cases"
    )


SKILL = SkillQuestion(
    "docs",
    "forms",
    "skill://forms/SKILL.md",
    "Fill forms",
    "python docs.py",
    [("SKILL.md", 78), ("references/FIELDS.md", 14)],
    changes=[message("SKILL.md changed")],
)


async def addon_questions(visit: Visit) -> None:
    person = visit.app.main.parts.approvals
    await visit.asked("question-skill", person.ask(SKILL), "Load the skill", "references/FIELDS.md")
    agent = AgentQuestion("cursor", "files", "delete", {"path": "/a"}, message("It may delete data."))
    await visit.asked("question-agent", person.ask(agent), "May an agent", "cursor")
    errors = ConfigErrors([message("no file to watch")] * 30)
    await visit.asked("question-errors", person.ask(errors), "and", "edit again")
    attach = AttachQuestion("mcptui call (pid 12)")
    await visit.asked("question-attach", person.ask(attach), "wants to use the servers")
    instructions = project_instructions("/demo", "Be brief.\n" * 30)
    dialog = ProjectDialog(instructions, "~3 tokens", used=False)
    await opened(visit, "project-instructions", dialog, "Not in use.")
    await opened(visit, "skill-text", TextDialog("forms / SKILL.md", "# Forms"), "# Forms")


def watched() -> FakeRuntime:
    """A server that is watched, and used by a command."""
    runtime = FakeRuntime()
    used = n_message("used by {n} command", "used by {n} commands", 1)
    runtime.door = SimpleNamespace(attached_words=lambda: {"weather": used})
    status = running("weather")
    runtime.host.put(replace(status, spec=replace(status.spec, watch=("*.py",))))
    watch = object.__new__(ServerWatch)
    watch.name, watch.patterns, watch.folder, watch.report = "weather", ("*.py",), "", None
    watch.restarts, watch.is_restarting, watch.problem, watch.is_empty = 0, False, "", False
    runtime.watches = SimpleNamespace(find=lambda server: watch, paused=set(), awaited=set())
    return runtime


async def watch_line(visit: Visit) -> None:
    await visit.press("f3")
    await visit.see("servers-used", "used by 1 command")
    await visit.press("enter")
    await visit.see("bench-watched", "*.py", "stop watching")
    before, after = tool("get_weather", "city"), tool("get_weather", "city", "days")
    change = DefinitionChange("weather", "get_weather", "new", Accepted("old", before), after)
    watch = visit.runtime.watches.find("weather")
    watch.report = RestartReport(HandoverResult(True, True, 1.0, changes=[change]), KeptCheck(0, ["Oslo"]))
    await visit.see("bench-restarted", "get_weather: breaking", "1 kept differs")
    watch.report = None
    watch.problem = message("no file to watch")
    await visit.see("bench-unwatched", "no file to watch")


class Loader:
    """`tui.addons.skills.loader.SkillLoader` of a skill that has changed."""

    revision = 1

    def servers(self) -> list[str]:
        return []

    def listing(self, server: str) -> tuple[SkillListing, str]:
        entry = entry_of(server, raw_entry())
        return SkillListing(server, (entry,), ("an entry",), CacheHint(None, "", 0)), ""

    def state(self, entry: SkillEntry) -> ApprovalState:
        return ApprovalState(Approval.NEW)


async def tabs(visit: Visit) -> None:
    failed_suite()
    of_events(visit.runtime)
    visit.runtime.skill_loader = Loader()
    visit.runtime.workbench.extension = lambda server, name: {}
    await visit.press("f3", "enter")
    await visit.shows("get_weather")
    await visit.press("7")
    await visit.see("bench-tests", 'got "Hangzhou: snow"')
    await visit.press("8")
    await visit.see("bench-skills", "1 entry omitted", "references/FIELDS.md")
    await visit.press("9")
    await visit.see("bench-events", "A push", "webhooks need a public address.")


async def held_answer(visit: Visit) -> None:
    runtime = visit.runtime
    schema = {"type": "object", "properties": {"count": {"type": "integer"}}, "required": ["count"]}
    runtime.workbench.schemas["delete_note"] = schema
    result = {"content": [{"type": "text", "text": "7"}], "structuredContent": {"count": 7}}
    runtime.recorded.call("delete_note", source="notes", arguments={"id": "old"}, result=result)
    await visit.press("f4")
    await visit.shows("delete_n")
    await visit.press("I", *"tool:delete_*", "enter")
    await visit.shows("tool:delete_*")
    Way(runtime).call(7, "delete_note", id="new")
    await visit.shows("HELD 1")
    await visit.press("H", "r")
    await visit.see("held-form", "another call", "required")
    await visit.press("x", "ctrl+s")
    await visit.see("held-form-wrong", "is not an integer")
    await visit.press("backspace", "ctrl+e")
    await visit.see("held-json", "structuredContent")


ADDONS = (
    Tour(idle, doctor, ("doctor",)),
    Tour(idle, events, ("events", "event-subscribe")),
    Tour(watched, watch_line, ("servers-used", "bench-watched", "bench-restarted", "bench-unwatched")),
    Tour(idle, tabs, ("bench-tests", "bench-skills", "bench-events")),
    Tour(
        idle,
        kept_tests,
        (
            "tests-failed",
            "turn-table",
            "turn-conversation",
            "review-contract",
            "review",
            "review-accepted",
            "keep-turn",
        ),
    ),
    Tour(
        idle,
        addon_questions,
        (
            "question-skill",
            "question-agent",
            "question-errors",
            "question-attach",
            "project-instructions",
            "skill-text",
        ),
    ),
    Tour(FakeRuntime, held_answer, ("held-form", "held-form-wrong", "held-json")),
)
"""They are not in `snapshot_tour.TOURS`."""
