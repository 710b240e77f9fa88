"""The model that is asked, and what is found out about it."""

from pathlib import Path

from tests.conftest import until
from tests.endpoint import Answer, Endpoint, says
from tests.streams import heard_from_model
from tui.asked import Asked
from tui.core.clock import MonotonicClock
from tui.core.conversation import UserMessage
from tui.core.ports import ModelRequest
from tui.options import Options
from tui.settings.load import load_text


async def test_a_server_that_loads_its_model_with_the_first_question_is_asked_again_what_fits() -> None:
    pages = {
        "/api/show": Answer(body={"model_info": {"qwen3.context_length": 40_960}}),
        "/api/ps": Answer(body={"models": []}),
    }
    async with Endpoint([says("Hi")], pages=pages) as endpoint:
        text = f'[models.ollama]\nmodel = "m"\nbase_url = "{endpoint.base_url}"'
        asked = Asked(Options(), {}, MonotonicClock(), lambda captured: None, lambda name, value: None)
        await asked.begin(load_text(text, Path("config.toml"), {}))
        await until(lambda: asked.gauge.window == 4_096)
        endpoint.pages["/api/ps"] = Answer(body={"models": [{"name": "m", "context_length": 32_768}]})
        await heard_from_model(asked.model.stream(ModelRequest("", [UserMessage("hi")])))
        asked.answered()
        await until(lambda: asked.gauge.window == 32_768)
        before = len(endpoint.others)
        asked.answered()
        await asked.close()
    assert len(endpoint.others) == before
