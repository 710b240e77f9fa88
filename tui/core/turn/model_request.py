"""The request of one step: what the model is told, and the room that is made where it does not fit."""

from collections.abc import Callable, Sequence

from tui.core.context.compaction import FULL, told
from tui.core.context.compactor import Compacting
from tui.core.context.tool_selection import Offer
from tui.core.conversation.conversation import Conversation, Message, UserMessage
from tui.core.errors import ModelError
from tui.core.events import Notice
from tui.core.ports import ModelRequest, Usage
from tui.core.turn.model_step import Emit, Reply, think
from tui.core.turn.tool_calls import Deps

ROOMS = 2
"""How often room is made for one request that is refused as too long: results in short, then a summary."""


class Asking:
    """Asks the model of one turn.

    Args:
        conversation: what was said.
        deps: what the turn works with.
        emit: told what happens.
        spend: told what summaries used up.
    """

    def __init__(
        self, conversation: Conversation, deps: Deps, emit: Emit, spend: Callable[[Usage], None]
    ) -> None:
        self._conversation = conversation
        self._deps = deps
        self._emit = emit
        self._said = ""
        self._room = Compacting(conversation, deps.model, deps.gauge, spend)

    async def ask(self, reply: Reply, step: int, offer: Offer | None, extra: str) -> ModelRequest:
        """Ask, fill `reply`, and return the request that was answered.

        Room is made before where the window is known, and after a refusal where it was not.

        Args:
            reply: what the model says goes here, also when it is cut.
            step: its number.
            offer: what the model may call; None for nothing.
            extra: said by mcptui after everything else, in this request only; or "".

        Raises:
            ModelError: as the model raises it.
        """
        self._said = ""
        request = await self._that_fits(offer, extra)
        for left in range(ROOMS, -1, -1):
            try:
                await think(self._deps.model, request, step, reply, self._emit, self._deps.clock)
                break
            except ModelError as error:
                if error.window is not None:  # the endpoint knows better than anybody
                    self._deps.gauge.window = error.window
                if not (left and error.overflow) or reply.text:
                    raise
                if not await self._make_room(request.messages):
                    raise
                request = self._request(offer, extra)
        return request

    def _request(self, offer: Offer | None, extra: str) -> ModelRequest:
        talk = self._conversation
        ends = {remark.place for remark in talk.remarks if remark.kind == "end"}
        messages: Sequence[Message] = talk.valid(told(talk.messages, talk.compaction, ends))
        if extra:  # for this request only: in the history it would be parroted
            messages = [*messages, UserMessage(extra)]
        if offer is None:
            return ModelRequest(talk.system, messages)
        return ModelRequest(talk.system, messages, offer.specs, best=offer.best)

    async def _that_fits(self, offer: Offer | None, extra: str) -> ModelRequest:
        request = self._request(offer, extra)
        for _ in range(3):  # results in short first, then a summary, then the newest turn in part
            if not self._deps.gauge.is_full(request, FULL) or not await self._make_room():
                break
            request = self._request(offer, extra)
        return request

    async def _make_room(self, refused: Sequence[Message] = ()) -> bool:
        """Compact the conversation if anything can be gained; say what was done."""
        try:
            notice = await self._room.make_room(refused=refused)
        except ModelError as error:
            self._emit(Notice(f"The older turns could not be summarised: {error.message}", "warn"))
            return False
        if notice is not None and notice.message != self._said:  # several rounds are one thing to say
            self._said = notice.message
            self._emit(notice)
        return notice is not None
