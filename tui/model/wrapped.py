"""A model around another model that passes on everything except the stream, which subclasses change."""

from tui.core.ports import ChatModel, ModelCapabilities


class Wrapped:
    """A ChatModel around another one; a subclass changes the stream."""

    def __init__(self, model: ChatModel) -> None:
        self._model = model

    @property
    def label(self) -> str:
        return self._model.label

    @property
    def notice(self) -> str:
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
