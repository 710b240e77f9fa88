"""A server with a prompt, for tests of the command of a prompt."""

from tests.ui.fakes import FakeRuntime
from tui.core.tools import TextContent
from tui.core.workbench import PromptArgument, PromptInfo, PromptMessage, PromptResult

FORECAST = PromptInfo(
    "weather", "forecast", "", "The weather to come", (PromptArgument("city", required=True),)
)


def runtime_with_prompts(*replies: object) -> FakeRuntime:
    runtime = FakeRuntime(*replies)  # type: ignore[arg-type]
    runtime.workbench.known_prompts = (FORECAST,)
    runtime.workbench.said = PromptResult("", (PromptMessage("user", TextContent("How will it be?")),))
    return runtime
