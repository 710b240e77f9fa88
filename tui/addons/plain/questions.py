"""What servers, agents and mcptui ask in plain mode: consent, forms, addresses, sampling, changes, skills."""

import os
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from tui.addons.plain.asking import Asking
from tui.addons.plain.forms import fill, review
from tui.core import questions
from tui.core.errors import composed
from tui.core.forms.elicitation import blank_form, content_of, content_problem, problem_of, secret_warning
from tui.core.hidden_text.readable import readable
from tui.core.language.translate import N_, _, altered, localized, message, verbatim
from tui.core.permission.consent import NO_ALL, YES_ALL, ConsentQuestion, ConsentsQuestion
from tui.core.questions import Action, Question, QuestionAnswer, Questioner, cause_of
from tui.core.text import clean, clean_line, quoted_name, start_of
from tui.core.web import has_browser, web_address
from tui.runtime.permission.consent import ONE_BY_ONE

MAX_MESSAGE = 2_000
"""Maximum characters of a message of a server."""

MAX_SHOWN = 100_000
"""Maximum characters of a question. What does not fit cannot be accepted."""

LATER = QuestionAnswer(Action.CANCEL)
AGAIN = QuestionAnswer(Action.CANCEL)
"""Fills in a form again."""

NOT_NOW = N_("Not now. mcptui asks again at the next start.")


class PlainQuestions(Questioner):
    """Asks the user, by number. `model` returns the name of the active model."""

    def __init__(self, asking: Asking, model: Callable[[], str]) -> None:
        self._asking, self._model = asking, model

    async def ask(self, question: Question) -> QuestionAnswer:
        async with self._asking.turn():
            answer = await self._answer(question)
        return answer if answer is not None else await super().ask(question)  # the input has ended

    def refused(self, server: str, why: str) -> None:
        told = _(
            "{server} sent a malformed request. Refused: {why}",
            server=quoted_name(server),
            why=clean_line(localized(why), 400),
        )
        self._asking.warn(told)

    async def _answer(self, question: Question) -> QuestionAnswer | None:
        match question:
            case questions.FormQuestion():
                return await self._form(question)
            case questions.AddressQuestion():
                return await self._address(question)
            case questions.SamplingQuestion():
                return await self._sampling(question)
            case questions.DefinitionsQuestion():
                return await self._definitions(question)
            case ConsentQuestion():
                lines = [*_damage(question.damage), *(altered(one, clean) for one in question.lines())]
                choices = [*zip(question.outcomes, (_YES, _NO), strict=True), (_(NOT_NOW), LATER)]
                if question.too_long:
                    lines, choices = [_whole(question), question.too_long], choices[1:]
                return await self._choose(lines, choices)
            case ConsentsQuestion():
                lines = [*_damage(question.damage), _whole(question)]
                lines += [altered(line, clean) for one in question.questions for line in one.lines()]
                each = (_("Ask about each server."), ONE_BY_ONE)
                later = (_(NOT_NOW), LATER)
                return await self._choose(lines, [(YES_ALL, _YES), (NO_ALL, _NO), each, later])
            case questions.SkillQuestion():
                outcomes = [*zip(question.outcomes, (_YES, _NO), strict=True)]
                return await self._choose(question.lines(), outcomes)
            case questions.AgentQuestion():
                shown = question.text if question.arguments else _("(no arguments)")
                lines = [question.head, *map(readable, _foreign(shown)), *_damage(question.why)]
                lines.append(_(questions.UNVERIFIED))
                lasting = QuestionAnswer(Action.ACCEPT, lasts=True)
                until = (_("Yes, the same until mcptui quits."), lasting)
                return await self._choose(lines, [(_("Yes, once."), _YES), until, (_("No."), _NO)])
            case questions.AttachQuestion():
                allow = (_("Allow all commands until mcptui quits."), _YES)
                refuse = (_("Refuse all."), _NO)
                return await self._choose([question.head], [allow, refuse, (_("Refuse this one."), LATER)])

    async def _choose(
        self, lines: Iterable[str], choices: Sequence[tuple[str, QuestionAnswer]]
    ) -> QuestionAnswer | None:
        """Return the chosen answer. One that accepts requires that all was shown."""
        return await self._asking.choose(lines, choices, lambda one: one.action is not Action.ACCEPT)

    async def _definitions(self, question: questions.DefinitionsQuestion) -> QuestionAnswer | None:
        from tui.core.permission.change_effects import ORDER, ChangeEffect
        from tui.core.permission.wording import Kind, head, lines, since, summary

        server = quoted_name(question.server, 60)
        shown = [
            _("{where}: {problem}", where=server, problem=summary(question.changes))
            + f"{since(question.changes)}{question.share}",
            *_damage(question.damage),
        ]
        if any(one.effect is ChangeEffect.SUSPICIOUS for one in question.changes):
            shown.append(_("! Some changes are suspicious. Do not accept what you do not understand."))
        whole, left = set[str](), MAX_SHOWN
        for one in sorted(question.changes, key=lambda one: -ORDER.index(one.effect)):
            rows = list(lines(one, left)) if left > 0 else []
            size = sum(len(text) for row in rows for text, _kind in row)
            if rows and size <= left and all(kind is not Kind.CUT for row in rows for _text, kind in row):
                whole.add(one.name)
                left -= size
                shown += ["".join(text for text, _kind in row) for row in rows]
            else:
                shown.append(_("{change}: too long to show here, so it is left out.", change=head(one)))
        choices = list[tuple[str, QuestionAnswer]]()
        if whole:
            only = None if len(whole) == len(question.changes) else frozenset(whole)
            accept = _("Accept. The model gets the definitions that are shown.")
            choices.append((accept, QuestionAnswer(Action.ACCEPT, only=only)))
        leave = _("Leave them out. The model does not get them. mcptui asks again when they change.")
        choices += [(leave, _NO), (_("Decide later. The model does not get them yet."), LATER)]
        return await self._choose(shown, choices)

    async def _form(self, question: questions.FormQuestion) -> QuestionAnswer | None:
        head = _(
            "The server {server} asks{cause}:",
            server=quoted_name(question.server, 60),
            cause=cause_of(question),
        )
        lines = [head, *_foreign(start_of(question.message, MAX_MESSAGE))]
        self._asking.show([*lines, *_damage(secret_warning(question.schema))])
        while True:
            form = blank_form(question.schema)
            action = await fill(self._asking, form, declines=True)
            if action is not Action.ACCEPT:
                return None if action is None else QuestionAnswer(action)
            value, problems = form.value()
            content = content_of(question.schema, value)
            problem = problem_of(problems) or content_problem(question.schema, content)
            send = _("Send it to {server}.", server=quoted_name(question.server, 60))
            choices = [] if problem else [(send, QuestionAnswer(Action.ACCEPT, content))]
            choices += [(_("Fill it in again."), AGAIN), *_refusals()]
            if (answer := await self._choose(review(form), choices)) is not AGAIN:
                return answer

    async def _address(self, question: questions.AddressQuestion) -> QuestionAnswer | None:
        server, is_sign_in = quoted_name(question.server, 60), question.purpose == "sign in"
        browser = question.opens and has_browser(os.environ)
        what = question.head.format(server=server)
        address = web_address(question.url)
        lines = [
            composed("{text}.", text=verbatim(what + cause_of(question))),
            *_foreign(start_of(question.message, MAX_MESSAGE)),
        ]
        lines += [clean_line(question.url, 5_000), _("Its host: {host}", host=clean_line(address.host, 300))]
        lines += [f"! {clean_line(warning, 300)}" for warning in address.warnings]
        pastes = is_sign_in and not browser
        accept = _("Open it in the browser.") if browser else _("Continue. Open it in a browser yourself.")
        accept = _("Paste the URL of the last page of the browser, on the next line.") if pastes else accept
        answer = await self._choose(lines, [(accept, _YES), *_refusals()])
        if answer is None or answer.action is not Action.ACCEPT or not pastes:
            return answer
        self._asking.say(_("Open the URL in a browser, sign in, and paste the URL of the last page."))
        line = await self._asking.line()
        return None if line is None else QuestionAnswer(Action.ACCEPT, pasted=line.strip())

    async def _sampling(self, question: questions.SamplingQuestion) -> QuestionAnswer | None:
        from tui.core.context.sampling_texts import ON_SCREEN, facts_of, sections_of

        server, model = quoted_name(question.server, 60), clean_line(self._model(), 60) or _("the model")
        params: Any = question.params if question.reply is None else question.reply
        head = question.head.format(server=server, model=model, cause=cause_of(question))
        send = _("Send it to the model.") if question.reply is None else _("Send it to the server.")
        sections = list(sections_of(params))
        lines = [composed("{text}.", text=verbatim(head)), facts_of(question.params, question.reply)]
        for one in sections:
            lines += [f"{one.heading}:", *_foreign(start_of(one.text, ON_SCREEN))]
        choices = _refusals()
        if sum(len(one.text) for one in sections) > ON_SCREEN:
            lines.append(_("It is too long to be shown in full, so it cannot be sent."))
        else:
            choices = [(send, QuestionAnswer(Action.ACCEPT, params)), *choices]
        return await self._choose(lines, choices)


_YES, _NO = QuestionAnswer(Action.ACCEPT), QuestionAnswer(Action.DECLINE)


def _refusals() -> list[tuple[str, QuestionAnswer]]:
    return [(_("Decline."), _NO), (_("Cancel."), LATER)]


def _foreign(text: str) -> list[str]:
    """Return the lines of a text that mcptui did not write, marked so that none looks like a choice."""
    return [f"> {line}" for line in clean(text).splitlines() if line.strip()]


def _whole(question: ConsentQuestion | ConsentsQuestion) -> str:
    return localized(message("{first} {second}", first=question.subject, second=question.head))


def _damage(text: str) -> list[str]:
    return [f"! {clean_line(localized(text), 1_000)}"] if text else []
