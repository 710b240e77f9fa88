"""A questioner that accepts every change of definitions, for tests of what happens next."""

from tui.core.questions import Action, DefinitionsAnswer, DefinitionsQuestion, Refuser


class Accepting(Refuser):
    """Accepts changed definitions and declines everything else."""

    async def definitions(self, question: DefinitionsQuestion) -> DefinitionsAnswer:
        return DefinitionsAnswer(Action.ACCEPT)
