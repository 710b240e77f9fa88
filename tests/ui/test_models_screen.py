"""The models screen: what is known about each model, what an endpoint offers, switching."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace

from tests.conftest import until
from tests.ui.app_stage import OnScreen
from tests.ui.fake_chats import DEMO, OLLAMA, FakeChats
from tests.ui.stage import Stage
from tui.core.conversation.conversation import Conversation
from tui.core.errors import ModelError
from tui.core.ports import ModelChoice
from tui.ui.keys.bindings import KeyOverrides
from tui.ui.lists.models import ModelsScreen

NO_KEY = ModelChoice(
    "router", "qwen/max", "https://user:secret@router.example/api", "configuration", problem="set ROUTER_KEY"
)


@dataclass
class Scene(OnScreen):
    """The screen and its result."""

    conversations: FakeChats
    given: list[bool | None] = field(default_factory=list)
    keyed: list[str] = field(default_factory=list)


@asynccontextmanager
async def listed(*choices: ModelChoice, busy: str = "", width: int = 100) -> AsyncIterator[Scene]:
    conversations = FakeChats(Conversation())
    conversations.known = list(choices)
    async with Stage().run_test(size=(width, 24), notifications=True) as pilot:
        scene = Scene(pilot, conversations)

        async def replace_key(name: str) -> None:
            scene.keyed.append(name)

        screen = ModelsScreen(
            conversations,
            KeyOverrides(),
            add=lambda added: None,
            replace_key=replace_key,
            busy=lambda: busy,
        )
        pilot.app.push_screen(screen, scene.given.append)
        await pilot.pause()
        yield scene


async def test_each_model_shows_its_known_properties() -> None:
    async with listed(DEMO, OLLAMA) as scene:
        await scene.shows("profile", "model", "window", "per M tokens", "ollama", "qwen3:8b", "33 k")
        await scene.shows("offline   built in   no language model")
        await scene.press("down")
        await scene.shows("127.0.0.1:11434   found on this machine   window 33 k tokens   text protocol")


async def test_a_key_is_pasted_for_a_profile_and_for_the_one_whose_models_are_listed() -> None:
    async with listed(DEMO, OLLAMA) as scene:
        await scene.press("ctrl+k")
        await scene.shows("The demo model needs no key.")
        await scene.press("down", "ctrl+k")
        await until(lambda: scene.keyed == ["ollama"])
        await scene.press("tab", "ctrl+k")
        await until(lambda: scene.keyed == ["ollama", "ollama"])


async def test_a_profile_of_ones_own_shows_its_problem_and_how_it_is_edited_but_no_password() -> None:
    async with listed(NO_KEY, DEMO) as scene:
        await scene.press("up")
        await scene.shows("✗ router", "set ROUTER_KEY")
        assert "secret" not in scene.text
        await scene.shows("router.example   in the configuration, /config edits it   context window")
        await scene.press("down")
        await scene.shows("offline   built in   no language model")


async def test_window_and_price_are_aligned_for_names_of_any_length() -> None:
    priced = replace(OLLAMA, name="priced", price="$0.27 / $1.10")
    long = replace(priced, name="a-profile-with-a-long-name", model="a/model/with/a/very/long/id" * 4)
    async with listed(priced, long) as scene:
        await scene.shows("priced", "a-profile-with-")
        rows = [line for line in scene.text.splitlines() if "$0.27" in line]
        assert len({row.index("$0.27") for row in rows}) == len({row.index("33 k") for row in rows}) == 1
        assert len(rows) == 2


async def test_the_active_model_is_marked_and_selected() -> None:
    async with listed(replace(DEMO, current=False), replace(OLLAMA, current=True)) as scene:
        await scene.shows("● ollama")
        await scene.press("enter")
        await until(lambda: scene.conversations.done == [("switch", "ollama", "")])


async def test_typed_words_narrow_the_list_and_enter_switches_to_the_selected_model() -> None:
    async with listed(DEMO, OLLAMA) as scene:
        await scene.press(*"found qwen")
        assert "ollama" in scene.text
        assert "offline" not in scene.text
        await scene.press("enter")
        await until(lambda: scene.given == [True])
        assert scene.conversations.done == [("switch", "ollama", "")]


async def test_with_only_the_demo_the_list_shows_how_to_get_another_model() -> None:
    for choices in ((), (DEMO,)):
        async with listed(*choices) as scene:
            await scene.shows("To use another model, press ctrl+n", "OPENAI_API_KEY", "Ollama")
    async with listed(DEMO, OLLAMA) as scene:
        assert "To use another model" not in scene.text


async def test_the_models_of_an_endpoint_are_listed_and_one_is_selected() -> None:
    async with listed(DEMO, OLLAMA) as scene:
        scene.conversations.gate = asyncio.Event()
        scene.conversations.offers["ollama"] = ("gemma3:27b", "qwen3:8b", "llama3.3:70b")
        await scene.press("down", "tab")
        await scene.shows("of ollama", "Loading models…")
        scene.conversations.gate.set()
        await scene.shows("gemma3:27b", "llama3.3:70b", "esc back")
        assert "all models" not in scene.text
        await scene.press(*"70b llama", "enter")
        await until(lambda: scene.given == [True])
        assert scene.conversations.done == [("switch", "ollama", "llama3.3:70b")]


async def test_an_endpoint_that_fails_shows_the_reason_and_what_to_do() -> None:
    async with listed(DEMO, OLLAMA) as scene:
        scene.conversations.offers["ollama"] = ModelError(
            "nobody answers there", where="http://127.0.0.1:11434", next_step="Start it with: ollama serve"
        )
        await scene.press("down", "tab")
        await scene.shows("nobody answers there", "Start it with: ollama serve")


async def test_waiting_for_an_endpoint_can_be_cancelled() -> None:
    async with listed(DEMO, OLLAMA) as scene:
        scene.conversations.gate = asyncio.Event()
        await scene.press("down", "tab")
        await scene.shows("Loading models…")
        await scene.press("escape")
        assert "● demo" in scene.text
        await scene.press("escape")
        assert scene.given == [None]


async def test_the_model_cannot_be_switched_while_a_turn_runs() -> None:
    async with listed(DEMO, OLLAMA, busy="A turn is running. esc stops it.") as scene:
        await scene.press("down", "enter")
        await scene.shows("A turn is running")
        assert scene.conversations.done == []


async def test_the_first_of_thousands_of_models_are_shown_cleaned_and_any_id_can_be_typed() -> None:
    async with listed(DEMO, OLLAMA) as scene:
        ids = ["[red]x\x1b[2J[/y]", *(f"model-{number}" for number in range(2999))]
        scene.conversations.offers["ollama"] = ids
        await scene.press("down", "tab")
        await scene.shows("[red]x␛[2J[/y]", "model-0", "3000")
        await scene.press(*"model-299")
        await scene.shows("model-299", "model-2990")
        await scene.press("x")
        await scene.shows("use “model-299x” as the model ID")
        await scene.press("enter")
        await until(lambda: scene.conversations.done == [("switch", "ollama", "model-299x")])


async def test_learned_limitations_are_shown_and_deleted_with_a_key() -> None:
    taught = replace(OLLAMA, learned=("rejects temperature",))
    async with listed(DEMO, taught) as scene:
        await scene.shows("learned  rejects temperature")
        assert "forget learned" not in scene.text
        await scene.press("down")
        await scene.shows("forget learned")
        await scene.press("ctrl+d")
        await scene.shows("Forgot what was learned about qwen3:8b.")
        assert scene.conversations.done == [("forget", "ollama")] and "rejects temperature" not in scene.text
