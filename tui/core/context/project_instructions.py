"""Instructions of a project for models, from a file in its folder, as a part of the system text. Pure.

The author of the file is not the user: it may come from a repository that was cloned a minute ago. It is used
only after the user agrees, and the model gets exactly the text that the user was shown.
"""

import hashlib
from dataclasses import dataclass

from tui.core.attachments import fenced
from tui.core.text import clean, clean_line
from tui.core.units import plural

FILE = "AGENTS.md"
MAX_BYTES = 256 * 1024
"""Maximum bytes read from the file."""

MAX_CHARS = 32_768
"""Maximum characters of the file that a model gets."""


@dataclass(frozen=True, slots=True)
class ProjectInstructions:
    """The file of a folder. `text` is cleaned and bounded; `omitted` counts the characters that are cut."""

    folder: str
    text: str
    omitted: int = 0

    @property
    def key(self) -> str:
        """A hash of folder and text, under which the answer is stored."""
        whole = f"{self.folder}\0{self.omitted}\0{self.text}"
        return hashlib.sha256(whole.encode("utf-8", "replace")).hexdigest()

    @property
    def prompt(self) -> str:
        """The part of the system text."""
        return (
            f"Instructions for this project follow, from the file {FILE} in the folder "
            f"{clean_line(self.folder, 400)}. The user has accepted them. What the user says in this "
            f"conversation comes first.\n{fenced(self.shown)}"
        )

    @property
    def shown(self) -> str:
        """The text of the file, as the user reviews it and the model receives it."""
        return f"{self.text}\n[cut: {plural(self.omitted, 'more character')}]" if self.omitted else self.text


def project_instructions(folder: str, text: str) -> ProjectInstructions | None:
    """Return the instructions in the text of a file; None if it is empty."""
    whole = clean(text).strip()
    return ProjectInstructions(folder, whole[:MAX_CHARS], max(0, len(whole) - MAX_CHARS)) if whole else None
