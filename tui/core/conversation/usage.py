"""What a request to a model used up."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one request, as the endpoint counted them; `estimated` if it did not.

    `cached` of those of the prompt it had read before, which costs less.
    """

    prompt: int = 0
    completion: int = 0
    estimated: bool = False
    cached: int = 0

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            self.prompt + other.prompt,
            self.completion + other.completion,
            self.estimated or other.estimated,
            self.cached + other.cached,
        )
