"""Approval of calls, and trust in servers, by number."""

import asyncio

from tui.addons.plain.asking import Asking
from tui.commands.permission.terminal_approver import can_show, shown_arguments
from tui.core.background import set_within
from tui.core.language.translate import _, localized
from tui.core.ports import Answer, ApprovalRequest, Decision, TrustQuestion
from tui.core.questions import TRUST_ANSWERS, trust_texts
from tui.core.text import clean_line

ANNOUNCED_SECONDS = 1.0
"""How long a question waits for the line of its call, which is written by another task."""


class PlainApprover:
    """`core.ports.Approver` for plain mode."""

    def __init__(self, asking: Asking) -> None:
        self._asking = asking
        self._announced: dict[str, asyncio.Event] = {}

    def announce(self, call: str) -> None:
        """Let the question about a call appear: the line of the call was written."""
        self._announced.setdefault(call, asyncio.Event()).set()

    async def ask(self, request: ApprovalRequest) -> Decision:
        announced = self._announced.setdefault(request.call_id, asyncio.Event())
        await set_within(announced, ANNOUNCED_SECONDS)
        self._announced.pop(request.call_id, None)  # models use an id again
        tool = request.tool
        name = clean_line(tool.name, 120)
        head = _("Allow this call? {server} › {tool}", server=clean_line(tool.server, 80), tool=name)
        whole = can_show(request)
        texts = shown_arguments(request.arguments) if whole else []
        lines = [head, _("It needs approval: {why}", why=clean_line(localized(request.why), 400))]
        lines += [f"{argument} = {value}" for argument, value in texts]
        if not whole:
            lines.append(_("Its arguments are too long to be shown in full, so it can only be denied."))
        elif not texts:
            lines.append(_("It has no arguments."))
        if request.warning:
            lines.append(f"! {clean_line(localized(request.warning), 400)}")
        choices: list[tuple[str, Decision]] = []
        if whole:
            choices.append((_("Allow once. Nothing is remembered."), Decision(Answer.ONCE)))
        if whole and not request.once_only:
            until = _("Allow until mcptui quits: further calls of {tool} run without a question.", tool=name)
            always = _(
                "Allow always. Stored: calls of {tool} run without a question, also in later runs, until "
                "its definition or its server's command changes.",
                tool=name,
            )
            choices += [(until, Decision(Answer.SESSION)), (always, Decision(Answer.ALWAYS))]
        choices.append((_("Deny. The model is told that you denied it."), Decision(Answer.NO)))
        reason = _("Deny with a reason, which you type on the next line. The model reads it.")
        choices.append((reason, with_reason := Decision(Answer.NO)))
        async with self._asking.turn():
            found = await self._asking.choose(lines, choices, lambda one: one.answer is Answer.NO)
            if found is None:
                return Decision(Answer.NO, "the input ended before an answer", by_user=False)
            if found is not with_reason:
                return found
            self._asking.say(_("Type the reason. An empty line denies without one."))
            return Decision(Answer.NO, (await self._asking.line() or "").strip())

    async def trust(self, question: TrustQuestion) -> bool | None:
        choices = [
            (_("{answer} {effect}", answer=_(answer), effect=_(effect)), value)
            for (answer, effect), value in zip(TRUST_ANSWERS, (True, False, None), strict=True)
        ]
        async with self._asking.turn():
            return await self._asking.choose(trust_texts(question), choices)
