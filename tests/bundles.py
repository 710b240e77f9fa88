"""Creates bundles (.mcpb), valid and hostile ones."""

import json
import stat
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

MANIFEST: dict[str, Any] = {
    "manifest_version": "0.2",
    "name": "mcp-server-sample",
    "version": "1.0.0",
    "description": "A sample.",
    "author": {"name": "Somebody"},
    "server": {
        "type": "python",
        "entry_point": "server/main.py",
        "mcp_config": {"command": "python3", "args": ["${__dirname}/server/main.py"]},
    },
}


def manifest(config: Mapping[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    """Return a manifest with these fields, and with `config` merged into its `mcp_config`."""
    server = MANIFEST["server"]
    return {
        **MANIFEST,
        "server": {**server, "mcp_config": {**server["mcp_config"], **(config or {})}},
        **more,
    }


def entry(name: str, mode: int = stat.S_IFREG | 0o644) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name)
    info.external_attr = mode << 16
    info.create_system = 3
    return info


def bundle(path: Path, said: Any = None, files: Mapping[str, bytes] | None = None, *others: Any) -> Path:
    """Write a bundle, by default with the single file that `MANIFEST` starts.

    `others` are pairs of a `ZipInfo` and its data, written unchanged.
    """
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as target:
        text = said if isinstance(said, bytes) else json.dumps(MANIFEST if said is None else said).encode()
        target.writestr("manifest.json", text)
        files = {"server/main.py": b""} if files is None else files
        for name, data in files.items():
            target.writestr(entry(name), data)
        for info, data in others:
            target.writestr(info, data)
    return path
