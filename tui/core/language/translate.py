"""Texts of the interface in the user's language, by gettext: the English text is the key.

A process speaks English until `use` is called, which only the app and `--plain` do: commands, JSON, logs,
recordings and what a model reads stay English. Texts are whole sentences with named places in braces, filled
here, so that a translation can change their order: `_("{shown} of {all} shown", shown=3, all=12)`.
"""

TYPE_CHECKING = False  # importing `typing` takes a tenth of the start of a command
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from gettext import NullTranslations
    from typing import TypeVar

    Text = TypeVar("Text", str, "Message")

DOMAIN = "mcptui"

_OF = "\x04"
"""Between a context and its text in a template, as in a catalog."""

_catalog: "NullTranslations | None" = None
_texts: "Callable[[], Iterable[str]]" = tuple


def use(catalog: "NullTranslations | None", texts: "Callable[[], Iterable[str]]" = tuple) -> None:
    """Translate with this catalog, None for English, from now on. `texts` reads what it translates."""
    global _catalog, _texts
    _catalog, _texts = catalog, texts


def _(text: str, /, **values: object) -> str:
    """Return a text in the user's language, with `values` in its places.

    Without values, braces are text. Values are not formatted again, so they may come from anywhere; messages
    are translated, too.
    """
    said = _catalog.gettext(text) if text and _catalog is not None else text  # "" is a catalog's header
    return _filled(said, values) if values else said


def n_(one: str, many: str, /, n: int, **values: object) -> str:
    """Return the form of a text for `n` things, which is the value of its place `{n}`."""
    if _catalog is None:
        said = one if n == 1 else many
    else:
        said = _catalog.ngettext(one, many, n)
    return _filled(said, {"n": n, **values})


def c_(context: str, text: str, /, **values: object) -> str:
    """Return a text whose translation depends on a context, such as a word with two meanings."""
    said = text if _catalog is None else _catalog.pgettext(context, text)
    return _filled(said, values) if values else said


def _filled(said: str, values: "dict[str, object]") -> str:
    """Fill a translation. A space between Latin and Chinese is left out where a value is Chinese, too."""
    if _catalog is None:
        return said.format(**values)
    values = {name: localized(one) if isinstance(one, Message) else one for name, one in values.items()}
    for name, one in values.items():
        if isinstance(one, str) and one and not one.isascii():
            before, place, after = said.partition(f"{{{name}}}")
            if _is_chinese(one[:1]) and _is_chinese(before[-2:-1]):
                before = before.removesuffix(" ")
            if _is_chinese(one[-1:]) and _is_chinese(after[1:2]):
                after = after.removeprefix(" ")
            said = before + place + after
    return said.format(**values)


def _is_chinese(char: str) -> bool:
    return "\u2e80" <= char <= "\uffef"


def listed(texts: "Iterable[str]") -> str:
    """Return texts with commas between them, as a message. Its separator is that of the user's language."""
    said = ""
    for text in texts:
        said = message("{first}, {others}", first=said, others=text) if said else text
    return said


def N_(text: str) -> str:
    """Mark a text of a table, which is built before the language is known; `_` translates it when shown."""
    return text


def texts_of_catalog() -> "Callable[[], Iterable[str]] | None":
    """Return what reads the texts that the user's catalog translates, None for English."""
    return _texts if _catalog is not None else None


class Message(str):
    """An English text for logs, models and shells that a screen can show in the user's language.

    For errors and notices that are made below the screens: `raise ServerError(message("…", name=name))`.
    """

    __slots__ = ("change", "many", "template", "values")
    template: str
    many: str
    values: "dict[str, object]"
    change: "Callable[[str], str] | None"

    def __str__(self) -> "Message":
        """Return itself, so that `str(error)` is still the message of an error."""
        return self


def message(text: str, /, **values: object) -> Message:
    """Return a text in English that `localized` translates. Values that are messages are translated, too."""
    return as_message(text, **values)


def as_message(text: str, /, **values: object) -> Message:
    """Return `message` for a text that is marked elsewhere, such as one of a table."""
    for name, value in values.items():
        if isinstance(value, BaseException):  # it would keep its frames
            values[name] = str(value)
    return _made(text.format(**values) if values else text, text, "", values)


def c_message(context: str, text: str, /) -> Message:
    """Return `message` for a text whose translation depends on a context."""
    return _made(text, f"{context}{_OF}{text}", "", {})


def n_message(one: str, many: str, /, n: int, **values: object) -> Message:
    """Return `message` for `n` things, which is the value of its place `{n}`."""
    return _made((one if n == 1 else many).format(n=n, **values), one, many, {"n": n, **values})


def altered(text: "Text", change: "Callable[[str], str]") -> "Text":
    """Return a text with a change, which a message keeps for its translation as well."""
    if not isinstance(text, Message):
        return change(text)
    made = _made(change(str.__str__(text)), "{text}", "", {"text": text})
    made.change = change
    return made


def sentences(*texts: "Text") -> "Text":
    """Return sentences one after the other; between those of Chinese is no space."""
    parts = [part for text in texts if text for part in (" ", text)]
    return altered(together(*parts[1:]), _closed_up)


def _closed_up(text: str) -> str:
    return text.replace("。 ", "。").replace("？ ", "？").replace("： ", "：")


def together(*texts: "Text | str") -> "Text":
    """Return texts one after the other. They are a message if one of them is."""
    if not any(isinstance(text, Message) for text in texts):
        return "".join(texts)  # type: ignore[return-value]
    values: dict[str, object] = {f"t{place}": text for place, text in enumerate(texts)}
    return as_message("".join(f"{{{name}}}" for name in values), **values)


def capitalized(text: "Text") -> "Text":
    """Return a text as the start of a sentence. A message stays one; its translation is unchanged."""
    said = text[:1].upper() + text[1:]
    if not isinstance(text, Message):
        return said
    made = _made(said, text.template, text.many, text.values)
    made.change = text.change
    return made


def as_sentence(clause: Message) -> Message:
    """Return a clause as a sentence."""
    return capitalized(message("{clause}.", clause=clause))


def _made(said: str, template: str, many: str, values: "dict[str, object]") -> Message:
    made = Message(said)
    made.template, made.many, made.values, made.change = template, many, values, None
    return made


def plain(text: str) -> str:
    """Return a text without its translation, for what takes no subclass of `str`."""
    return str.__str__(text)


def verbatim(text: str) -> Message:
    """Return the words of others as a message that is not translated."""
    return message("{text}", text=text)


def localized(text: object) -> str:
    """Return a message, or that of an error, in the user's language; any other text unchanged."""
    text = str(text)
    if _catalog is None or not isinstance(text, Message):
        return text
    if text.change is not None:
        return text.change(localized(text.values["text"]))
    if text.many:
        n = text.values["n"]
        count = n if isinstance(n, int) else 0
        return _filled(_catalog.ngettext(text.template, text.many, count), text.values)
    if _OF in text.template:
        return _catalog.pgettext(*text.template.split(_OF))
    return _(text.template, **text.values)
