"""Questions from servers to the user, without configured secrets.

The URL of an `AddressQuestion` is shown unchanged, because the user agrees to open exactly that.
"""

from dataclasses import replace

from tui.core.questions import (
    AddressAnswer,
    AddressQuestion,
    DefinitionsAnswer,
    DefinitionsQuestion,
    FormAnswer,
    FormQuestion,
    Questioner,
    SamplingAnswer,
    SamplingQuestion,
    SamplingReview,
)
from tui.host.redaction.results import ResultRedactor


class RedactedQuestioner:
    """Passes questions on without secrets; see `core.questions.Questioner`."""

    def __init__(self, inner: Questioner, redaction: ResultRedactor) -> None:
        self._inner = inner
        self._redaction = redaction

    async def form(self, question: FormQuestion) -> FormAnswer:
        message, schema = self._redaction.text(question.message), self._redaction.value(question.schema)
        return await self._inner.form(replace(question, message=message, schema=schema))

    async def address(self, question: AddressQuestion) -> AddressAnswer:
        return await self._inner.address(replace(question, message=self._redaction.text(question.message)))

    async def sampling(self, question: SamplingQuestion) -> SamplingAnswer:
        return await self._inner.sampling(replace(question, params=self._redaction.value(question.params)))

    async def review(self, question: SamplingReview) -> SamplingAnswer:
        params, reply = self._redaction.value(question.params), self._redaction.value(question.reply)
        return await self._inner.review(replace(question, params=params, reply=reply))

    async def definitions(self, question: DefinitionsQuestion) -> DefinitionsAnswer:
        return await self._inner.definitions(question)  # already redacted where it is asked

    def refused(self, server: str, why: str) -> None:
        self._inner.refused(server, self._redaction.text(why))
