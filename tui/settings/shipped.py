"""Finds the files that ship with mcptui, and the sample servers made of them.

hatchling's force-include puts `themes/` and `sample_config/` into the wheel under `tui/_shipped/`, but
does not reach an editable install, where they lie beside the package. This locator knows both.
"""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import tui
from tui.settings import locations

if TYPE_CHECKING:  # not needed for the first frame, which loads its theme from here
    from tui.core.servers import ServerSpec


def shipped_dir(name: str) -> Path:
    """Return the directory `name` ("themes", "sample_config") that ships with this mcptui.

    Raises:
        FileNotFoundError: the installation is incomplete.
    """
    package = Path(tui.__file__).parent
    for place in (package / "_shipped" / name, package.parent / name):
        if place.is_dir():
            return place
    raise FileNotFoundError(f"{name}: not found beside {package}; this installation of mcptui is incomplete")


def sample_server(name: str) -> Path:
    """Return the script of the sample server `name` ("weather", "notes", "slow")."""
    return shipped_dir("sample_config") / "servers" / f"{name}.py"


def default_servers() -> "tuple[ServerSpec, ...]":
    """Return the servers of someone who has configured nothing: the samples, run with our own Python."""
    from tui.core.servers import ServerSpec

    def sample(name: str, *, env: dict[str, str] | None = None, autostart: bool = True) -> ServerSpec:
        script = str(sample_server(name))
        return ServerSpec(name, sys.executable, (script,), env=env or {}, autostart=autostart)

    return (
        sample("weather"),
        sample("notes", env={"MCPTUI_NOTES_FILE": str(locations.data_dir() / "notes.json")}),
        sample("slow", autostart=False),
    )
