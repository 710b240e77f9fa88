"""Problems of a configuration, and how to fix them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tui.core.errors import dotted
from tui.core.matching import nearest_name
from tui.core.text import capitalized, quoted_name

if TYPE_CHECKING:  # not needed for the first frame
    from tui.settings.key_positions import KeyPath, Place


@dataclass(frozen=True, slots=True)
class Problem:
    """One problem in one file.

    `message` says what is wrong, without the place. `keys` are () for the whole file. `suggestion` says what
    to do, or is "". With a `warning`, everything still works, so that the check does not fail. `line` is 0 if
    unknown.
    """

    message: str
    keys: "KeyPath" = ()
    suggestion: str = ""
    warning: bool = False
    line: int = 0
    file: str = ""

    @property
    def path(self) -> str:
        """The key as written in TOML, or ""."""
        return dotted(self.keys)

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}" if self.file and self.line else self.file
        head = " ".join(part for part in (place, self.path) if part)
        text = f"{self.message}. {capitalized(self.suggestion)}" if self.suggestion else self.message
        if self.suggestion.startswith("did you mean"):
            text = f"{self.message}, {self.suggestion}"
        return f"{head}: {text}" if head else text


@dataclass(frozen=True, slots=True)
class Source:
    """A parsed file, with the places of its keys by their path in `tree`."""

    tree: Mapping[str, Any]
    places: "Mapping[KeyPath, Place]"
    problems: tuple[Problem, ...] = ()


def did_you_mean(wrong: str, right: Iterable[str], synonyms: Mapping[str, str] | None = None) -> str:
    """Return "did you mean “x”?" for the most similar name, or "" if none is similar.

    `synonyms` maps names that other programs use to names of `right`.
    """
    meant = {name: name for name in right}
    meant |= {name: ours for name, ours in (synonyms or {}).items() if ours in meant}
    near = nearest_name(wrong, sorted(meant))
    return f"did you mean {quoted_name(meant[near])}?" if near else ""


def hinted(sentence: str, wrong: str, right: Iterable[str]) -> str:
    """Return a sentence about a name that is not one of `right`, with what it may mean, and its full stop."""
    hint = did_you_mean(wrong, right)
    return f"{sentence}, {hint}" if hint else f"{sentence}."
