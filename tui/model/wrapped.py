"""A model around another model: whoever asks still sees whom it is asking."""

from tui.core.ports import ChatModel, ModelCapabilities


class Wrapped:
    """A ChatModel that passes on who the model within is."""

    def __init__(self, model: ChatModel) -> None:
        self._model = model

    @property
    def label(self) -> str:
        """The inner model's."""
        return self._model.label

    @property
    def notice(self) -> str:
        """The inner model's."""
        return self._model.notice

    @property
    def capabilities(self) -> ModelCapabilities:
        return self._model.capabilities

    def restrict(self, *, tools: bool | None, images: bool | None) -> None:
        self._model.restrict(tools=tools, images=images)

    async def connect(self) -> None:
        await self._model.connect()

    async def aclose(self) -> None:
        await self._model.aclose()

    async def retire(self) -> None:
        await self._model.retire()
