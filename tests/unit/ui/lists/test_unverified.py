"""Resources that look like files of skills, of a server that serves none."""

from types import SimpleNamespace

import pytest

from tui.core.workbench import ResourceInfo
from tui.ui.lists.unverified import is_unverified


@pytest.mark.parametrize(
    ("uri", "settings", "expected"),
    [
        ("skill://forms/SKILL.md", None, True),
        ("skill://forms/SKILL.md", {}, False),
        ("notes://one", None, False),
    ],
)
def test_a_file_of_a_skill_is_verified_only_if_its_server_serves_skills(uri, settings, expected):
    bench = SimpleNamespace(extension=lambda server, name: settings)
    assert is_unverified(bench, ResourceInfo("docs", uri)) is expected
