"""The table of actions: complete, without conflicts, and as shown in the footer."""

from dataclasses import replace
from operator import attrgetter

from textual.keys import Keys

from tui.addons.events.screen import EventsScreen
from tui.addons.tests.screens.cases_screen import CasesScreen
from tui.addons.tests.screens.review_screen import ReviewScreen
from tui.core.addons import every
from tui.ui.keys.action_table import ACTIONS, OF_SCREENS, Action, Context
from tui.ui.keys.bindings import KeyOverrides
from tui.ui.keys.footer import in_footer
from tui.ui.lists.sessions import SessionsScreen
from tui.ui.workbench.screen import ServerScreen

NONE = KeyOverrides()


def footer_ids(focus: Context, *available: str) -> list[str]:
    """Return the entries if, of the actions with a condition, those of `available` are available."""
    shown = in_footer(focus, lambda found: "" if found.when in available else found.when, NONE)
    return [action.id for _, _, action in shown]


def test_ids_are_unique_in_a_context_and_those_of_the_house_everywhere():
    assert len({(action.context, action.id) for action in ACTIONS}) == len(ACTIONS)
    of_addons = {name for name, _ in every("action")}
    ours = [action.id for action in ACTIONS if action.id not in of_addons]
    assert len({*ours}) == len(ours)


def test_an_action_of_an_addon_has_the_same_texts_and_keys_in_each_of_its_contexts():
    for name, _ in every("action"):
        places = [replace(one, context=Context.ANYWHERE) for one in ACTIONS if one.id == name]
        assert len({*places}) == 1


ON_WORKBENCH = ServerScreen.CONTEXTS
TAKING = {Context.SESSIONS: SessionsScreen, Context.TESTS: CasesScreen, Context.REVIEW: ReviewScreen}
TAKING |= {Context.EVENTS: EventsScreen}
"""Screens with keys that are those of the app elsewhere."""


def test_no_key_has_two_actions_in_one_context():
    for context in Context:
        taken: dict[str, Action] = {}
        for action in ACTIONS:
            if context in OF_SCREENS and action.id.startswith(("chat.", "focus.", "pane.")):
                continue
            if context in TAKING and action.id in TAKING[context].TAKES:
                continue
            if context in ON_WORKBENCH and action.id in ServerScreen.TAKES:
                continue
            places = [action.keys] if action.context in (context, Context.ANYWHERE) else []
            for keys in [*places, action.anywhere]:
                for key in filter(None, keys.split(",")):
                    assert taken.setdefault(key, action) is action, key


def test_textual_knows_every_key():
    known = {key.value for key in Keys} | {"question_mark", "alt+enter", "shift+enter", "ctrl+enter"}
    known |= {"alt+t", "alt+e"}
    known |= {
        *("slash", "exclamation_mark", "full_stop"),
        *(f"{side}_{kind}_bracket" for side in ("left", "right") for kind in ("square", "curly")),
    }
    for action in ACTIONS:
        for key in filter(None, f"{action.keys},{action.anywhere}".split(",")):
            assert key in known or len(key) == 1, key


def test_every_action_has_a_help_text():
    assert all(action.label and action.help and not action.help.endswith(".") for action in ACTIONS)


def test_the_footer_of_the_composer_begins_with_send():
    assert footer_ids(Context.COMPOSER)[0] == "composer.send"


def test_the_footer_shows_the_short_key_of_an_action_in_its_pane_and_the_global_key_elsewhere():
    def key(context: Context) -> str:
        shown = in_footer(context, lambda found: "", NONE)
        return next(key for key, _, action in shown if action.id == "servers.log")

    assert key(Context.SERVERS) == "l"
    assert key(Context.COMPOSER) == "ctrl+l"


def test_the_footer_does_not_repeat_the_answers_on_an_approval_card():
    shown = footer_ids(Context.CONVERSATION, "turns.why_idle", "approvals.why_none")
    assert not [name for name in shown if name.startswith("question")]


def test_outside_the_card_the_footer_begins_with_the_key_to_the_question():
    assert footer_ids(Context.COMPOSER, "approvals.why_none")[0] == "focus.conversation"


def test_only_available_actions_are_offered():
    assert "chat.cancel" in footer_ids(Context.COMPOSER, "turns.why_idle")
    assert "chat.cancel" not in footer_ids(Context.COMPOSER)


def test_without_servers_the_only_server_action_is_add():
    possible = [one.id for one in ACTIONS if one.id.startswith("servers.") and not one.when]
    assert possible == ["servers.add"]


def test_the_footer_shows_configured_keys():
    overrides = KeyOverrides([("composer.send", ["ctrl+d", "f11"]), ("no.such", "x")])
    assert in_footer(Context.COMPOSER, attrgetter("when"), overrides)[0][0] == "ctrl+d"
    assert overrides.keymap() == {"composer.send": "ctrl+d,f11"}
