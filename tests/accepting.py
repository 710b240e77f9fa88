"""A questioner that accepts every change of definitions, for tests of what happens next."""

from tui.core.questions import Action, DefinitionsQuestion, Question, QuestionAnswer, Questioner


class Accepting(Questioner):
    """Accepts changed definitions and declines everything else."""

    async def ask(self, question: Question) -> QuestionAnswer:
        if isinstance(question, DefinitionsQuestion):
            return QuestionAnswer(Action.ACCEPT)
        return await super().ask(question)
