"""What a server of skills serves, honest until a test changes it, and the server itself."""

import base64
import hashlib
import json
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests import hosts
from tui.addons.skills.server_skills import ServerSkills
from tui.core.servers import ServerSpec
from tui.core.time_limits import CallTimeout

SERVER = Path(__file__).parents[3] / "protocol" / "skills_server.py"
FORMS = "skill://forms/SKILL.md"
REFERENCE = "skill://forms/references/FIELDS.md"
SKILL_MD = "---\nname: forms\ndescription: Fill forms\n---\n\nRead references/FIELDS.md first.\n"
FIELDS = "canary-fields\n"


def digest(data: bytes) -> str:
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def listed(uri: str, data: str | bytes) -> dict[str, Any]:
    """Return a file of a manifest."""
    raw = data if isinstance(data, bytes) else data.encode()
    return {"uri": uri, "digest": digest(raw), "size": len(raw)}


def content(uri: str, data: str | bytes) -> dict[str, Any]:
    """Return what `resources/read` returns for a file."""
    if isinstance(data, str):
        return {"uri": uri, "mimeType": "text/markdown", "text": data}
    return {"uri": uri, "mimeType": "image/png", "blob": base64.b64encode(data).decode()}


def raw_entry(
    uri: str = FORMS, files: Mapping[str, str | bytes] | None = None, **frontmatter: Any
) -> dict[str, Any]:
    """Return an honest entry for files by URI."""
    found = {FORMS: SKILL_MD, REFERENCE: FIELDS} if files is None else files
    name = uri.rsplit("/", 2)[-2]
    front = {"name": name, "description": "Fill forms"} | frontmatter
    return {"uri": uri, "frontmatter": front, "resources": [listed(one, data) for one, data in found.items()]}


@dataclass
class Site:
    """What the server serves: one skill, `forms`, with a file that it refers to."""

    folder: Path
    settings: dict[str, Any] | None = field(default_factory=dict)
    pages: list[list[Any]] = field(default_factory=lambda: [[raw_entry()]])
    files: dict[str, Any] = field(
        default_factory=lambda: {FORMS: content(FORMS, SKILL_MD), REFERENCE: content(REFERENCE, FIELDS)}
    )
    unlisted: list[dict[str, Any]] = field(default_factory=list)
    more: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        (self.folder / "asked").touch()
        self.save()

    @property
    def entry(self) -> dict[str, Any]:
        """The raw entry of the skill."""
        return self.pages[0][0]

    def save(self) -> None:
        """Let the server answer with what is there now."""
        known = [*(one for page in self.pages for one in page if isinstance(one, dict)), *self.unlisted]
        skills = {one["uri"]: one for one in known if isinstance(one.get("uri"), str)}
        site = {"settings": self.settings, "pages": self.pages, "files": self.files, "skills": skills}
        (self.folder / "next").write_text(json.dumps(site | self.more))
        (self.folder / "next").replace(self.folder / "site")

    def asked(self, method: str) -> list[Any]:
        """Return the URIs of the requests with this method, None for those without."""
        lines = (self.folder / "asked").read_text().splitlines()
        return [uri for name, uri in map(json.loads, lines) if name == method]

    @property
    def env(self) -> dict[str, str]:
        return {"SITE": str(self.folder / "site"), "ASKED": str(self.folder / "asked")}

    def spec(self, *words: str, name: str = "docs") -> ServerSpec:
        return ServerSpec(name, sys.executable, (str(SERVER), *words), env=self.env)

    @asynccontextmanager
    async def skills(self, *words: str, **more: Any) -> AsyncIterator[ServerSkills]:
        """Start the server with these arguments, and return what a host knows of its skills."""
        self.save()
        async with hosts.running(self.spec(*words), **more) as host:
            yield ServerSkills(host, lambda: CallTimeout.of(20.0))
