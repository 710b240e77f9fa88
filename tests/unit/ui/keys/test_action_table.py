"""The table of actions: complete, without clashes, and what the footer makes of it."""

from textual.keys import Keys

from tui.ui.keys.action_table import ACTIONS, Action, Context, first_key, key_words
from tui.ui.keys.key_overrides import KeyOverrides
from tui.ui.keys.situation import Situation, in_footer, works
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
    Context.SESSIONS,
    Context.MODELS,
    Context.RULES,
    Context.SERVER_QUESTION,
    Context.RESULT,
)
"""Contexts of screens over the main one, whose own keys mean nothing there."""


def test_no_key_means_two_things_in_one_place():
    for context in Context:
        taken: dict[str, Action] = {}
        for action in ACTIONS:
            if context in OVER_MAIN and action.id.startswith(("chat.", "focus.", "pane.")):
                continue
            if context in ON_WORKBENCH and action.id in ServerScreen.TAKES:
                continue
            places = [action.keys] if action.context in (context, Context.ANYWHERE) else []
            for keys in [*places, action.anywhere]:
                for key in filter(None, keys.split(",")):
                    assert taken.setdefault(key, action) is action, key


def test_every_key_is_one_that_textual_knows():
    known = {key.value for key in Keys} | {"question_mark", "alt+enter", "shift+enter", "ctrl+enter"}
    known |= {"slash", "left_square_bracket", "right_square_bracket"}
    for action in ACTIONS:
        for key in filter(None, f"{action.keys},{action.anywhere}".split(",")):
            assert key in known or len(key) == 1, key


def test_every_action_says_what_it_does():
    assert all(action.label and action.help and not action.help.endswith(".") for action in ACTIONS)


def test_the_footer_of_the_composer_begins_with_send():
    assert footer_ids(Situation(Context.COMPOSER))[0] == "composer.send"


def test_the_footer_shows_the_near_key_of_a_server_in_its_pane_and_the_far_one_elsewhere():
    def key(context: Context) -> str:
        (found,) = [
            key for key, _, action in in_footer(Situation(context), NONE) if action.id == "servers.log"
        ]
        return found

    assert key(Context.SERVERS) == "l"
    assert key(Context.COMPOSER) == "ctrl+l"


def test_the_footer_does_not_repeat_the_answers_that_the_card_of_an_approval_shows():
    asking = Situation(Context.CONVERSATION, asking=True, running=True)
    assert not [name for name in footer_ids(asking) if name.startswith("question")]


def test_elsewhere_the_footer_begins_with_the_key_to_the_question():
    key, label, _ = in_footer(Situation(Context.COMPOSER, asking=True, running=True), NONE)[0]
    assert (key, label) == ("f2", "answer")


def test_stop_is_offered_only_while_a_turn_runs():
    assert "chat.cancel" in footer_ids(Situation(Context.COMPOSER, running=True))
    assert "chat.cancel" not in footer_ids(Situation(Context.COMPOSER))


def test_continue_is_offered_only_after_a_limit():
    assert "chat.continue" in footer_ids(Situation(Context.COMPOSER, can_continue=True))
    assert "chat.continue" not in footer_ids(Situation(Context.COMPOSER))


def test_without_servers_only_one_can_be_added():
    now = Situation(Context.SERVERS, servers=False)
    possible = [action.id for action in ACTIONS if action.id.startswith("servers.") and works(action, now)]
    assert possible == ["servers.add"]


def test_the_footer_shows_configured_keys():
    overrides = KeyOverrides([("composer.send", ["ctrl+d", "f11"]), ("no.such", "x")])
    assert in_footer(Situation(Context.COMPOSER), overrides)[0][0] == "ctrl+d"
    assert overrides.keymap() == {"composer.send": "ctrl+d,f11"}


def test_keys_are_formatted_for_people():
    assert key_words("f1,question_mark") == "f1, ?"
    assert first_key("shift+enter,ctrl+j") == "shift+enter"
    assert key_words("escape") == "esc"
