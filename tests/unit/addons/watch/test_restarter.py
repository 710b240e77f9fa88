"""What taps that restart their server have in common."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

from tui.addons.watch.restarter import Restarter, why_failed


class Counted(Restarter):
    """Counts restarts, the first of which fails."""

    def __init__(self, file: Path) -> None:
        super().__init__([str(file)])
        self.restarts: list[Sequence[str]] = []

    async def restart(self, files: Sequence[str]) -> bool:
        self.restarts.append(files)
        return len(self.restarts) > 1


async def test_each_version_of_a_file_is_tried_once(tmp_path: Path):
    file = tmp_path / "server.py"
    file.write_text("1")
    counted = Counted(file)
    for content in ("2", "3"):
        file.write_text(content)
        await asyncio.gather(counted._try([str(file)]), counted._try([str(file)]))
    assert len(counted.restarts) == 2


def test_a_host_is_told_which_files_have_changed():
    files = [f"/src/{name}.py" for name in "abcd"]
    assert "because a.py, b.py, c.py changed" in why_failed(files)
