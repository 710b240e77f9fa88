"""A model around another model: whoever asks still sees whom it is asking."""

from tui.core.ports import ChatModel


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
    def inner(self) -> ChatModel:
        """The model that is asked."""
        return self._model
