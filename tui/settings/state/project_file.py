"""The project instructions of the working folder, and whether the user wants them used."""

import os
from pathlib import Path

from tui.core.context.instructions import FILE, MAX_BYTES, ProjectInstructions, project_instructions
from tui.core.files import stamp_of
from tui.core.language.translate import N_, message
from tui.core.text import object_in
from tui.settings.files import Unreadable, read_bounded
from tui.settings.state.state_file import Content, StateFile

MAX_ANSWERS = 500
MAX_FILE_BYTES = 256 * 1024


class ProjectFile:
    """`AGENTS.md` of the working folder, and the user's answers, which are stored in the file `answers`.

    `found` are the instructions; None if there are none, or before `look`. `answer`: whether to use them;
    None if the user has not answered for this text. With `always`, a command line option, nobody is asked.
    `problem` is why the file cannot be used, or "". `changed`: they were used until the file changed.
    `revision` grows with each change.
    """

    def __init__(self, answers: Path, *, always: bool = False) -> None:
        self._answers = StateFile(answers, "the answer about AGENTS.md", max_bytes=MAX_FILE_BYTES)
        self._seen: object = None
        self.always = always
        self.found: ProjectInstructions | None = None
        self.answer: bool | None = None
        self.problem = ""
        self.changed = False
        self.revision = 0

    @property
    def used(self) -> ProjectInstructions | None:
        """The instructions to give the model, or None."""
        return self.found if self.always or self.answer else None

    def look(self) -> None:
        """Read the file again if it changed. Blocks."""
        place, seen = _place()
        if seen == self._seen:
            return
        used, self._seen, self.problem, self.found = self.used, seen, "", None
        if place is not None:
            folder, path = place
            try:
                self.found = project_instructions(folder, read_bounded(path, MAX_BYTES))
            except FileNotFoundError:  # deleted since
                self._seen = None
            except Unreadable as error:
                self.problem = str(error)
        self.answer = None if self.found is None else _kept(self._answers.look()[0]).get(self.found.key)
        self.changed = used is not None and self.found != used and self.used is None
        self.revision += 1

    def words(self, tokens: str) -> str:
        """Return a sentence or two about its status, or ""."""
        if self.problem:
            return message(
                "{file} in this folder is not used: it {problem}.", file=FILE, problem=self.problem
            )
        if self.found is None or self.answer is False:
            return ""
        if self.used is not None:
            return message("Using {file} of this folder ({tokens}).", file=FILE, tokens=tokens)
        if self.changed:
            return message(
                "{file} has changed and is no longer used. Review it with /instructions.", file=FILE
            )
        unused = N_("{file} in this folder is not used yet ({tokens}). Review it with /instructions.")
        return message(unused, file=FILE, tokens=tokens)

    def decide(self, about: ProjectInstructions, use: bool) -> None:
        """Store the answer for this text in this folder. Blocks. Raises ConfigError if it cannot be written.

        Even then, the answer applies until mcptui ends.
        """
        if about == self.found:
            self.answer, self.changed = use, False
            self.revision += 1

        def change(content: Content) -> Content:
            answers = {**_kept(content), about.key: use}
            return {"answers": dict(list(answers.items())[-MAX_ANSWERS:])}

        self._answers.change(change)


def _kept(content: Content) -> dict[str, bool]:
    return {key: use for key, use in object_in(content, "answers").items() if isinstance(use, bool)}


def _place() -> tuple[tuple[str, Path] | None, object]:
    """Return the folder and the path of its file, or None, and a value that changes when the file changes."""
    try:
        folder = os.path.realpath(os.getcwd())
        path = os.path.realpath(os.path.join(folder, FILE))
        # A link to a file elsewhere could give a model what the project must not read.
        inside = os.path.commonpath([folder, path]) == folder
    except (OSError, ValueError):
        return None, None
    if not (inside and os.path.isfile(path)):
        return None, None
    return (folder, Path(path)), (folder, path, stamp_of(path))
