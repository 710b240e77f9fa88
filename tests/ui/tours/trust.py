"""Questions before anything runs or is trusted: consent, trust, and a call after untrusted content."""

from tests.ui.snapshot_stage import CONSENT, CONSENT_AGAIN, CONSENT_REMOTE, after_untrusted, idle
from tests.ui.snapshot_tour import Visit, tour
from tui.core.ports import TrustQuestion
from tui.ui.chat.question_queue import QuestionQueue


@tour(
    idle,
    "question-consent",
    "question-consent-changed",
    "question-consent-remote",
    "question-trust",
)
async def trust(visit: Visit) -> None:
    assert visit.app.main.parts is not None
    person = visit.app.main.parts.approvals
    assert isinstance(person, QuestionQueue)
    await visit.asked("question-consent", person.ask(CONSENT), "has never been started", "no")
    await visit.asked("question-consent-changed", person.ask(CONSENT_AGAIN), "has changed", "no")
    await visit.asked("question-consent-remote", person.ask(CONSENT_REMOTE), "tickets.example.com/mcp", "no")
    question = TrustQuestion("weather", "get_weather")
    await visit.asked("question-trust", person.trust(question), "Trust the server")


@tour(after_untrusted, "chat-untrusted")
async def after_untrusted_content(visit: Visit) -> None:
    await visit.ask("What's the weather?")
    await visit.shows("y once")
    visit.clock.advance(10)  # the keys answer only after the question could be read
    await visit.press("f2")
    await visit.see("chat-untrusted", "contains a result", "y once")
