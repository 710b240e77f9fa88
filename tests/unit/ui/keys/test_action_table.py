"""The table of actions: complete, without conflicts, and as shown in the footer."""

from textual.keys import Keys

from tui.ui.keys.action_table import ACTIONS, Action, Context
from tui.ui.keys.key_overrides import KeyOverrides
from tui.ui.keys.situation import Situation, in_footer, works
from tui.ui.lists.sessions import SessionsScreen
from tui.ui.workbench.screen import ServerScreen

NONE = KeyOverrides()


def footer_ids(now: Situation) -> list[str]:
    return [action.id for _, _, action in in_footer(now, NONE)]


def test_ids_are_unique():
    assert len({action.id for action in ACTIONS}) == len(ACTIONS)


ON_WORKBENCH = ServerScreen.CONTEXTS
OVER_MAIN = (
    Context.TRAFFIC,
    Context.ENTRY,
    *ON_WORKBENCH,
    Context.LOG,
    Context.SESSIONS,
    Context.MODELS,
    Context.RULES,
    Context.SERVER_QUESTION,
    Context.RESULT,
)
"""Contexts of screens over the main one, where the keys of the main one have no effect."""


def test_no_key_has_two_actions_in_one_context():
    for context in Context:
        taken: dict[str, Action] = {}
        for action in ACTIONS:
            if context in OVER_MAIN and action.id.startswith(("chat.", "focus.", "pane.")):
                continue
            if context is Context.SESSIONS and action.id in SessionsScreen.TAKES:
                continue
            if context in ON_WORKBENCH and action.id in ServerScreen.TAKES:
                continue
            places = [action.keys] if action.context in (context, Context.ANYWHERE) else []
            for keys in [*places, action.anywhere]:
                for key in filter(None, keys.split(",")):
                    assert taken.setdefault(key, action) is action, key


def test_textual_knows_every_key():
    known = {key.value for key in Keys} | {"question_mark", "alt+enter", "shift+enter", "ctrl+enter"}
    known |= {"slash", "left_square_bracket", "right_square_bracket"}
    for action in ACTIONS:
        for key in filter(None, f"{action.keys},{action.anywhere}".split(",")):
            assert key in known or len(key) == 1, key


def test_every_action_has_a_help_text():
    assert all(action.label and action.help and not action.help.endswith(".") for action in ACTIONS)


def test_the_footer_of_the_composer_begins_with_send():
    assert footer_ids(Situation(Context.COMPOSER))[0] == "composer.send"


def test_the_footer_shows_the_short_key_of_an_action_in_its_pane_and_the_global_key_elsewhere():
    def key(context: Context) -> str:
        (found,) = [
            key for key, _, action in in_footer(Situation(context), NONE) if action.id == "servers.log"
        ]
        return found

    assert key(Context.SERVERS) == "l"
    assert key(Context.COMPOSER) == "ctrl+l"


def test_the_footer_does_not_repeat_the_answers_on_an_approval_card():
    asking = Situation(Context.CONVERSATION, asking=True, running=True)
    assert not [name for name in footer_ids(asking) if name.startswith("question")]


def test_outside_the_card_the_footer_begins_with_the_key_to_the_question():
    key, label, _ = in_footer(Situation(Context.COMPOSER, asking=True, running=True), NONE)[0]
    assert (key, label) == ("f2", "answer")


def test_stop_is_offered_only_while_a_turn_runs():
    assert "chat.cancel" in footer_ids(Situation(Context.COMPOSER, running=True))
    assert "chat.cancel" not in footer_ids(Situation(Context.COMPOSER))


def test_continue_is_offered_only_after_a_limit():
    assert "chat.continue" in footer_ids(Situation(Context.COMPOSER, can_continue=True))
    assert "chat.continue" not in footer_ids(Situation(Context.COMPOSER))


def test_without_servers_the_only_server_action_is_add():
    now = Situation(Context.SERVERS, servers=False)
    possible = [action.id for action in ACTIONS if action.id.startswith("servers.") and works(action, now)]
    assert possible == ["servers.add"]


def test_the_footer_shows_configured_keys():
    overrides = KeyOverrides([("composer.send", ["ctrl+d", "f11"]), ("no.such", "x")])
    assert in_footer(Situation(Context.COMPOSER), overrides)[0][0] == "ctrl+d"
    assert overrides.keymap() == {"composer.send": "ctrl+d,f11"}
