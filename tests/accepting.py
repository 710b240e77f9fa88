"""Somebody who accepts every change of definitions, for tests of what comes after."""

from tui.core.questions import Action, DefinitionsAnswer, DefinitionsQuestion, Refuser


class Accepting(Refuser):
    """Declines everything else."""

    async def definitions(self, question: DefinitionsQuestion) -> DefinitionsAnswer:
        return DefinitionsAnswer(Action.ACCEPT)
