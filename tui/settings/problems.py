"""Problems of a configuration, and how to fix them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tui.core.errors import composed, dotted
from tui.core.language.translate import message
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
        text = self.message
        if self.suggestion.startswith("did you mean"):
            text = composed("{text}, {next_step}", text=text, next_step=self.suggestion)
        elif self.suggestion:
            text = composed("{text}. {next_step}", text=text, next_step=capitalized(self.suggestion))
        return composed("{where}: {text}", where=head, text=text) if head else text


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
    return message("did you mean {name}?", name=quoted_name(meant[near])) if near else ""


def hinted(sentence: str, wrong: str, right: Iterable[str]) -> str:
    """Return a sentence about a name that is not one of `right`, with what it may mean, and its full stop."""
    hint = did_you_mean(wrong, right)
    if hint:
        return composed("{text}, {next_step}", text=sentence, next_step=hint)
    return composed("{text}.", text=sentence)
