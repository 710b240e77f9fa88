"""Skills of FastMCP through the loader: over both transports, and what is left of them in the legacy era."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.hosts import running
from tests.real.installed import FASTMCP, needs
from tests.real.places import free_port, served
from tests.real.reached import NAME
from tui.addons.skills.problem import SkillProblem, Why
from tui.addons.skills.server_skills import ServerSkills
from tui.core.servers import EraChoice, ServerSpec, Transport
from tui.core.time_limits import CallTimeout

pytestmark = [*needs(FASTMCP), pytest.mark.timeout(120)]

SERVER = Path(__file__).with_name("fastmcp_skills.py")
SKILL_MD = """\
---
name: pdf-forms
description: "Fill: forms"
license: MIT
metadata: {version: "1.0", count: 2, ratio: 1.0, quoted: "yes", none: ~}
---
# Ünïcode \N{SNOWMAN}
"""
PICTURE = b"\x89PNG\x00\xff"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    skill = tmp_path / "skills" / "pdf-forms"
    (skill / "inner").mkdir(parents=True)
    (skill / "SKILL.md").write_text(SKILL_MD, "utf-8")
    (skill / "crlf.md").write_bytes(b"\xef\xbb\xbfa\r\nb\r\n")
    (skill / "my file.md").write_text("spaced")
    (skill / "logo.png").write_bytes(PICTURE)
    (skill / "inner" / "SKILL.md").write_text(SKILL_MD.replace("pdf-forms", "inner"), "utf-8")
    return tmp_path / "skills"


@pytest.fixture(params=["stdio", "http"])
def spec(request: pytest.FixtureRequest, folder: Path, shared_processes: set[int]) -> Iterator[ServerSpec]:
    if request.param == "stdio":
        yield ServerSpec(NAME, str(FASTMCP), (str(SERVER), str(folder)))
        return
    port = free_port()
    with served([FASTMCP, SERVER, folder, str(port)], port, shared_processes):
        yield ServerSpec(NAME, transport=Transport.HTTP, url=f"http://127.0.0.1:{port}/mcp")


async def test_every_file_of_a_skill_matches_and_a_changed_one_does_not(spec: ServerSpec, folder: Path):
    async with running(spec) as host:
        skills = ServerSkills(host, lambda: CallTimeout.of(20.0))
        (entry,) = (await skills.listing(NAME)).entries
        assert entry.declined == "" and entry == await skills.entry(NAME, entry.uri)
        held = await skills.load(entry)
        assert held.text == SKILL_MD
        found = {path: (await skills.read(held, file.uri)).data for path, file in entry.by_path.items()}
        assert found["logo.png"] == PICTURE and found["my file.md"] == b"spaced"
        assert found["crlf.md"] == b"\xef\xbb\xbfa\r\nb\r\n" and entry.nested == ("inner/SKILL.md",)
        (folder / "pdf-forms" / "crlf.md").write_text("other")
        for reference, why in (("crlf.md", Why.MISMATCH), ("_manifest", Why.UNLISTED)):
            with pytest.raises(SkillProblem) as raised:
                await skills.read(held, reference)
            assert raised.value.why is why
        again = await skills.load(await skills.entry(NAME, entry.uri))
        assert (await skills.read(again, "crlf.md")).data == b"other"


async def test_in_the_legacy_era_its_skills_are_resources(spec: ServerSpec):
    async with running(replace(spec, era=EraChoice.LEGACY)) as host:
        skills = ServerSkills(host, lambda: CallTimeout.of(20.0))
        assert skills.servers() == []
        resources, problem = await skills.plain(NAME)
        assert "skill://pdf-forms/SKILL.md" in [one.uri for one in resources] and problem == ""
