"""Finds programs by name, only in the absolute folders of PATH.

An entry such as `.`, `node_modules/.bin` or an empty one is relative to the current folder, which may belong
to someone else. A program with that name in it must not run.
"""

import os
import shutil
from collections.abc import Mapping


def search_path(path: str) -> str:
    """Return a PATH without the entries that are relative or empty."""
    return os.pathsep.join(filter(os.path.isabs, path.split(os.pathsep)))


def find_program(name: str, env: Mapping[str, str] | None = None) -> str | None:
    """Return the absolute path of a program on the PATH of `env` (ours by default), None if there is none.

    A name with a folder ("./tool") was chosen by the user, and is searched only in that folder.
    """
    path = (os.environ if env is None else env).get("PATH", os.defpath)
    found = shutil.which(name, path=search_path(path))
    return None if found is None else os.path.abspath(found)
