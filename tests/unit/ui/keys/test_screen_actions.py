"""The rows of the screens of traffic and servers."""

from tui.ui.keys.actions import OF_SCREENS
from tui.ui.keys.screen_actions import SCREEN_ACTIONS


def test_actions_of_screens_work_only_while_their_screen_is_on_top():
    assert {action.context for action in SCREEN_ACTIONS} <= {*OF_SCREENS}
