"""The fields of a model profile, and where its key is."""

from tui.core.forms.form import Form
from tui.core.forms.spec import Path
from tui.runtime.model_changes import ENVIRONMENT, NO_KEY, PASTED, STORED, THIS_RUN, ProviderChoice

URL, MODEL, NAME = ("Base URL",), ("Model",), ("Profile name",)
SOURCE: Path = ("API key",)
VARIABLE: Path = (*SOURCE, "Variable")
KEY: Path = (*SOURCE, "Key")
NEW_KEY, KEEP = ("Key",), ("Keep it",)
"""The fields of a form that only replaces a key."""

SOURCES = {ENVIRONMENT: "environment variable", STORED: "store", THIS_RUN: "this run only", NO_KEY: "none"}

FORGOTTEN = "Kept in memory only and forgotten when mcptui quits."

_TEXT, _SECRET = {"type": "string"}, {"type": "string", "writeOnly": True}


def new_profile(provider: ProviderChoice, name: str) -> Form:
    """Return the form of a new profile."""
    key = {ENVIRONMENT: {VARIABLE[1]: _TEXT}, NO_KEY: {}}
    kept = {"type": "object", "additionalProperties": False}
    sources = [
        {**kept, "title": title, "properties": key.get(one, {KEY[1]: _SECRET})}
        for one, title in SOURCES.items()
    ]
    fields = {
        URL[0]: _TEXT,
        SOURCE[0]: {"anyOf": sources},
        MODEL[0]: _TEXT,
        NAME[0]: {"type": "string", "maxLength": 64},
    }
    form = Form({"type": "object", "properties": fields, "required": [URL[0], SOURCE[0], MODEL[0]]})
    texts = ((URL, provider.base_url), (VARIABLE, provider.variable), (MODEL, provider.model), (NAME, name))
    for path, text in texts:
        if text:
            form.set(path, text)
    source = ENVIRONMENT if provider.is_set else STORED if provider.variable else NO_KEY
    form.choose_arm(SOURCE, list(SOURCES).index(source))
    return form


def new_key() -> Form:
    """Return the form that replaces a key."""
    kept = {"enum": list(PASTED), "enumNames": [SOURCES[one] for one in PASTED]}
    form = Form({"type": "object", "properties": {NEW_KEY[0]: _SECRET, KEEP[0]: kept}})
    form.set(KEEP, PASTED[0])
    return form
