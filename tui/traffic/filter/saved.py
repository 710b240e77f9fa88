"""Filters with names. Values only; where they are kept is not known here."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from tui.traffic.filter.query import parse

LONGEST_NAME = 32
_NAME = re.compile(r"[^\W_][\w-]*")


@dataclass(frozen=True, slots=True)
class SavedFilters:
    """Named filters: each name and the text of its filter."""

    texts: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))

    def saved(self, name: str, text: str) -> "SavedFilters":
        """Return these with one more, or with another text for a name.

        Raises:
            ValueError: with a sentence, if the name or the filter cannot be kept.
        """
        complaint = name_complaint(name)
        if complaint:
            raise ValueError(complaint)
        query = parse(text)
        if query.problems:
            raise ValueError(query.problems[0].sentence)
        if query.root is None:
            raise ValueError("There is no filter to save.")
        return SavedFilters(MappingProxyType({**self.texts, name: text}))

    def without(self, name: str) -> "SavedFilters":
        """Return these without one."""
        return SavedFilters(MappingProxyType({key: text for key, text in self.texts.items() if key != name}))


def name_complaint(name: str) -> str:
    """Return why a name cannot be used for a filter, or ""."""
    if not name:
        return "A filter needs a name."
    if len(name) > LONGEST_NAME:
        return f"The name of a filter has at most {LONGEST_NAME} characters."
    if not _NAME.fullmatch(name):
        return "The name of a filter has letters, digits, - and _, and begins with a letter or digit."
    return ""
