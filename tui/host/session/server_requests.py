"""Answers the requests of one server: forms, addresses, roots, and sampling if it is allowed.

A request arrives on its own (2025-11-25 and before) or in an `input_required`
result (2026-07-28); both are answered here. While the user is asked, the clocks of the server are paused.
"""

import asyncio
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tui.core.background import RetryDelay, first_of, in_daemon_thread
from tui.core.context.sampling_messages import BadSampling
from tui.core.forms.elicitation import content_problem, schema_problem
from tui.core.jsonrpc.protocol import INTERNAL_ERROR, INVALID_PARAMS, METHOD_NOT_FOUND
from tui.core.language.translate import message
from tui.core.ports import DecisionKind, DecisionLog
from tui.core.questions import Action, AddressQuestion, FormQuestion, Questioner, Sampler
from tui.core.servers import SamplingRule, ServerSpec
from tui.core.units import plural
from tui.core.web import has_browser, open_browser, web_address
from tui.host.session.server_questions import ServerQuestions
from tui.host.session.server_sampling import SamplingRefused, ServerSampling

REJECTED = -1
"""The error that the specification defines for a declined sampling request."""

ELICITATION = "elicitation/create"
SAMPLING = "sampling/createMessage"
SAMPLING_OFF = message(
    "The server requested sampling, which is not allowed. Set its sampling to ask or allow."
)

MAX_ROUNDS = 10
"""Maximum rounds of input for one request."""

MAX_INPUTS = 16
"""Maximum requests in one `input_required` result."""

ADDRESSES_REQUIRED = -32042
ADDRESS_DONE = "notifications/elicitation/complete"
MAX_ADDRESSES = 4
"""Maximum addresses to open for one request."""

MAX_VISITS = 64
"""Maximum addresses of one server whose completion is tracked."""

UNTIL_DONE = message(
    "Finish in the browser, then press Send. The dialog closes when the server reports completion."
)

NOT_OPENED = message("Cannot open a browser here. Open the URL yourself, then continue.")

FIRST_WAIT = 0.05
LONGEST_WAIT = 1.0
"""Delay in seconds before a request is resent if its server asked for nothing else."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """A request that gets an error instead of an answer; the text is for the server and the user."""

    code: int
    message: str


class ServerRequests:
    """Answers the requests of one server, over all of its connections.

    `clocks` are its time limits; `spec` has its permissions. `decisions` records the answers. `redact`
    removes configured secrets from a JSON value that the server sends to the model.
    """

    def __init__(
        self,
        spec: ServerSpec,
        questioner: Questioner,
        sampler: Sampler | None = None,
        decisions: DecisionLog | None = None,
        redact: Callable[[Any], Any] = lambda value: value,
    ) -> None:
        self.spec = spec
        self.questioner = ServerQuestions(questioner, redact, server=spec.name, decisions=decisions)
        self.clocks = self.questioner.clocks
        self._redact = redact
        self._told_roots = False
        self._sampling = None if sampler is None else ServerSampling(self.questioner, sampler)
        self._visits: dict[str, asyncio.Event] = {}

    @property
    def may_sample(self) -> bool:
        return self._sampling is not None and self.spec.sampling is not SamplingRule.NEVER

    @property
    def remark(self) -> str:
        """A sentence about what the server waits for, to add to a timeout; or ""."""
        waits = self._sampling is not None and self._sampling.waiting
        return message("The server was waiting for a reply from the model.") if waits else ""

    async def answer(
        self, method: str, params: Mapping[str, Any], *, round: int = 0, asked: str | int | None = None
    ) -> dict[str, Any] | Refusal:
        """Return the result of a request, or why there is none; `round` counts the rounds of one call.

        `asked` is the JSON-RPC id of the request, if it has one of its own.
        """
        self.clocks.restart()  # it works on its calls, which it shows like this or by progress
        try:
            if asked is None:
                return await self._answer(method, params, round)
            with self.questioner.request(asked):
                return await self._answer(method, params, round)
        finally:
            self.clocks.restart()

    def refusal(self, method: str, params: Mapping[str, Any]) -> Refusal | None:
        """Return why a request gets an error, as far as that is known before the user is asked; or None."""
        match method:
            case "elicitation/create":
                problem = _elicitation_problem(params)
                return Refusal(INVALID_PARAMS, f"{ELICITATION}: {problem}") if problem else None
            case "roots/list":
                return None
            case "sampling/createMessage" if self.may_sample and self._sampling is not None:
                try:
                    self._sampling.check(self.spec, params)
                except (BadSampling, SamplingRefused) as error:
                    return _sampling_refusal(error)
                return None
        return Refusal(METHOD_NOT_FOUND, f"{method[:80]} is not supported by this client")

    async def _answer(self, method: str, params: Mapping[str, Any], round: int) -> dict[str, Any] | Refusal:
        # Sampling checks its requests itself: they may be large.
        if (method != SAMPLING or not self.may_sample) and (refusal := self.refusal(method, params)):
            return refusal
        match method:
            case "elicitation/create" if params.get("mode", "form") == "form":
                return await self._form(params["message"], params["requestedSchema"], round)
            case "elicitation/create":
                return await self._address(params["message"], params["url"], round)
            case "sampling/createMessage":
                return await self._sample(params, round)
        return {"roots": self._roots()}

    def _roots(self) -> list[dict[str, str]]:
        if self.spec.roots and not self._told_roots:
            self._told_roots = True
            told = plural(len(self.spec.roots), "folder")
            self.questioner.decided(DecisionKind.ROOTS, told, allowed=True, by="setting roots")
        paths = map(Path, self.spec.roots)
        return [{"uri": path.as_uri(), "name": path.name or str(path)} for path in paths]

    async def _form(self, text: str, schema: Any, round: int) -> dict[str, Any] | Refusal:
        answer = await self.questioner.ask(FormQuestion(self.spec.name, text, schema, round))
        asked = {"message": text, "requestedSchema": schema}
        self.questioner.answered(DecisionKind.ELICITATION, f"form: {text}", asked, answer)
        if answer.action is not Action.ACCEPT:
            return {"action": str(answer.action)}
        if problem := content_problem(schema, answer.content):
            return Refusal(
                INTERNAL_ERROR, message("the answer does not match the form: {problem}", problem=problem)
            )
        return {"action": "accept", "content": dict(answer.content)}

    async def _address(self, text: str, url: str, round: int) -> dict[str, Any]:
        question = AddressQuestion(self.spec.name, url, text, "elicitation", round)
        answer = await self.questioner.ask(question)
        self.questioner.answered(
            DecisionKind.ELICITATION,
            f"open a URL at {web_address(url).host}",
            {"url": url},
            answer,
        )
        if answer.action is Action.ACCEPT and answer.opens and has_browser(os.environ):
            opened = await in_daemon_thread("browser", lambda: open_browser(url))
            if not opened:
                answer = await self.questioner.ask(replace(question, message=NOT_OPENED))
        return {"action": str(answer.action)}

    async def _sample(self, params: Mapping[str, Any], round: int) -> dict[str, Any] | Refusal:
        assert self._sampling is not None
        try:
            params = params if self.spec.send_as_is else self._redact(params)
            return await self._sampling.answer(self.spec, params, round)
        except (BadSampling, SamplingRefused) as error:
            return _sampling_refusal(error)

    def refused(self, method: str, code: int, message: str) -> None:
        """Tell the user that the server got an error, if one of its questions was the cause."""
        if code == INVALID_PARAMS and method in (ELICITATION, SAMPLING):
            why = message if message.startswith(method) else f"{method}: {message}"
            self.questioner.refused(why)

    async def visit(self, wanted: Mapping[str, Any]) -> str:
        """Open an address that a request requires, and wait for its completion; return what failed, or ""."""
        known, text = wanted.get("elicitationId"), wanted.get("message")
        done = self._visit(known) if isinstance(known, str) else asyncio.Event()
        answer = await self._address(text if isinstance(text, str) else "", wanted["url"], 0)
        if answer["action"] != Action.ACCEPT:
            return message("it was declined")
        finish = FormQuestion(self.spec.name, UNTIL_DONE, {"type": "object", "properties": {}})
        said = asyncio.ensure_future(self.questioner.ask(finish))
        await first_of(done.wait(), said)
        if not done.is_set() and said.result().action is not Action.ACCEPT:
            return message("it was not finished")
        return ""

    def visited(self, known: object) -> None:
        """Record that the server reports an address as completed."""
        if isinstance(known, str):
            self._visit(known).set()

    def _visit(self, known: str) -> asyncio.Event:
        """Return the event for the completion of an address, which may be set before anyone waits for it."""
        if known not in self._visits:
            while len(self._visits) >= MAX_VISITS:
                del self._visits[next(iter(self._visits))]
            self._visits[known] = asyncio.Event()
        return self._visits[known]


def _elicitation_problem(params: Mapping[str, Any]) -> str:
    if not isinstance(params.get("message"), str):
        return "message must be a string"
    match params.get("mode", "form"):
        case "form":
            return schema_problem(params.get("requestedSchema"))
        case "url":
            return _url_problem(params.get("url"))
    return "mode must be form or url"


def _url_problem(url: Any) -> str:
    if not isinstance(url, str):
        return "url must be a string"
    problem = web_address(url).problem.rstrip(".")
    return message("the URL was not opened: {problem}", problem=problem) if problem else ""


def _sampling_refusal(error: Exception) -> Refusal:
    code = INVALID_PARAMS if isinstance(error, BadSampling) else REJECTED
    return Refusal(code, f"{SAMPLING}: {error}")


class RoundProblem(Exception):
    """A request cannot continue after its server asked for input; the message is a sentence."""


class InputRounds:
    """The rounds of one request whose server asks for input before it responds."""

    def __init__(self, requests: ServerRequests) -> None:
        self._requests = requests
        self._round = 0
        self._retry = RetryDelay(FIRST_WAIT, LONGEST_WAIT)

    async def answers(self, wanted: Mapping[str, Any]) -> tuple[dict[str, dict[str, Any]], str | None]:
        """Return the answers to an `input_required` result by its keys, and its state for the next round.

        Raises:
            RoundProblem: a request is malformed or declined, or there were too many rounds.
        """
        self._count()
        asked, state = wanted.get("inputRequests"), wanted.get("requestState")
        if not isinstance(state, str | None) or not isinstance(asked, Mapping | None):
            raise RoundProblem(message("The server sent an invalid input request."))
        if not asked:
            if state is None:
                raise RoundProblem(message("The server sent an input request without any input."))
            await asyncio.sleep(self._retry.after_failure())
            return {}, state
        if len(asked) > MAX_INPUTS:
            raise RoundProblem(
                message(
                    "The server requested {count} inputs at once (limit: {limit}).",
                    count=len(asked),
                    limit=MAX_INPUTS,
                )
            )
        read = {key: self._read(one) for key, one in asked.items()}  # all of them before the user is asked
        answers = {}
        for key, (method, params) in read.items():
            found = await self._requests.answer(method, params, round=self._round)
            if isinstance(found, Refusal):
                raise _unanswered(method, found)
            answers[key] = found
        return answers, state

    async def visit(self, data: Any) -> None:
        """Open the addresses that an error requires before the request is sent again.

        Raises:
            RoundProblem: one is malformed or was not opened, or there were too many rounds.
        """
        self._count()
        listed = data.get("elicitations") if isinstance(data, Mapping) else None
        if not isinstance(listed, list) or not listed or not all(isinstance(one, Mapping) for one in listed):
            raise RoundProblem(message("The server requires opening a URL, but did not send one."))
        if len(listed) > MAX_ADDRESSES:
            raise RoundProblem(
                message(
                    "The server requires opening {count} URLs (limit: {limit}).",
                    count=len(listed),
                    limit=MAX_ADDRESSES,
                )
            )
        problem = next(filter(None, (_url_problem(one.get("url")) for one in listed)), "")
        for one in listed:
            if problem := problem or await self._requests.visit(one):
                raise RoundProblem(
                    message("The server requires opening a URL first: {problem}.", problem=problem)
                )

    def _count(self) -> None:
        self._round += 1
        if self._round > MAX_ROUNDS:
            raise RoundProblem(
                message(
                    "The server requested input {limit} times. The call was cancelled.",
                    limit=MAX_ROUNDS,
                )
            )

    def _read(self, request: Any) -> tuple[str, Mapping[str, Any]]:
        """Return the method and parameters of a request that can be answered, if the user agrees."""
        method = request.get("method") if isinstance(request, Mapping) else None
        params = request.get("params", {}) if isinstance(request, Mapping) else None
        if not isinstance(method, str) or not isinstance(params, Mapping):
            raise RoundProblem(message("The server sent an invalid input request."))
        if (refusal := self._requests.refusal(method, params)) is not None:
            raise _unanswered(method, refusal)
        return method, params


def _unanswered(method: str, refusal: Refusal) -> RoundProblem:
    if method == SAMPLING and refusal.code == METHOD_NOT_FOUND:
        return RoundProblem(SAMPLING_OFF)
    return RoundProblem(
        message("The server requested input that was not provided: {message}.", message=refusal.message)
    )
