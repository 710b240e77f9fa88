"""One line of the list above the composer, and which lines fit what was written. Pure."""

from collections.abc import Iterable
from dataclasses import dataclass

from tui.core.text import clean_line
from tui.ui.chat.composer.references import Reference
from tui.ui.keys.slash_commands import Spec, Takes

MOST_SHOWN = 200


@dataclass(frozen=True, slots=True)
class Suggestion:
    """Something that can be written here.

    Attributes:
        name: what is looked for, as it is shown.
        usage: what may stand behind it, or "".
        about: what it is, in a sentence or a few words.
        text: what is written in place of what was typed.
        runs: nothing need be written behind it: enter sends it at once.
        reference: what is attached instead of `text`, or None.
    """

    name: str
    usage: str = ""
    about: str = ""
    text: str = ""
    runs: bool = False
    reference: Reference | None = None


def of_commands(specs: Iterable[Spec]) -> list[Suggestion]:
    """Return the commands as they are suggested."""
    return [
        Suggestion(
            f"/{spec.name}",
            spec.usage,
            spec.help,
            f"/{spec.name}" if spec.takes is Takes.NOTHING else f"/{spec.name} ",
            spec.takes is Takes.NOTHING,
        )
        for spec in specs
    ]


def of_words(words: Iterable[tuple[str, str]], *, behind: str = " ") -> list[Suggestion]:
    """Return words with what each is; `behind` is written after one that is taken."""
    return [
        Suggestion(clean_line(word, 100), about=clean_line(about, 100), text=word + behind)
        for word, about in words
    ]


def fitting(found: Iterable[Suggestion], query: str) -> list[Suggestion]:
    """Return what fits `query`, the best first: begins so, a part begins so, has it in it, has its letters.

    Order within one degree stays as it was given.
    """
    query = query.casefold()
    ranked = []
    for place, one in enumerate(found):
        name = one.name.casefold()
        degree = _degree(name if query.startswith("/") else name.removeprefix("/"), query)
        if degree is not None:
            ranked.append((degree, place, one))
    ranked.sort(key=lambda entry: entry[:2])
    return [one for _, _, one in ranked[:MOST_SHOWN]]


def _degree(name: str, query: str) -> int | None:
    if name.startswith(query):
        return 0
    at = name.find(query)
    if at > 0:
        return 1 if not name[at - 1].isalnum() else 2
    if len(query) < 2:
        return None
    letters = iter(name)
    return 3 if all(letter in letters for letter in query) else None
