"""Configuration files that tests write, table by table."""

import json
import sys
import tomllib
from pathlib import Path
from typing import Any

from tests.endpoint import Endpoint


def toml(value: Any) -> str:
    """Return a value in TOML, a mapping as an inline table."""
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{json.dumps(key)} = {toml(each)}" for key, each in value.items()) + " }"
    return json.dumps(value, ensure_ascii=False)


def table(name: str, **values: Any) -> str:
    return "\n".join([f"[{name}]", *(f"{key} = {toml(value)}" for key, value in values.items()), ""])


def server(name: str, script: Path | str, *arguments: str | Path, **values: Any) -> str:
    """Return the table of a server that is a Python program, or with "-c" a piece of one."""
    return table(
        f"servers.{name}", command=sys.executable, args=[str(script), *map(str, arguments)], **values
    )


def model(endpoint: Endpoint, name: str = "scripted", **values: Any) -> str:
    return table(f"models.{name}", base_url=endpoint.base_url, **({"model": "m"} | values))


def servers_in(file: Path) -> dict[str, Any]:
    """Return the servers of a configuration file, none if there is no file."""
    return tomllib.loads(file.read_text())["servers"] if file.exists() else {}


def config_file(folder: Path, *tables: str) -> str:
    """Write a private configuration file and return its path."""
    path = folder / "config.toml"
    path.write_text("\n".join(tables), "utf-8")
    path.chmod(0o600)
    return str(path)
