"""Consent for models: those of files that are not the user's own need it.

A model in someone else's file determines where conversations and keys are sent. Without consent, nothing is
sent to it, and it gets nothing from the environment or the keychain.
"""

import asyncio
import json
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from tui.core.permission.consent import ConsentQuestion, question_of
from tui.core.permission.launch import Launch
from tui.core.ports import BY_KEY, DecisionLog
from tui.core.questions import Action, UserQuestioner
from tui.core.servers import Reference
from tui.core.web import is_loopback
from tui.model.endpoints.providers import provider_of
from tui.runtime.permission.consent import BY_FLAG, decision_of, refuse, refused_at
from tui.settings.locations import consents_file
from tui.settings.references import KEYCHAIN
from tui.settings.state.permission.stored_consents import StoredConsents

if TYPE_CHECKING:
    from tui.settings.load import Loaded

FROM_FILE = "written in the file"
NO_KEY = "none"


def shown_name(name: str) -> str:
    """Return the name of a model in questions about servers and in the record of decisions."""
    return f"models.{name}"


def model_launch(name: str, loaded: "Loaded", env: Mapping[str, str]) -> Launch | None:
    """Return what using a model of `loaded` sends, and where; None if that needs no consent."""
    if not loaded.source:
        return None
    settings, references = loaded.settings.models[name], loaded.references_of("models", name)
    key = FROM_FILE if settings.api_key else NO_KEY
    if (settings.api_key or "").startswith(KEYCHAIN):
        key = settings.api_key or ""
    provider = provider_of(settings.base_url)
    variables: tuple[str, ...] = (settings.api_key_env,) if settings.api_key_env else ()
    if not (settings.api_key or variables) and provider is not None:
        variables = provider.keys
    if variable := next((one for one in variables if env.get(one)), variables[0] if variables else ""):
        if not settings.api_key:
            references["api_key"] = Reference(f"${{{variable}}}", (variable,))
    shown = _shown_settings(name, loaded)
    is_bare = not (references or settings.headers or shown.keys() - {"model"})
    if key == NO_KEY and is_bare and is_here(settings.base_url):
        return None
    taken = references.get("api_key")
    identity = [taken.text if taken is not None else key, shown]
    headers = dict(settings.headers)
    return Launch(
        "", "", (), "", {}, settings.base_url, headers, "model", identity, references, settings=shown
    )


def _shown_settings(name: str, loaded: "Loaded") -> dict[str, str]:
    """Return the settings of a model that the question shows, as written in the file."""
    table = loaded.raw["models"][name]
    texts = {key: str(table[key]) for key in ("model", "system") if key in table}
    if body := table.get("extra_body"):
        texts["extra_body"] = json.dumps(body, ensure_ascii=False, default=str)
    return texts


def blocked(name: str, loaded: "Loaded", env: Mapping[str, str], *, trust: bool) -> str:
    """Return why a model of `loaded` may not be used, or "". Reads a small file.

    With `trust`, the command line gives consent for this run.
    """
    if trust or not loaded.source or name not in loaded.settings.models:
        return ""
    launch = model_launch(name, loaded, env)
    store = StoredConsents(consents_file())
    if launch is None or store.has(launch.digest()):
        return ""
    why = f"this model comes from {loaded.source} and needs your consent"
    return f"{why}. {damage.removesuffix('.')}" if (damage := store.damage()) else why


def missing_model_consents(
    loaded: "Loaded", env: Mapping[str, str]
) -> list[tuple[str, Launch, ConsentQuestion]]:
    """Return the models that need consent: name, what consent covers, and the question. Blocks."""
    store = StoredConsents(consents_file())
    found = []
    for name in loaded.settings.models:
        launch = model_launch(name, loaded, env)
        if launch is not None and not store.has(launch.digest()):
            shown = shown_name(name)
            changes = store.changes(shown, loaded.source, launch)
            found.append((name, launch, question_of(shown, loaded.source, launch, changes, store.damage())))
    return found


def agree_to_model(name: str, loaded: "Loaded", launch: Launch, decisions: DecisionLog, *, by: str) -> None:
    """Store consent for a model. Blocks. Raises ConfigError or OSError if it cannot be written."""
    decisions.add(decision_of(shown_name(name), launch, allowed=True, by=by))
    StoredConsents(consents_file()).add(shown_name(name), loaded.source, launch)


def agree_to_written(name: str, loaded: "Loaded", env: Mapping[str, str]) -> None:
    """Store consent for a model that the user has just added to a file. Blocks."""
    for model, launch, _ in missing_model_consents(loaded, env):
        if model == name:
            StoredConsents(consents_file()).add(shown_name(name), loaded.source, launch)


class ModelConsent:
    """Asks the user about models of this run that need consent, one question at a time.

    With `trust`, the command line gives consent: the user is not asked, and the record of decisions says so.
    """

    def __init__(
        self,
        env: Mapping[str, str],
        questioner: Callable[[], UserQuestioner],
        decisions: DecisionLog,
        *,
        trust: bool,
    ) -> None:
        self._env = env
        self._questioner = questioner
        self._decisions = decisions
        self._trust = trust
        self._asking = asyncio.Lock()
        self._told: set[str] = set()

    async def ask(self, name: str, loaded: "Loaded") -> bool:
        """Ask for consent to a model that needs it; return whether the user just gave it."""
        if self._trust or not loaded.source or name not in loaded.settings.models:
            return False
        async with self._asking:
            waiting = await asyncio.to_thread(missing_model_consents, loaded, self._env)
            for model, launch, question in waiting:
                if model == name:
                    return await self._answered(name, loaded, launch, question)
        return False

    async def _answered(self, name: str, loaded: "Loaded", launch: Launch, question: ConsentQuestion) -> bool:
        action = await self._questioner().consent(question)
        if action is Action.ACCEPT:
            await asyncio.to_thread(agree_to_model, name, loaded, launch, self._decisions, by=BY_KEY)
            return True
        if action is Action.DECLINE:
            await asyncio.to_thread(refuse, shown_name(name), launch, self._decisions)
        return False

    async def refuses(self, name: str, loaded: "Loaded") -> bool:
        """Return whether the user refused a model as it is; then it is used only if they choose it again."""
        if self._trust or name not in loaded.settings.models:
            return False
        launch = model_launch(name, loaded, self._env)
        return launch is not None and bool(await asyncio.to_thread(refused_at, launch))

    def used(self, name: str, loaded: "Loaded") -> None:
        """Record, once per model, that it is used because of the flag."""
        if not (self._trust and loaded.source and name in loaded.settings.models):
            return
        launch = model_launch(name, loaded, self._env)
        if launch is not None and (digest := launch.digest()) not in self._told:
            self._told.add(digest)
            self._decisions.add(decision_of(shown_name(name), launch, allowed=True, by=BY_FLAG))


def is_here(url: str) -> bool:
    """Return whether a URL is on this computer and has no user name, password or query."""
    try:
        parts = urlsplit(url if "://" in url else f"http://{url}")
        host = parts.hostname or ""
        if parts.username or parts.password or parts.query:
            return False
        return is_loopback(host)
    except ValueError:
        return False
