"""Names of keys: for the user, "?"; for Textual, `question_mark`. Pure."""

import unicodedata

_TEXTUAL_NAMES = {
    "solidus": "slash",
    "reverse_solidus": "backslash",
    "commercial_at": "at",
    "hyphen_minus": "minus",
    "plus_sign": "plus",
    "low_line": "underscore",
}


def textual_key(key: str) -> str:
    """Return Textual's name of a key: `?` is `question_mark`, `ctrl+/` is `ctrl+slash`."""
    *modifiers, last = [key] if key == "+" else key.removesuffix("++").split("+") + ["+"] * key.endswith("++")
    if len(last) == 1 and not last.isalnum():
        name = unicodedata.name(last, last).lower().replace("-", "_").replace(" ", "_")
        last = _TEXTUAL_NAMES.get(name, name)
    return "+".join([*modifiers, last])


_KEY_WORDS = {
    "question_mark": "?",
    "escape": "esc",
    "pageup": "pgup",
    "pagedown": "pgdn",
    "slash": "/",
    "left_square_bracket": "[",
    "right_square_bracket": "]",
}


def key_words(keys: str) -> str:
    """Return keys as the user reads them: "f1,question_mark" is "f1, ?"."""
    return ", ".join(
        "+".join(_KEY_WORDS.get(part, part) for part in key.strip().split("+")) for key in keys.split(",")
    )


def first_key(keys: str) -> str:
    """Return the first of several keys as the user reads it."""
    return key_words(keys.split(",", 1)[0])
