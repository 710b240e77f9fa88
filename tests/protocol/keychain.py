"""A keychain that is a file, as the optional package keyring."""

from pathlib import Path

KEYCHAIN = """
import json, pathlib
FILE = pathlib.Path({file!r})
def entries(): return json.loads(FILE.read_text()) if FILE.exists() else {{}}
def get_password(service, name): return entries().get(service + "/" + name)
def set_password(service, name, value):
    FILE.write_text(json.dumps(entries() | {{service + "/" + name: value}}))
def delete_password(service, name):
    found = entries()
    found.pop(service + "/" + name)
    FILE.write_text(json.dumps(found))
"""


def keychain_in(folder: Path) -> dict[str, str]:
    """Return an environment with a keychain that is a file."""
    (folder / "modules").mkdir(exist_ok=True)
    (folder / "modules" / "keyring.py").write_text(KEYCHAIN.format(file=str(folder / "keychain.json")))
    return {"PYTHONPATH": str(folder / "modules")}
