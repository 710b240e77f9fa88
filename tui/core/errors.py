"""The error tree. Every error says what happened, where, why, and what to do next."""

from collections.abc import Iterable


class McptuiError(Exception):
    """An error that the user can act on: what happened and why, and what to do (`next_step`).

    `where` is a server's or profile's name, a file with a key path, or "".
    """

    def __init__(self, message: str, *, where: str = "", next_step: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.where = where
        self.next_step = next_step

    def __str__(self) -> str:
        named = not self.where or self.message.startswith(f"{self.where} ")
        text = self.message if named else f"{self.where}: {self.message}"
        return sentences(text, self.next_step)


def sentences(text: str, next_step: str) -> str:
    """Return what happened and what to do about it as one or two sentences."""
    if not next_step:
        return text
    return f"{text}{'' if text.endswith(('.', '!', '?', ':')) else '.'} {next_step}"


def as_sentences(problems: Iterable[str]) -> str:
    """Return several problems as one text, a sentence each. The last one has no full stop."""
    told = [problem.strip().rstrip(".") for problem in problems]
    return " ".join((*(f"{one}{'' if one.endswith('?') else '.'}" for one in told[:-1]), *told[-1:]))


class UsageError(McptuiError):
    """The command line names something that does not exist, or contradicts itself (exit code 2)."""


class ConfigError(McptuiError):
    """The configuration cannot be used (exit code 2)."""


class ModelError(McptuiError):
    """The model endpoint failed.

    Attributes:
        status: the HTTP status, or None if there was none.
        retryable: whether a retry may help (timeouts, 429, 5xx); never for quota or billing.
        retry_after: seconds the endpoint asked us to wait, or None.
        overflow: the conversation does not fit into the model's window.
        window: tokens that fit into it, if the endpoint says so.
        generation: text of the model that the endpoint failed to parse as a call, or "".
        said: all that the endpoint says, for patterns, or "".
    """

    generation: str = ""
    said: str = ""

    def __init__(
        self,
        message: str,
        *,
        where: str = "",
        next_step: str = "",
        status: int | None = None,
        retryable: bool = False,
        retry_after: float | None = None,
        overflow: bool = False,
        window: int | None = None,
    ) -> None:
        super().__init__(message, where=where, next_step=next_step)
        self.status = status
        self.retryable = retryable
        self.retry_after = retry_after
        self.overflow = overflow
        self.window = window


class NoTools(ModelError):
    """The endpoint says that this model cannot call functions; it may still write calls as text."""


class ServerError(McptuiError):
    """A server did not start, died, or broke the protocol so that a call has no result."""


class StorageError(McptuiError):
    """A recording's file cannot be opened or read."""


class IllegalTransition(AssertionError):
    """A server's state was about to change in a way that its table does not allow: a bug in mcptui."""
