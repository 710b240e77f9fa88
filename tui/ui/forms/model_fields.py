"""The fields of a model profile, and where its key is."""

from textual.content import Content

from tui.core.forms.form import Form
from tui.core.forms.spec import Path
from tui.core.language.translate import N_, _, localized
from tui.core.text import padded
from tui.model.endpoints.providers import Provider
from tui.runtime.model_changes import ENVIRONMENT, NO_KEY, PASTED, STORED, THIS_RUN, ModelChanges

URL, MODEL, NAME = (N_("Base URL"),), (N_("Model"),), (N_("Profile name"),)
SOURCE: Path = (N_("API key"),)
VARIABLE: Path = (*SOURCE, N_("Variable"))
KEY: Path = (*SOURCE, N_("Key"))
NEW_KEY, KEEP = (N_("Key"),), (N_("Keep it"),)
"""The fields of a form that only replaces a key."""

SOURCES = {
    ENVIRONMENT: N_("environment variable"),
    STORED: N_("store"),
    THIS_RUN: N_("this run only"),
    NO_KEY: N_("none"),
}

UNSET = N_("{name} is not set. Choose “store” or “this run only” to paste the key instead.")
FORGOTTEN = N_("Kept in memory only and forgotten when mcptui quits.")

_TEXT, _SECRET = {"type": "string"}, {"type": "string", "writeOnly": True}


def new_profile(changes: ModelChanges, provider: Provider, name: str) -> Form:
    """Return the form of a new profile."""
    own = {ENVIRONMENT: {VARIABLE[1]: _TEXT}, NO_KEY: {}}
    kept = {"type": "object", "additionalProperties": False}
    by_title = {title: own.get(one, {KEY[1]: _SECRET}) for one, title in SOURCES.items()}
    sources = [
        {**kept, "title": title, "properties": key, "required": [*key]} for title, key in by_title.items()
    ]
    fields = {
        URL[0]: _TEXT,
        SOURCE[0]: {"anyOf": sources},
        MODEL[0]: _TEXT,
        NAME[0]: {"type": "string", "maxLength": 64},
    }
    form = Form({"type": "object", "properties": fields, "required": [URL[0], MODEL[0]]})
    variable = changes.variable_of(provider)
    texts = ((URL, provider.base_url), (VARIABLE, variable), (MODEL, provider.model), (NAME, name))
    for path, text in texts:
        if text:
            form.set(path, text)
    source = ENVIRONMENT if changes.is_set(variable) else STORED if variable else NO_KEY
    form.choose_arm(SOURCE, list(SOURCES).index(source))
    return form


def line_of(changes: ModelChanges, provider: Provider) -> Content:
    """Return a provider's line in the list to choose from."""
    variable, about = changes.variable_of(provider), provider.base_url
    if variable:
        is_set = changes.is_set(variable)
        about = _("{name} is set", name=variable) if is_set else _("{name} is not set", name=variable)
    return Content(padded(localized(provider.title), 18) + about)


def new_key() -> Form:
    """Return the form that replaces a key."""
    kept = {"enum": list(PASTED), "enumNames": [SOURCES[one] for one in PASTED]}
    form = Form({"type": "object", "properties": {NEW_KEY[0]: _SECRET, KEEP[0]: kept}})
    form.set(KEEP, PASTED[0])
    return form
