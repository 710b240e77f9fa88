"""`${VAR}`, `${VAR:-default}` and `${file:PATH}` in the texts of a configuration. Pure.

The environment is passed in, with the content of each file under its name "file:PATH".
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

HERE = frozenset(("PWD", "OLDPWD", "MCPTUI_PYTHON"))
"""Variables whose values are shown: the folder where mcptui runs, and the Python that runs it."""

KEYCHAIN = "keyring:"
"""Prefix of a value that refers to an entry of the system's keychain."""
FILE = "file:"
"""Prefix of a reference to the content of a file."""

NAME = r"[A-Za-z_][A-Za-z0-9_]*"
_REFERENCE = re.compile(
    r"(?P<escaped>\$\$\{)"
    rf"|\$\{{(?P<name>{NAME}|{FILE}[^${{}}]+)(?::-(?P<default>[^}}]*))?\}}"
    r"|(?P<broken>\$\{)"
)

_UNCLOSED = re.compile(r"(?P<escaped>\$\$\{)|(?P<broken>\$\{)(?P<name>(?!))?(?P<default>(?!))?")


class FromEnvironment(str):
    """A text that contains the value of a variable. It may be parsed as a number or a boolean."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Expanded:
    """A text with its references replaced, except those to missing variables.

    `variables` were replaced from the environment. `missing` have neither value nor default. `broken`: a `${`
    does not start a valid reference.
    """

    text: str
    variables: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    broken: bool = False


def _with_references(replace: Callable[[re.Match[str]], str], text: str) -> str:
    """Return `text` with its references replaced, in linear time: behind the last `}`, none ends."""
    end = text.rfind("}") + 1
    return _REFERENCE.sub(replace, text[:end]) + _UNCLOSED.sub(replace, text[end:])


def expand(
    text: str, env: Mapping[str, str], insert: Callable[[str, str], str] = lambda _, value: value
) -> Expanded:
    """Return `text` with each `${VAR}` replaced; `$${` is a literal `${`.

    As in a shell, the default of `${VAR:-default}` is also taken if the variable is empty. Inserted values
    are not expanded again. `insert` returns what to insert for a variable and its value.
    """
    if "${" not in text:
        return Expanded(text)
    variables: list[str] = []
    missing: list[str] = []
    broken = False

    def replaced(found: re.Match[str]) -> str:
        nonlocal broken
        if found["escaped"]:
            return "${"
        if found["broken"]:
            broken = True
            return found.group()
        name, default = found["name"], found["default"]
        value = env.get(name)
        if value is None or (default is not None and not value):
            if default is None:
                missing.append(name)
                return found.group()
            return default
        variables.append(name)
        return insert(name, value)

    result = FromEnvironment(_with_references(replaced, text))
    return Expanded(result, tuple(variables), tuple(missing), broken)


def names_in(text: str) -> tuple[tuple[str, ...], bool]:
    """Return the names that a text refers to, and whether it has a `${` without `NAME}`."""
    found = expand(text, {})
    return found.missing + _defaulted(text), found.broken


def _defaulted(text: str) -> tuple[str, ...]:
    """Return the names with a default, which `expand` does not miss."""
    return tuple(found[1] for found in re.finditer(rf"(?<!\$)\$\{{({NAME}):-", text))


_WHOLE = re.compile(rf"\$\{{(?:{NAME}|{FILE}[^${{}}]+)\}}")


def is_reference(text: str) -> bool:
    """Return whether a text is a variable, the content of a file or an entry of the keychain, and no more."""
    from tui.core.secrets.secret_names import keychain_entry  # not needed for the first frame

    entry = keychain_entry(text)
    return _WHOLE.fullmatch(text) is not None or (entry is not None and not entry[0])


def files_in(text: str) -> list[str]:
    """Return the paths of the files whose content a text refers to."""
    if f"${{{FILE}" not in text:
        return []
    names = (found["name"] for found in _REFERENCE.finditer(text[: text.rfind("}") + 1]))
    return [name.removeprefix(FILE) for name in names if name and name.startswith(FILE)]


def escaped(text: str) -> str:
    """Return `text` so that `expand` returns it unchanged."""
    return text.replace("${", "$${")


def without_defaults(text: str) -> str:
    """Return `text` with the default of each reference masked: it may be a secret."""
    return _with_references(
        lambda found: f"${{{found['name']}:-***}}" if found["default"] else found.group(), text
    )


def literal_part(text: str) -> str:
    """Return `text` without its references."""
    return _with_references(lambda found: "", text)
