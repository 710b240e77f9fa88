"""The active model for sampling requests of servers."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from tui.core.context.sampling import SampledReply, model_request
from tui.core.errors import McptuiError
from tui.core.ports import Usage
from tui.core.questions import SamplingFailed
from tui.core.text import clean_line
from tui.runtime.active_model import ActiveModel


class ModelSampler:
    """A `core.questions.Sampler` over the active model. `choose` selects one if there is none yet.

    `bill` is called with the usage of each request, which the user pays for.
    """

    def __init__(
        self, active: ActiveModel, choose: Callable[[], Awaitable[None]], bill: Callable[[Usage], object]
    ) -> None:
        self._active = active
        self._choose = choose
        self._bill = bill

    @property
    def label(self) -> str:
        return self._active.label

    async def sample(self, params: Mapping[str, Any], *, max_tokens: int) -> tuple[Mapping[str, Any], int]:
        """Return the reply to a request and the tokens it used. Raises SamplingFailed."""
        request, names, has_tools = model_request(params, max_tokens=max_tokens)
        try:
            await self._choose()
            model = self._active.model
            reply = SampledReply(clean_line(model.label, 80), max_tokens, has_tools, names)
            parts = model.stream(request)
            try:
                async for part in parts:
                    if not reply.take(part):
                        break
            finally:
                await parts.aclose()
        except McptuiError as error:
            raise SamplingFailed(error.message) from error
        usage = reply.usage(request)
        self._bill(usage)
        return reply.result(), usage.prompt + usage.completion
