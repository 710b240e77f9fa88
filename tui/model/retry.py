"""Retries after transient failures of an endpoint, visibly. `http_waits` reads what an endpoint asks for."""

import math
import random
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing

from tui.core.background import RetryDelay
from tui.core.errors import ModelError
from tui.core.ports import ChatModel, Clock, ModelPart, ModelRequest, RetryPart

ATTEMPTS = 4
FIRST_WAIT = 1.0
LONGEST_WAIT = 30.0
LONGEST_ASKED = 120.0
"""The longest delay that is accepted from an endpoint; if it asks for a longer one, the user decides."""

LONGEST_LOADING = 300.0
"""How long is waited in all for an endpoint that loads a model."""

LOADING_WAIT = 10.0
"""The longest delay before a loading endpoint is asked again."""


async def retried(
    model: ChatModel,
    request: ModelRequest,
    clock: Clock,
    *,
    chance: Callable[[], float] = random.random,
) -> AsyncGenerator[ModelPart]:
    """Yield the reply of a model, with a `RetryPart` before each wait.

    It retries only while nothing was shown, so a reply that broke off is never silently restarted. Delays
    double from one second to thirty, each a random share of that (full jitter), unless the endpoint names
    one. While it loads a model, it is asked again more often, for up to five minutes. `chance` returns a
    number from 0 to 1, for tests.

    Raises ModelError if the last attempt failed, or one failed permanently.
    """
    attempt = loads = 1
    waited = 0.0
    retry, loading = RetryDelay(FIRST_WAIT, LONGEST_WAIT), RetryDelay(FIRST_WAIT, LOADING_WAIT)
    while True:
        shown = False
        try:
            async with aclosing(model.stream(request)) as parts:
                async for part in parts:
                    shown = shown or not isinstance(part, RetryPart)
                    yield part
            return
        except ModelError as error:
            if error.loading and error.retryable:
                ours = loading.after_failure()
                wanted = error.retry_after or ours
                left = LONGEST_LOADING - waited
                delay = max(FIRST_WAIT, min(LOADING_WAIT, wanted, left)) if left > 0 else None
                loads, waited = loads + 1, waited + (delay or 0.0)
                number, most = loads, loads + math.ceil((LONGEST_LOADING - waited) / LOADING_WAIT)
            else:
                ours = retry.after_failure() * chance()
                is_over = attempt >= ATTEMPTS or (error.retry_after or 0.0) > LONGEST_ASKED
                delay = None if is_over or not error.retryable else error.retry_after or ours
                attempt += 1
                number, most = attempt, ATTEMPTS
            if shown or delay is None or error.generation:  # a call may be found in the model's text
                raise
            reason = error.message
        yield RetryPart(number, most, delay, reason)
        await clock.sleep(delay)
