"""Requests of one server to the model (sampling): whether they are allowed, how often, for how many tokens.

The model gets only what the server sends: no conversation, no context of other servers.
"""

import asyncio
import time
from collections import deque
from collections.abc import Mapping
from typing import Any

from tui.core.context.context_meter import estimate_request
from tui.core.context.sampling_messages import max_tokens_of, model_request
from tui.core.language.translate import message
from tui.core.ports import BY_LIMIT, DecisionKind, digest_of
from tui.core.questions import (
    Action,
    QuestionAnswer,
    Sampler,
    SamplingFailed,
    SamplingMeter,
    SamplingQuestion,
)
from tui.core.servers import SamplingRule, ServerSpec
from tui.host.session.server_questions import ServerQuestions

MINUTE = 60.0
WANTED = "a reply of the model"


class SamplingRefused(Exception):
    """A request is not sent; the text says why, for the server and the user."""


class ServerSampling:
    """Makes the requests of one server to the model, one at a time.

    `used` counts their tokens, `waiting` the requests that wait for the model. Whenever the model continues
    its reply, the clocks of the server start again.
    """

    def __init__(self, questioner: ServerQuestions, sampler: Sampler) -> None:
        self.used = self.waiting = 0
        self._questioner = questioner
        self._sampler = sampler
        self._asked_at: deque[float] = deque()
        self._turn = asyncio.Lock()

    async def answer(self, spec: ServerSpec, params: Mapping[str, Any], round: int) -> dict[str, Any]:
        """Return the result of a request.

        Raises:
            SamplingRefused: sampling is not allowed, over a limit, or declined by the user.
            BadSampling: it is malformed.
        """
        self.check(spec, params, is_made=True)
        asks = spec.sampling is not SamplingRule.ALLOW
        if asks:  # without waiting for earlier requests, so that the user sees how many are pending
            answer = await self._questioner.ask(SamplingQuestion(spec.name, params, round))
            params = self._accepted(WANTED, params, answer)
        else:
            by = "setting sampling = allow"
            self._questioner.decided(
                DecisionKind.SAMPLING, WANTED, allowed=True, by=by, digest=digest_of(params)
            )
        self.waiting += 1
        try:
            async with self._turn:
                reply = await self._sampled(spec, params)
        finally:
            self.waiting -= 1
        if asks:
            answer = await self._questioner.ask(SamplingQuestion(spec.name, params, round, reply))
            reply = self._accepted("the reply of the model", reply, answer)
        return dict(reply)

    def check(self, spec: ServerSpec, params: Mapping[str, Any], *, is_made: bool = False) -> None:
        """Raise what `answer` would raise for a request before it asks the user; count it if it is made."""
        self._require_rate(spec)
        if is_made:
            self._asked_at.append(time.monotonic())
        max_tokens_of(params)
        self._require_budget(spec, params)

    async def _sampled(self, spec: ServerSpec, params: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the reply, and charge its tokens, also those of a request that fails or is cancelled."""
        prompt = self._require_budget(spec, params)
        most = min(max_tokens_of(params), spec.sampling_tokens - self.used)
        meter = SamplingMeter(heard=self._questioner.clocks.restart)
        try:
            return await self._sampler.sample(params, max_tokens=most, meter=meter)
        except SamplingFailed as error:
            raise SamplingRefused(message("no reply from the model: {error}", error=error)) from None
        finally:
            # A sampler that does not count what it has used may have used everything.
            self.used += prompt + most if meter.tokens is None else meter.tokens

    def _require_budget(self, spec: ServerSpec, params: Mapping[str, Any]) -> int:
        """Return the approximate tokens of a request; raises SamplingRefused if the budget is too small."""
        prompt = estimate_request(model_request(params, max_tokens=1)[0])
        left = spec.sampling_tokens - self.used
        if left <= 0:
            raise self._limited(
                message(
                    "the budget of {limit:,} tokens is used up",
                    limit=spec.sampling_tokens,
                )
            )
        if prompt > left:
            raise self._limited(
                message(
                    "the request has about {prompt:,} tokens, but only {left:,} are left of the budget "
                    "of {limit:,}",
                    prompt=prompt,
                    left=left,
                    limit=spec.sampling_tokens,
                )
            )
        return prompt

    def _accepted(self, what: str, asked: Mapping[str, Any], said: QuestionAnswer) -> Mapping[str, Any]:
        self._questioner.answered(DecisionKind.SAMPLING, what, asked, said)
        if said.action is not Action.ACCEPT:
            raise SamplingRefused(message("declined by the user"))
        return said.content or asked

    def _limited(self, why: str) -> SamplingRefused:
        self._questioner.decided(DecisionKind.SAMPLING, WANTED, allowed=False, by=f"{BY_LIMIT} ({why})")
        return SamplingRefused(why)

    def _require_rate(self, spec: ServerSpec) -> None:
        now = time.monotonic()
        while self._asked_at and now - self._asked_at[0] >= MINUTE:
            self._asked_at.popleft()
        if len(self._asked_at) >= spec.sampling_per_minute:
            raise self._limited(
                message(
                    "more than {limit} requests to the model in a minute",
                    limit=spec.sampling_per_minute,
                )
            )
