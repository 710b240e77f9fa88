"""Whether what a server returned for a file is what its manifest says: size, then digest, then front matter.

A match proves that manifest and file are consistent, not that either can be trusted: both are the server's.
Nothing is normalized. A text is its UTF-8, a blob its decoded bytes.
"""

import base64
import hashlib
import re
from dataclasses import dataclass, field
from typing import Any

from tui.addons.skills.entry import SkillEntry, SkillFile
from tui.addons.skills.frontmatter import FrontMatterProblem, differences
from tui.core.secrets.encodings import plain_base64
from tui.core.text import list_in, mapping, text_in
from tui.core.units import plural

NAMED = ("name", "description", "license", "compatibility", "metadata", "allowed-tools")
"""The fields of the Agent Skills specification. The names of all others are the server's text."""


@dataclass(frozen=True, slots=True)
class SkillContent:
    """A file of a skill that matches its manifest, or one of a dynamic skill. Not cleaned, not redacted.

    `path` is its decoded path below the folder of the skill; `mime` is what the server says.
    """

    path: str
    data: bytes = field(repr=False)
    mime: str = ""

    @property
    def text(self) -> str | None:
        """Its text, None if it is not UTF-8."""
        try:
            return self.data.decode()
        except UnicodeDecodeError:
            return None


def received(result: Any, path: str, most: int) -> SkillContent:
    """Return the one file in a raw answer to `resources/read`, not checked yet.

    Raises ValueError with the end of a sentence if there is not exactly one, or if it has more than `most`
    bytes.
    """
    contents = list_in(mapping(result), "contents")
    if len(contents) != 1:
        raise ValueError(f"the server returned {len(contents)} contents in place of one")
    found = mapping(contents[0])
    text, blob = found.get("text"), found.get("blob")
    if isinstance(text, str) == isinstance(blob, str):
        raise ValueError("the server returned neither text nor a file for it")
    if isinstance(text, str):
        try:
            data = text.encode()
        except UnicodeEncodeError:
            raise ValueError("the server returned text that is not valid Unicode") from None
    else:
        encoded = plain_base64(str(blob))
        if encoded is None:
            raise ValueError("the server returned a file that is not valid base64")
        data = base64.b64decode(encoded)
    if len(data) > most:
        raise ValueError(f"it has {len(data):,} bytes, and {most:,} are allowed")
    return SkillContent(path, data, text_in(found, "mimeType"))


def mismatch(data: bytes, file: SkillFile) -> str:
    """Return in what the bytes of a file differ from its manifest, as the end of a sentence, or ""."""
    if len(data) != file.size:
        return f"it has {len(data):,} bytes, and its manifest says {file.size:,}"
    if f"sha256:{hashlib.sha256(data).hexdigest()}" != file.digest:
        return "its SHA-256 digest is not the one in its manifest"
    return ""


def skill_text(content: SkillContent, entry: SkillEntry) -> str:
    """Return the text of a SKILL.md whose front matter is that of its entry.

    Raises ValueError with the end of a sentence if it is not.
    """
    if (text := content.text) is None:
        raise ValueError("it is not UTF-8 text")
    try:
        fields = differences(text, entry.frontmatter)
    except FrontMatterProblem as problem:
        raise ValueError(f"its front matter {problem}") from None
    if fields:
        found = {re.split(r"[.\[]", one)[0] for one in fields}
        named = [one for one in NAMED if one in found]
        others = [plural(more, "other field")] if (more := len(found) - len(named)) else []
        raise ValueError(f"its front matter differs from its entry in {', '.join(named + others)}")
    return text
