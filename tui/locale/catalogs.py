"""Choosing the language of the app and of `--plain`, and loading its texts.

Commands, JSON, logs and exit texts are always English, so only these two call `use_language`.
"""

from collections.abc import Mapping
from functools import partial
from pathlib import Path

from tui.core.language.translate import DOMAIN, use

ENGLISH = "en"
LANGUAGES = (ENGLISH, "zh_CN")
_VARIABLES = ("LC_ALL", "LC_MESSAGES", "LANG")
_SAME = dict.fromkeys(("zh", "zh_hans", "zh_hans_cn", "zh_sg"), "zh_cn")
"""Names of languages, in lower case, that stand for another one."""


def known_language(name: str) -> str:
    """Return the language that a name such as `zh-CN`, `zh` or `zh_CN.UTF-8` means, or ""."""
    plain = name.partition(".")[0].partition("@")[0].replace("-", "_").lower()
    plain = _SAME.get(plain, plain)
    if plain in ("c", "posix") or plain.startswith("en_"):
        return ENGLISH
    return next((one for one in LANGUAGES if one.lower() == plain), "")


def language_of(configured: str, env: Mapping[str, str]) -> str:
    """Return the configured language, or else that of the environment; English if it is none of ours.

    As for gettext, `LANGUAGE` is a list that comes first, unless the locale is "C".
    """
    first = next((value for name in _VARIABLES if (value := env.get(name))), "")
    names = (*env.get("LANGUAGE", "").split(":"), first) if first not in ("", "C", "POSIX") else ()
    return known_language(configured) or next(filter(None, map(known_language, names)), ENGLISH)


def use_language(language: str) -> str:
    """Show texts in a language from now on. Return a note if its texts are not there, else ""."""
    if language == ENGLISH:
        return ""
    from gettext import find, translation

    folder = Path(__file__).parent
    try:
        catalog = translation(DOMAIN, folder, [language])
        use(catalog, partial(_texts, find(DOMAIN, folder, [language]) or ""))
    except Exception as error:  # not built, or damaged, which gettext reports in many ways
        from tui.core.errors import reason_of

        why = reason_of(error) if isinstance(error, OSError) else str(error)
        return f"cannot load the texts in {language}, so they are in English: {why}. Reinstall mcptui."
    return ""


def _texts(path: str) -> list[str]:
    """Return the texts that a catalog translates. `gettext` has no public way to list them."""
    from struct import iter_unpack, unpack_from

    data = Path(path).read_bytes()
    order = "<" if data.startswith(b"\xde\x12\x04\x95") else ">"
    count, start = unpack_from(f"{order}2I", data, 8)
    table = iter_unpack(f"{order}2I", data[start : start + 8 * count])
    return [data[at : at + size].decode() for size, at in table]
