"""Sample MCP server: short notes in a JSON file.

Shows what a server with state offers: read-only tools, one that adds, one marked as destructive, a
resource and a prompt. The file is `$MCPTUI_NOTES_FILE`, or `notes.json` in the data directory of mcptui.
It is replaced atomically, under a lock, so that neither a crash nor a second copy of this server loses a
note. A file that cannot be read is reported and never overwritten.
"""

import json
import os
import re
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TypedDict

try:
    from plain_server import READ_ONLY, Server, ToolError
except ModuleNotFoundError:
    sys.exit("notes.py needs plain_server.py in the same directory.")

TEXT = {"type": "string", "title": "Text", "description": "The text of the note.", "maxLength": 10_000}
QUERY = {
    "type": "string",
    "title": "Query",
    "description": "Words that the note must contain. Case is ignored.",
}
ID = {
    "type": "string",
    "title": "Id",
    "description": "The id of the note, as returned by list_notes or search_notes.",
}


class Note(TypedDict):
    """A note in the file."""

    id: str
    text: str


server = Server(
    "notes",
    version="1.0",
    instructions="Short notes of the user. Get the id of a note from list_notes or search_notes.",
)


def notes_file() -> str:
    """Return the path of the notes file."""
    if named := os.environ.get("MCPTUI_NOTES_FILE"):
        return os.path.expanduser(named)
    from platformdirs import user_data_dir

    return os.path.join(user_data_dir("mcptui", appauthor=False), "notes.json")


def read_notes() -> list[Note]:
    """Return all notes, oldest first.

    Raises:
        ToolError: the file exists but is not a list of notes.
    """
    path = notes_file()
    try:
        with open(path, encoding="utf-8") as file:
            found = json.load(file)
        return [Note(id=str(note["id"]), text=str(note["text"])) for note in found]
    except FileNotFoundError:
        return []
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise ToolError(f"Cannot read {path} as notes. It was not changed: {error}") from error


def write_notes(notes: list[Note]) -> None:
    """Replace the file atomically."""
    import tempfile  # slow to import, and most starts write nothing

    path = notes_file()
    handle, name = tempfile.mkstemp(dir=os.path.dirname(path) or ".", prefix=".notes-")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump(notes, file, ensure_ascii=False, indent=2)
            file.flush()
            os.fsync(file.fileno())
        os.replace(name, path)
    except BaseException:
        with suppress(FileNotFoundError):
            os.unlink(name)
        raise


@contextmanager
def changing() -> Iterator[list[Note]]:
    """Yield the notes to change, and write them if the block succeeds."""
    path = notes_file()
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True, mode=0o700)
    with open(path + ".lock", "a") as lock:
        if os.name == "posix":
            import fcntl

            fcntl.flock(lock, fcntl.LOCK_EX)
        notes = read_notes()
        yield notes
        write_notes(notes)


def new_id(text: str, taken: set[str]) -> str:
    """Return an id that is easy to type: the date and the first words of the note."""
    words = re.findall(r"\w+", text.casefold())[:3]
    base = "-".join([time.strftime("%Y-%m-%d"), *words])[:48].rstrip("-")
    count = 1
    while (found := base if count == 1 else f"{base}-{count}") in taken:
        count += 1
    return found


def as_lines(notes: list[Note]) -> str:
    """Return the notes as lines of id and text."""
    return "\n".join(f"{note['id']}: {note['text']}" for note in notes)


@server.tool(
    "Add note",
    {"text": TEXT},
    {"readOnlyHint": False, "destructiveHint": False, "openWorldHint": False},
)
def add_note(text: str) -> str:
    """Add a note and return its id."""
    if not text.strip():
        raise ToolError("text must not be empty.")
    with changing() as notes:
        note = Note(id=new_id(text, {note["id"] for note in notes}), text=text.strip())
        notes.append(note)
    return f"Added note {note['id']}: {note['text']}"


@server.tool("List notes", {}, READ_ONLY)
def list_notes() -> str:
    """List all notes with their ids, oldest first."""
    return as_lines(read_notes()) or "No notes yet."


@server.tool("Search notes", {"query": QUERY}, READ_ONLY)
def search_notes(query: str) -> str:
    """Find notes that contain every word of the query."""
    words = query.casefold().split()
    found = [note for note in read_notes() if all(word in note["text"].casefold() for word in words)]
    return as_lines(found) or f"No notes match {query[:80]!r}."


@server.tool(
    "Delete note",
    {"id": ID},
    {"readOnlyHint": False, "destructiveHint": True, "idempotentHint": True, "openWorldHint": False},
)
def delete_note(id: str) -> str:
    """Delete a note. This cannot be undone."""
    with changing() as notes:
        found = next((note for note in notes if note["id"] == id.strip()), None)
        if found is None:
            raise ToolError(f"Note {id[:80]!r} not found. Call list_notes for the ids.")
        notes.remove(found)
    return f"Deleted note {found['id']}: {found['text']}"


@server.resource("notes://all", name="All notes", mime_type="text/plain")
def all_notes() -> str:
    """All notes, one per line, oldest first."""
    return as_lines(read_notes())


@server.prompt("Summarize notes")
def summarize_notes() -> str:
    """Ask for a summary of all notes."""
    return f"Summarize these notes in a few sentences, most urgent first.\n\n{as_lines(read_notes())}"


if __name__ == "__main__":
    server.run()
