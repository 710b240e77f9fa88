"""What the keys of an action run, which depends on where they work."""

from tests.cases import each_case
from tui.ui.keys.actions import Action, Context


@each_case(
    ("context", "name", "run", "method"),
    [
        (Context.ANYWHERE, "chat.new", "", "app.act('chat.new')"),
        (Context.TRAFFIC, "traffic.copy", "", "screen.act('traffic.copy')"),
        (Context.SESSIONS, "session.resume", "", "screen.session_resume"),
        (Context.COMPOSER, "composer.send", "", "send"),
        (Context.BENCH_FORM, "form.add", "", "form_add"),
        (Context.ANYWHERE, "app.quit", "app.app_quit", "app.app_quit"),
    ],
)
def test_the_method_of_an_action_is_found_from_its_context(context, name, run, method):
    assert Action(context, name, "x", "", "", run=run).method == method


def test_an_action_calls_the_method_with_its_name_unless_it_names_another():
    assert Action(Context.TRAFFIC, "traffic.back", "q", "", "").place == "back()"
    assert Action(Context.TRAFFIC, "traffic.copy", "c", "", "", call="list.copy()").place == "list.copy()"
