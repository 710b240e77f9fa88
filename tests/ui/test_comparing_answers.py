"""Two answers side by side, over the real runtime, store and endpoints."""

import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.conftest import until
from tests.endpoint import Answer, Endpoint, calls, chunk, refuses, says
from tests.ui.real_stage import RealApp, real_app
from tui.ui.chat.parts import ChatParts
from tui.ui.chat.transcript.transcript import Transcript
from tui.ui.lists.models import ModelsScreen
from tui.ui.results.result_screen import ResultScreen

PRICES = "price_in = 1000.0\nprice_out = 2000.0\n"


@dataclass
class Compared:
    """The app with the models `one`, which is used first, and `two`."""

    real: RealApp
    one: Endpoint
    two: Endpoint

    @property
    def left(self) -> Transcript:
        pane = self.real.app.main.regions.compared
        assert pane is not None
        return pane

    @property
    def right(self) -> Transcript:
        return self.real.app.main.regions.conversation

    @property
    def parts(self) -> ChatParts:
        parts = self.real.app.main.parts
        assert parts is not None
        return parts

    async def approve(self) -> None:
        """Allow the call that waits, once the question takes keys."""
        await until(lambda: self.parts.approvals.answer_delay.accepts_keys)
        await self.real.press("y")

    async def ask(self, text: str, answer: str) -> None:
        self.real.app.main.composer.insert(text)
        await self.real.press("enter")
        await self.real.shows(answer)
        await self.ended()

    async def ended(self) -> None:
        await until(lambda: not self.parts.turns.running, what="the turn ended")

    async def compare(self, *keys: str) -> None:
        """Compare the last answer, or the selected one, with that of the model that `keys` select."""
        before = self.parts.turns.started
        if self.right is not self.real.app.main.focused:
            await self.real.press("f2")
        await self.real.press("m")
        await until(lambda: isinstance(self.real.app.screen, ModelsScreen))
        await self.real.shows("for the comparison", "model-two")
        await self.real.press(*keys)
        await until(lambda: self.parts.turns.started > before, what="the second answer began")

    def has_columns(self) -> bool:
        return bool(self.real.app.main.query("#compared"))

    def texts(self, endpoint: Endpoint) -> list[str]:
        """Return the user messages of the last request to an endpoint."""
        return [one["content"] for one in endpoint.requests[-1].json["messages"] if one["role"] == "user"]


@asynccontextmanager
async def comparing(
    home: Path,
    one: list[Answer],
    two: list[Answer],
    *,
    servers: str = "servers = {}\n",
    size: tuple[int, int] = (120, 40),
    more: str = "",
) -> AsyncIterator[Compared]:
    async with Endpoint(one, models=["model-one"]) as first, Endpoint(two, models=["model-two"]) as second:
        config = (
            f'{servers}\n[models.one]\nmodel = "model-one"\nbase_url = "{first.base_url}"\n{PRICES}{more}'
            f'[models.two]\nmodel = "model-two"\nbase_url = "{second.base_url}"\n'
        )
        config = f'default_model = "one"\n{config}'
        async with real_app(home, config, size=size) as real:
            yield Compared(real, first, second)


def tools(home: Path) -> str:
    """Return the configuration of a server with the tool `nothing_to_do`."""
    python, script = (
        json.dumps(sys.executable),
        json.dumps(str(Path(__file__).with_name("counting_server.py"))),
    )
    env = f"env = {{COUNT_FILE = {json.dumps(str(home / 'counted'))}}}"
    return f"[servers.tools]\ncommand = {python}\nargs = [{script}]\n{env}\n"


async def test_both_answers_are_shown_with_their_figures(separate_home: Path) -> None:
    async with comparing(separate_home, [says("Oslo.")], [says("Rome.")]) as app:
        await app.ask("which city?", "Oslo.")
        await app.compare("down", "enter")
        await app.real.shows("Oslo.", "Rome.", "2 model-two   1 step   12 in   3 out")
        await app.real.shows("1 model-one   1 step   12 in   3 out   $0.018")
        assert app.texts(app.two) == ["which city?"]


async def test_escape_returns_to_the_first_answer_and_its_model(separate_home: Path) -> None:
    async with comparing(separate_home, [says("Oslo.")], [says("Rome.")]) as app:
        await app.ask("which city?", "Oslo.")
        await app.compare("down", "enter")
        await app.real.shows("Rome.", "3 out")
        await app.ended()
        await app.real.press("escape")
        await until(lambda: not app.has_columns() and app.real.runtime.model_label == "model-one")
        await app.real.shows("Oslo.", "SERVERS")
        await app.ask("and now?", "Oslo.")
        assert app.texts(app.one) == ["which city?", "and now?"]
        await app.real.press("f9", "down")
        await app.real.shows("branch of “which city?”", "model-two")


async def test_the_conversation_goes_on_with_the_second_answer(separate_home: Path) -> None:
    async with comparing(separate_home, [says("Oslo.")], [says("Rome."), says("Still Rome.")]) as app:
        await app.ask("which city?", "Oslo.")
        await app.compare("down", "enter")
        await app.real.shows("Rome.")
        await app.ended()
        await app.real.press("2")
        await until(lambda: not app.has_columns())
        await app.ask("sure?", "Still Rome.")
        assert app.texts(app.two) == ["which city?", "sure?"]


async def test_a_message_goes_on_with_the_second_answer(separate_home: Path) -> None:
    async with comparing(separate_home, [says("Oslo.")], [says("Rome."), says("Still Rome.")]) as app:
        await app.ask("which city?", "Oslo.")
        await app.compare("down", "enter")
        await app.real.shows("Rome.")
        await app.ended()
        await app.real.press("f5")
        await app.ask("sure?", "Still Rome.")
        await until(lambda: not app.has_columns())


async def test_an_earlier_question_is_compared_and_its_conversation_is_kept(separate_home: Path) -> None:
    async with comparing(separate_home, [says("Oslo."), says("Bergen.")], [says("Rome.")]) as app:
        await app.ask("which city?", "Oslo.")
        await app.ask("and another?", "Bergen.")
        await app.real.press("f2", "home")
        await app.compare("down", "enter")
        await app.real.shows("Oslo.", "Rome.")
        await app.ended()
        assert "Bergen." not in app.real.text
        assert app.texts(app.two) == ["which city?"]
        await app.real.press("1")
        await app.real.shows("Oslo.", "Bergen.")


async def test_a_second_model_that_fails_leaves_both_columns(separate_home: Path) -> None:
    async with comparing(separate_home, [says("Oslo.")], [refuses(400, "no such thing")]) as app:
        await app.ask("which city?", "Oslo.")
        await app.compare("down", "enter")
        await app.real.shows("Oslo.", "no such thing", "the model failed")


async def test_escape_first_stops_the_second_answer(separate_home: Path) -> None:
    slow = Answer([chunk(role="assistant"), chunk(content="Ro")], hang=True)
    async with comparing(separate_home, [says("Oslo.")], [slow]) as app:
        await app.ask("which city?", "Oslo.")
        await app.compare("down", "enter")
        await app.real.shows("Oslo.", "Ro", "esc stop")
        await app.real.press("escape")
        await app.real.shows("Oslo.", "Stopped.", "stopped")
        assert app.has_columns()
        await app.real.press("escape")
        await until(lambda: not app.has_columns())


async def test_another_comparison_replaces_the_second_answer(separate_home: Path) -> None:
    async with comparing(separate_home, [says("Oslo.")], [says("Rome."), says("Paris.")]) as app:
        await app.ask("which city?", "Oslo.")
        original = app.real.runtime.conversations.info
        assert original is not None
        await app.compare("down", "enter")
        await app.real.shows("Oslo.", "Rome.")
        await app.ended()
        await app.compare("enter")
        await app.real.shows("Oslo.", "Paris.")
        assert "Rome." not in app.real.text
        assert app.real.runtime.conversations.parent == original.id


async def test_the_focused_answer_is_copied(separate_home: Path) -> None:
    async with comparing(separate_home, [says("Oslo.")], [says("Rome.")]) as app:
        await app.ask("which city?", "Oslo.")
        await app.compare("down", "enter")
        await app.real.shows("Rome.", "3 out")
        await app.ended()
        await app.real.press("c")
        await until(lambda: app.real.app.clipboard == "Rome.")
        await app.real.press("shift+tab", "c")
        await until(lambda: app.real.app.clipboard == "Oslo.")


async def test_the_same_model_is_compared_with_another_effort_and_gets_its_own_back(
    separate_home: Path,
) -> None:
    effort = 'reasoning_effort = "low"\n'
    async with comparing(separate_home, [says("Oslo."), says("Bergen.")], [], more=effort) as app:
        await app.ask("which city?", "Oslo.")
        await app.compare(*"effort high", "enter")
        await app.real.shows("Oslo.", "Bergen.", "effort low", "effort high")
        await app.ended()
        assert [one.json["reasoning_effort"] for one in app.one.requests] == ["low", "high"]
        await app.real.press("1")
        await until(lambda: app.real.runtime.conversations.effort == "low")


async def test_answers_scroll_together_until_they_are_to_scroll_apart(separate_home: Path) -> None:
    long = "\n\n".join(f"Line {number}." for number in range(80))
    async with comparing(separate_home, [says(long)], [says(long)]) as app:
        await app.ask("tell me", "Line 79.")
        await app.compare("down", "enter")
        await app.ended()
        await app.real.press("home")
        await until(lambda: app.left.scroll_offset.y == app.right.scroll_offset.y == 0)
        await app.real.press("pagedown")
        await until(lambda: app.left.scroll_offset.y == app.right.scroll_offset.y > 0)
        seen = app.left.scroll_offset.y
        await app.real.press("l", "pagedown")
        await until(lambda: app.right.scroll_offset.y > seen)
        assert app.left.scroll_offset.y == seen


async def test_on_a_slim_terminal_one_answer_is_above_the_other(separate_home: Path) -> None:
    async with comparing(separate_home, [says("Oslo.")], [says("Rome.")]) as app:
        await app.ask("which city?", "Oslo.")
        await app.compare("down", "enter")
        await app.real.shows("Oslo.", "Rome.")
        assert app.left.region.y == app.right.region.y
        await app.real.pilot.resize_terminal(50, 30)
        await until(lambda: app.left.region.bottom <= app.right.region.y)
        await app.real.shows("Oslo.", "Rome.")


async def test_a_call_of_the_second_answer_is_not_approved_from_the_first(separate_home: Path) -> None:
    command = tools(separate_home)
    two = [calls(("tools__nothing_to_do", {})), says("Rome.")]
    async with comparing(separate_home, [says("Oslo.")], two, servers=command) as app:
        await app.real.has_state("tools", "RUNNING")
        await app.ask("which city?", "Oslo.")
        await app.compare("down", "enter")
        await app.real.shows("once", "Oslo.")
        await until(lambda: app.parts.approvals.answer_delay.accepts_keys)
        await app.real.press("shift+tab")
        await until(lambda: app.left.has_focus)
        await app.real.press("y")
        await app.real.shows("the question is in the other column")
        await app.real.press("f2")
        await app.approve()
        await app.real.shows("Rome.", "2 steps   1 call")


async def test_the_result_of_a_call_of_the_first_answer_is_shown(separate_home: Path) -> None:
    command = tools(separate_home)
    one = [calls(("tools__nothing_to_do", {})), says("Oslo.")]
    async with comparing(separate_home, one, [says("Rome.")], servers=command) as app:
        await app.real.has_state("tools", "RUNNING")
        app.real.app.main.composer.insert("which city?")
        await app.real.press("enter")
        await app.real.shows("once")
        await app.approve()
        await app.real.shows("Oslo.")
        await app.ended()
        await app.compare("down", "enter")
        await app.real.shows("Rome.")
        await app.ended()
        await app.real.press("shift+tab")
        await until(lambda: app.left.has_focus, what="the first answer has the focus")
        await app.real.press("v")
        await until(lambda: isinstance(app.real.app.screen, ResultScreen), what="the result is open")
        await app.real.shows("nothing_to_do", "Method not found")


async def test_another_question_is_compared_while_two_answers_are_shown(separate_home: Path) -> None:
    one = [says("Oslo."), says("Bergen.")]
    async with comparing(separate_home, one, [says("Rome."), says("Paris.")]) as app:
        await app.ask("which city?", "Oslo.")
        await app.ask("and another?", "Bergen.")
        await app.compare("down", "enter")
        await app.real.shows("Rome.")
        await app.ended()
        await app.real.press("home")
        await app.compare("enter")
        await app.real.shows("Oslo.", "Paris.")
        assert "Rome." not in app.real.text


@pytest.mark.parametrize("key", ["b", "C", "f8"])
async def test_the_first_answer_is_only_read_and_copied_before_it_is_chosen(
    key: str, separate_home: Path
) -> None:
    two = [calls(("tools__nothing_to_do", {})), says("Rome.")]
    async with comparing(separate_home, [says("Oslo.")], two, servers=tools(separate_home)) as app:
        await app.real.has_state("tools", "RUNNING")
        await app.ask("which city?", "Oslo.")
        await app.compare("down", "enter")
        await app.real.shows("once")
        await app.approve()
        await app.real.shows("Rome.")
        await app.ended()
        right = app.real.runtime.conversations.info
        await app.real.press("shift+tab")
        await until(lambda: app.left.has_focus)
        await app.real.press(key)
        await app.real.shows("Press 1 to continue with this answer first.")
        assert app.has_columns() and app.real.runtime.conversations.info == right
        await app.real.press("c")
        await until(lambda: app.real.app.clipboard == "Oslo.")
