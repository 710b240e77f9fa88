"""The questions whether a server from elsewhere may start, and whether it is trusted."""

import dataclasses

import pytest

from tests.ui.app_stage import screen_text, shows
from tests.ui.question_stage import app_with_person, asked, dialog_alone, in_dialog, painted, read_by, ripe
from tui.core.permission.consent import ConsentQuestion, ConsentsQuestion
from tui.core.ports import TrustQuestion
from tui.core.questions import Action, QuestionAnswer

__all__ = ["ripe"]

pytestmark = pytest.mark.usefixtures("ripe")

QUESTION = ConsentQuestion(
    "weather",
    "the file /tmp/mcp.json",
    is_remote=False,
    facts=(("command", "npx -y [b]weather[/b]"), ("folder", "/srv")),
    risks=("weather is not pinned to a version.",),
    changes=("argument 1: was x, is now y",),
)


async def test_the_command_and_the_effects_of_yes_and_no_are_shown():
    async with dialog_alone(QUESTION) as (app, _, _):
        await shows(
            app, "The server “weather” has changed since you agreed to it.", "npx -y [b]weather[/b]", "/srv"
        )
        await shows(app, "! weather is not pinned", "changed: argument 1: was x, is now y")
        await shows(app, "Yes: the program runs on this computer with your permissions.", "No: it does not")
        await shows(app, "ctrl+s yes, start it", "ctrl+x no", "esc not now")


async def test_the_question_about_a_model_asks_to_use_it():
    model = dataclasses.replace(QUESTION, server="models.m", is_model=True, is_remote=True, changes=())
    async with dialog_alone(model) as (app, _, _):
        await shows(app, "The model “models.m” comes from", "Use it?", "ctrl+s yes, use it")


DAMAGED = dataclasses.replace(QUESTION, changes=(), damage="Cut: \x1b[31mconsents.json")


@pytest.mark.parametrize(
    "question", [DAMAGED, ConsentsQuestion([DAMAGED, dataclasses.replace(DAMAGED, server="notes")])]
)
async def test_a_damaged_consent_file_is_named_once(question: ConsentQuestion | ConsentsQuestion):
    async with dialog_alone(question) as (app, _, _):
        await shows(app, "! Cut: ␛[31mconsents.json")
        assert screen_text(app).count("! Cut") == 1 and "never been" not in screen_text(app)


async def test_yes_counts_only_once_all_of_a_long_command_was_on_screen():
    long = dataclasses.replace(QUESTION, facts=(("command", "x " * 3000 + "rm"),))
    async with in_dialog(long, (80, 24)) as (app, pilot, waiting):
        await painted(app)
        await pilot.press("ctrl+s")
        await shows(app, "Read all of it first.", "not shown yet (pgdn)")
        await pilot.press("end")
        await shows(app, "rm", "not shown yet (pgup)")
        await pilot.press("ctrl+s")
        assert not waiting.done()
        await read_by(app, pilot, "pageup")
        await pilot.press("ctrl+s")
        assert (await waiting).action is Action.ACCEPT


@pytest.mark.parametrize(
    "long",
    [
        dataclasses.replace(QUESTION, facts=(("command", "x " * 20_000 + "rm"),)),
        dataclasses.replace(QUESTION, changes=[f"argument {number}: new" for number in range(400)]),
    ],
)
async def test_a_command_too_long_to_review_cannot_be_accepted(long: ConsentQuestion):
    async with dialog_alone(long) as (app, pilot, waiting):
        await shows(
            app, "This is too long to review here (4", "if you used it, to read all of it", "ctrl+x no"
        )
        assert "ctrl+s" not in screen_text(app)
        await pilot.press("ctrl+s")
        await shows(app, "! This is too long to review here (")
        assert not waiting.done()
        await pilot.press("ctrl+x")
        assert (await waiting).action is Action.DECLINE


@pytest.mark.parametrize("size", [(40, 12), (80, 24), (120, 40)])
async def test_the_keys_are_visible_at_every_size(size: tuple[int, int]):
    async with dialog_alone(QUESTION, size) as (app, _, _):
        await shows(app, "ctrl+x no")


FIVE = ConsentsQuestion(
    [dataclasses.replace(QUESTION, server=f"server{number}", changes=()) for number in range(5)]
)


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
async def test_servers_of_one_file_are_shown_in_full_and_yes_counts_once_all_were_read(size: tuple[int, int]):
    async with in_dialog(FIVE, size) as (app, pilot, waiting):
        await shows(
            app,
            "Start these 5 servers? They come from the file /tmp/mcp.json.",
            "The server “server0”  1 of 5",
        )
        await shows(app, "ctrl+s yes, start all 5", "ctrl+u one by one", "ctrl+x no, start none")
        if size[1] == 24:
            await pilot.press("ctrl+s")
            await shows(app, "Read all of it first.")
        await read_by(app, pilot, "pagedown")
        await shows(app, "The server “server4”  5 of 5", "Yes: mcptui starts all of these")
        await pilot.press("ctrl+s")
        assert (await waiting).action is Action.ACCEPT


async def test_the_keys_and_the_queue_take_one_line_each():
    async with app_with_person((80, 24)) as (app, _, person):
        first, second = asked(person.ask(FIVE)), asked(person.ask(QUESTION))
        await shows(app, "ctrl+s yes, start all 5    ctrl+u one by one    ctrl+x no, start none")
        await shows(app, "1 more question waiting")
        first.cancel()
        second.cancel()


@pytest.mark.parametrize(
    ("key", "answer"),
    [
        ("ctrl+x", QuestionAnswer(Action.DECLINE)),
        ("escape", QuestionAnswer(Action.CANCEL)),
        ("ctrl+u", QuestionAnswer(Action.CANCEL, each=True)),
    ],
)
async def test_every_answer_but_yes_can_be_given_without_reading(key: str, answer: QuestionAnswer):
    async with dialog_alone(FIVE) as (_, pilot, waiting):
        await pilot.press(key)
        assert await waiting == answer


# ---- trust ----


TRUST = TrustQuestion("fetch\x1b[31m", "[b]get[/b]")


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (60, 15)])
async def test_the_question_shows_what_each_answer_does_and_quotes_the_server(size: tuple[int, int]) -> None:
    async with dialog_alone(TRUST, size) as (app, pilot, waiting):
        await shows(app, "ctrl+s trust", "ctrl+x do not trust", "esc not now")
        text = " ".join(screen_text(app).replace("▌", " ").split())
        assert "marks its tool “[b]get[/b]” as read-only" in text and "\x1b" not in text
        assert "run without approval" in text and "Its calls need approval" in text
        await pilot.press("escape")
        assert (await waiting).action is Action.CANCEL
