"""The fields of a model profile: where its key is, and what is said of it."""

from typing import TYPE_CHECKING, Any

from tui.core.forms.form import Form
from tui.core.forms.spec import Path
from tui.ui.forms.form_rows import FieldNote

if TYPE_CHECKING:
    from tui.runtime.model_changes import ProviderChoice

URL, MODEL, NAME = ("Base URL",), ("Model",), ("Profile name",)
SOURCE: Path = ("API key",)
VARIABLE: Path = (*SOURCE, "Variable")
KEY: Path = (*SOURCE, "Key")
NEW_KEY, KEEP = ("Key",), ("Keep it",)
"""The fields of a form that only replaces a key."""

SOURCES = {
    "environment": "environment variable",
    "store": "store",
    "run": "this run only",
    "none": "none",
}
PASTED = ("store", "run")
"""The choices for which the key is pasted."""

FORGOTTEN = "Kept in memory only and forgotten when mcptui quits."

_TEXT, _SECRET = {"type": "string"}, {"type": "string", "writeOnly": True}


def _source_schema(source: str) -> dict[str, Any]:
    field = {"environment": {VARIABLE[1]: _TEXT}, "none": {}}.get(source, {KEY[1]: _SECRET})
    return {
        "title": SOURCES[source],
        "type": "object",
        "properties": field,
        "additionalProperties": False,
    }


def new_profile(provider: "ProviderChoice", name: str) -> Form:
    """Return the form of a new profile."""
    form = Form(
        {
            "type": "object",
            "properties": {
                URL[0]: _TEXT,
                SOURCE[0]: {"anyOf": [_source_schema(one) for one in SOURCES]},
                MODEL[0]: _TEXT,
                NAME[0]: {"type": "string", "maxLength": 64},
            },
            "required": [URL[0], SOURCE[0], MODEL[0]],
        }
    )
    texts = ((URL, provider.base_url), (VARIABLE, provider.variable), (MODEL, provider.model), (NAME, name))
    for path, text in texts:
        if text:
            form.set(path, text)
    source = "environment" if provider.is_set else "store" if provider.variable else "none"
    form.choose_arm(SOURCE, list(SOURCES).index(source))
    return form


def new_key() -> Form:
    """Return the form that replaces a key."""
    kept = {"enum": list(PASTED), "enumNames": [SOURCES[one] for one in PASTED]}
    form = Form({"type": "object", "properties": {NEW_KEY[0]: _SECRET, KEEP[0]: kept}})
    form.set(KEEP, PASTED[0])
    return form


def key_note(source: str, provider: "ProviderChoice", place: str, no_keychain: str) -> FieldNote:
    """Return what is said of a pasted key: where it would be kept, and where to get one."""
    kept = f"Stored in {place}, not in the configuration." if place else ""
    missing = f"No keychain: {no_keychain}." if no_keychain and source == "store" else ""
    about = (FORGOTTEN if source == "run" else kept) + _page(provider)
    return FieldNote(about, missing, is_error=False, placeholder="paste the key")


def variable_note(variable: str, provider: "ProviderChoice", *, is_set: bool) -> FieldNote:
    """Return what is said of the environment variable of a key."""
    unset = f"{variable} is not set. Choose “store” or “this run only” to paste the key instead."
    problem, about = unset if variable and not is_set else "", "" if is_set else _page(provider).strip()
    return FieldNote(about, problem, is_error=False, placeholder="NAME")


def _page(provider: "ProviderChoice") -> str:
    return f" Get a key at {provider.key_page}" if provider.key_page else ""
