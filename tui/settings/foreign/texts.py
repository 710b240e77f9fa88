"""References of other hosts in a text, converted to ours.

A reference to a variable becomes `${NAME}`. What mcptui does not get itself (an input of VS Code, the output
of a command) becomes a variable too, and a note says which: never is such a text sent as it is written. Reads
nothing.
"""

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tui.core.text import clean_line, object_in, quoted_name
from tui.settings.references import NAME, escaped

Note = Callable[[str], None]

_WITH_DEFAULT = rf"{NAME}(?::-[^}}]*)?"
_FORM = re.compile(
    r"\$\{\{\s*+(?P<secret>[\w.-]++)\s*+\}\}"
    r"|(?P<template>\{\{\s*+[\w.-]++\s*+\}\})"
    r"|\$\{(?P<braced>[^${}]*+)\}"
    r"|\{(?P<kind>env|file):(?P<plain>[^{}]++)\}"
    r"|(?<![\w\\$])\$(?P<name>[A-Z_][A-Z0-9_]*)(?!\w)"
)
_SECRETS = re.compile(r"(?:secrets?|inputs?|env|vars|user_config)[.:]([\w.-]+)")
_HOME = re.compile(r"~(?=/|$)")
_COPILOT_SECRET = re.compile(r"COPILOT_MCP_[A-Z0-9_]+")
_TAKEN = frozenset(
    "PATH HOME USER LOGNAME SHELL PWD OLDPWD LANG LANGUAGE TERM TMPDIR TMP TEMP TZ EDITOR VISUAL PAGER"
    " DISPLAY HOST HOSTNAME MAIL IFS PS1 UID EUID PPID SHLVL COLUMNS LINES USERNAME USERPROFILE APPDATA"
    " LOCALAPPDATA PROGRAMFILES SYSTEMROOT WINDIR COMSPEC PYTHONPATH NODE_PATH NODE_OPTIONS LD_PRELOAD"
    " LD_LIBRARY_PATH VIRTUAL_ENV HTTP_PROXY HTTPS_PROXY ALL_PROXY NO_PROXY BROWSER MANPATH CDPATH ENV"
    " BASH_ENV".split()
)
"""Variables that have a meaning of their own, so that an input is never read from them."""

_OWN_MEANING = ("LC_", "XDG_", "LD_", "DYLD_", "SSH_", "DBUS_", "MCPTUI_")


@dataclass(frozen=True, slots=True)
class Texts:
    """Converts the texts of one server.

    The names of variables are made of `server`, its name. The file's relative paths and `${workspaceFolder}`
    mean `folder`; `{file:PATH}` is relative to `beside`, the folder of the file. `inputs` are those that it
    defines (VS Code), by id. `expands`: its host replaces `$NAME` and `$(COMMAND)` in every text, not only in
    values of `env`, `headers` and `oauth`. `own` are variables that the server replaces itself (a shell,
    mcp-remote). `note` takes a sentence about a conversion.
    """

    server: str
    folder: Path
    beside: Path
    note: Note
    inputs: Mapping[str, Any] = field(default_factory=dict)
    expands: bool = False
    own: frozenset[str] = frozenset()

    def value(self, key: str, text: str) -> str:
        """Return a value of `env`, `headers` or `oauth`; `key` names it."""
        if _COPILOT_SECRET.fullmatch(text):
            return f"${{{text}}}"
        return self._converted(key, self._without_tilde(key, text), dollars=True)

    def word(self, key: str, text: str) -> str:
        """Return a word of a command line, an address or a folder; for a shell's command, `key` is ""."""
        return self._converted(key, self._without_tilde(key, text), dollars=self.expands)

    def plain(self, text: str) -> str:
        """Return any other text."""
        return self._converted("", text, dollars=self.expands)

    def _without_tilde(self, key: str, text: str) -> str:
        """Return a text with the home directory in place of `~`, which no shell replaces."""
        name, mark, rest = text.partition("=") if text.startswith("-") else ("", "", text)
        if key == "cwd" or not _HOME.match(rest):
            return text
        made = f"{name}{mark}{Path.home()}{rest[1:]}"
        self.note(f"{quoted_name(text, 80)} becomes {quoted_name(made, 200)}: no shell replaces the ~")
        return made

    def _converted(self, key: str, text: str, *, dollars: bool) -> str:
        start, end = text.find("$("), text.rfind(")")
        if dollars and 0 <= start < end:
            kind, _, name = key.partition(".")
            is_own = kind == "env" and re.fullmatch(NAME, name) and not _has_meaning(name)
            variable = name if is_own else self._named(f"{self.server}_{name or kind}")
            command = text[start : end + 1]
            self.note(
                f"{quoted_name(command, 80)} (the output of a command) is read from the environment variable "
                f"{variable}. mcptui does not run the command"
            )
            before = self._converted(key, text[:start], dollars=True)
            return f"{before}${{{variable}}}{self._converted(key, text[end + 1 :], dollars=True)}"
        parts: list[str] = []
        position = 0
        for found in _FORM.finditer(text):
            if (made := self._made(key, found, dollars)) is None:
                continue
            parts += [escaped(text[position : found.start()]), made]
            position = found.end()
        return "".join([*parts, escaped(text[position:])])

    def _made(self, key: str, found: re.Match[str], dollars: bool) -> str | None:
        """Return what replaces a reference, None if it stays as text."""
        whole = found.group()
        if (name := found["name"]) is not None:
            if dollars:
                self.note(f"${name} is read from the environment variable {name}")
                return f"${{{name}}}"
            if key:
                self.note(f"${name} is not replaced, because no shell is involved. Write `${{{name}}}`")
            return None
        if found["template"] is not None:  # of LibreChat
            self.note(f"{clean_line(whole, 60)} is not supported and not replaced")
            return None
        if (secret := found["secret"]) is not None:
            return self._variable(whole, secret.rpartition(".")[2])
        if found["kind"] == "env":
            name = found["plain"].strip()
            return f"${{{name}}}" if re.fullmatch(NAME, name) else self._variable(whole, name)
        if found["kind"] == "file":
            return self._file(whole, found["plain"])
        if found["braced"] in self.own and not key.startswith("env"):
            return escaped(whole)
        return self._reference(found["braced"], whole)

    def _reference(self, inside: str, whole: str) -> str:
        if (known := self._places().get(inside)) is not None:
            return escaped(known)
        if inside == "CLAUDE_PROJECT_DIR":
            return f"${{{inside}:-{self.folder}}}" if "}" not in str(self.folder) else f"${{{inside}}}"
        kind, _, rest = inside.partition(":")
        if kind == "workspaceFolder" and rest:  # one of several folders of a workspace
            return escaped(str(self.folder if rest == self.folder.name else self.folder.parent / rest))
        if kind in ("env", "localEnv", "containerEnv") and re.fullmatch(
            _WITH_DEFAULT, rest.removeprefix("//")
        ):
            return f"${{{rest.removeprefix('//')}}}"
        if kind == "input" and rest:
            return self._input(whole, rest)
        if kind == "file" and rest:
            return self._file(whole, rest)
        if kind in ("config", "command", "prompt", "secret", "vault", "keychain", "op") and rest:
            return self._variable(whole, rest)
        if re.fullmatch(_WITH_DEFAULT, inside):
            return whole
        if found := _SECRETS.fullmatch(inside):
            return self._variable(whole, found[1])
        self.note(f"{clean_line(whole, 60)} is not supported and not replaced")
        return escaped(whole)

    def _places(self) -> Mapping[str, str]:
        folder = str(self.folder)
        return {
            **dict.fromkeys(
                (
                    *("workspaceFolder", "workspaceRoot", "workspacePath", "projectRoot", "cwd"),
                    *("extensionPath", "CLAUDE_PLUGIN_ROOT", "PROJECT_DIR"),
                ),
                folder,
            ),
            "workspaceFolderBasename": self.folder.name,
            "userHome": str(Path.home()),
            "pathSeparator": os.sep,
            "/": os.sep,
        }

    def _input(self, whole: str, ident: str) -> str:
        said = object_in(self.inputs, ident)
        default = said.get("default")
        text = default if isinstance(default, str) else None
        if isinstance(default, int | float):
            text = str(default).lower() if isinstance(default, bool) else str(default)
        if text and said.get("password") is True:
            self.note(f"the default of {clean_line(whole, 60)} is a secret and is not copied")
            text = None
        if text is None or "}" in text or not text.isprintable():
            return self._variable(whole, ident)
        return self._variable(whole, ident, default=text)

    def _file(self, whole: str, path: str) -> str:
        named = path.strip()
        place = named if named.startswith("~") else os.path.normpath(self.beside / named)
        if re.fullmatch(r"[^${}]+", place):
            self.note(f"{clean_line(whole, 100)}: uses the content of {clean_line(place, 200)}")
            return f"${{file:{place}}}"
        return self._variable(whole, os.path.splitext(os.path.basename(named))[0])

    def _variable(self, whole: str, word: str, default: str | None = None) -> str:
        variable = self._named(word)
        more = f", default {quoted_name(default, 60)}" if default else ""
        self.note(f"{clean_line(whole, 60)} is read from the environment variable {variable}{more}")
        return f"${{{variable}}}" if default is None else f"${{{variable}:-{default}}}"

    def _named(self, word: str) -> str:
        variable = re.sub(r"\W+", "_", word, flags=re.ASCII).strip("_").upper()
        fits = re.fullmatch(NAME, variable) and not _has_meaning(variable)
        return variable if fits else f"INPUT_{variable}".rstrip("_")


def _has_meaning(variable: str) -> bool:
    """Return whether a variable is set for another purpose on most machines."""
    return variable in _TAKEN or variable.startswith(_OWN_MEANING)
