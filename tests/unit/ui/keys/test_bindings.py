"""One key, one meaning: every binding of every screen, form and dialog is checked.

A key other than a letter means the same thing everywhere. A letter may mean something else on another screen
if it is listed here, so a second meaning is a decision and never an accident.
"""

import importlib
import pkgutil
from collections import defaultdict
from collections.abc import Iterator

from textual.binding import Binding
from textual.dom import DOMNode

import tui.ui
from tui.ui.keys.action_table import ACTIONS, NEWLINE_KEYS, SEND_KEYS
from tui.ui.keys.bindings import method_at

MEANINGS = {
    # meaning: (its keys, the actions and bindings with that meaning)
    "send, call, save, confirm": (
        SEND_KEYS,
        "composer.steer ask.send bench.call session.export save send dismiss(True) submit",
    ),
    "newline": (NEWLINE_KEYS, "composer.newline newline"),
    "do what is selected": (
        "enter",
        "composer.send chat.expand servers.open session.resume model.take rule.edit traffic.read entry.fold"
        " tests.review review.write statistics.read waterfall.read app.focus_next bench.open form.choose"
        " take choose dismiss(True) press tray.edit events.choose skills.read",
    ),
    "cancel, close, back": (
        "escape",
        "chat.cancel session.leave model.leave rule.leave ask.cancel result.leave traffic.back entry.close"
        " bench.back log.back statistics.back waterfall.back comparison.back tests.back review.back"
        " doctor.back back cancel tray.back events.back skills.back",
    ),
    "next field, pane, format or list": (
        "tab",
        "composer.complete form.next model.offered rule.recent app.focus_next take kind comparison.calls "
        "waterfall.pane",
    ),
    "previous field, or redact an export": ("shift+tab", "form.previous app.focus_previous shapes"),
    "up": (
        "up",
        "composer.older form.previous row_up step(-1) offer(-1) app.focus_previous",
    ),
    "down": (
        "down",
        "composer.newer form.next row_down step(1) offer(1) app.focus_next down",
    ),
    "previous tab or turn": ("left", "entry.last_tab bench.left waterfall.previous comparison.calls"),
    "next tab or turn": ("right", "entry.next_tab bench.right waterfall.next comparison.calls"),
    "page up": ("pageup", "composer.page_up pane_page_up page(-1)"),
    "page down": ("pagedown", "composer.page_down pane_page_down page(1)"),
    "start": ("home", "pane_home"),
    "end": ("end", "pane_end traffic.follow"),
    "filter or search": (
        "slash",
        "traffic.filter entry.search bench.filter log.search tests.filter events.filter",
    ),
    "next match or case": ("n", "traffic.next entry.next bench.next log.next review.next"),
    "previous match or case": (
        "N",
        "traffic.previous entry.previous bench.previous log.previous review.previous",
    ),
    "copy": (
        "c",
        "chat.copy trace.copy bench.copy_as result.copy traffic.copy entry.copy log.copy comparison.copy"
        " tests.copy review.copy doctor.copy",
    ),
    "close, as esc": (
        "q",
        "result.leave traffic.back entry.close bench.leave log.leave statistics.back waterfall.back"
        " comparison.back tests.back review.back doctor.back back letter('back') tray.back events.back"
        " skills.back",
    ),
    "maximize": ("z", "entry.maximize bench.maximize"),
    "help": ("f1,question_mark", "app.help"),
    "traffic": ("f4", "traffic.open bench.call_traffic tests.traffic review.traffic events.traffic"),
    "to the input": ("f5", "focus.composer bench.hand"),
    "new": ("ctrl+n", "chat.new form.add model.add rule.add"),
    "undo, or suspend": ("ctrl+z", "session.undo app.suspend review.undo tests.undo"),
    "stored": ("ctrl+k", "bench.saved model.key"),
    "remove": (
        "ctrl+d",
        "servers.remove session.delete model.forget rule.remove form.remove tray.drop events.unsubscribe"
        " skills.revoke",
    ),
    "rules": ("P", "rules.open question.rules"),
    "edit the message, search the text": ("ctrl+f", "composer.editor traffic.search entry.search"),
    "search the history, read the skill": ("ctrl+r", "composer.history ask.read"),
    "edit": ("ctrl+e", "session.rename bench.raw"),
    "discard, decline": ("ctrl+x", "composer.drop ask.decline"),
}

OF_THEIR_SCREENS = {
    # letters that are commands of one screen, besides those with the same meaning everywhere
    "1": "compare.left traffic.sort_time bench.overview",
    "2": "compare.right traffic.sort_server bench.tools",
    "3": "traffic.sort_kind bench.resources",
    "4": "traffic.sort_method bench.prompts",
    "5": "traffic.sort_size bench.log",
    "6": "traffic.sort_latency bench.traffic",
    "A": "bench.send tray.release_all",
    "a": "servers.add result.attach bench.attach entry.fold_all question.always comparison.all review.accept"
    " tray.release events.attach skills.load",
    "d": "traffic.compare bench.diff comparison.back",
    "E": "config.edit traffic.form",
    "e": "question.why servers.change traffic.edit bench.sampling tray.edit",
    "g": "traffic.turn pane_home",
    "G": "pane_end traffic.follow",
    "H": "tray.open servers.doctor",
    "D": "servers.changes watch.changes",
    "h": "traffic.setup statistics.setup entry.last_tab bench.left waterfall.previous comparison.calls",
    "j": "row_down letter('step',1)",
    "k": "row_up letter('step',-1)",
    "l": "compare.scroll servers.log entry.next_tab bench.right waterfall.next comparison.calls",
    "m": "chat.compare traffic.mark bench.mark review.vary events.read_all",
    "n": "question.no back decide(False)",
    "o": "servers.disable result.open bench.offer",
    "p": "chat.parent traffic.pair entry.pair events.pause",
    "r": "chat.retry servers.restart bench.restart log.restart tests.run tray.answer doctor.again",
    "R": "config.reload traffic.resend bench.reload tests.run_all events.reload skills.reload",
    "s": "servers.toggle bench.toggle log.toggle",
    "space": "entry.fold pane_page_down choose letter('take') press",
    "t": "question.session traffic.time bench.roots tests.turns",
    "T": "servers.trust bench.trust",
    "U": "up.refuse bench.app",
    "u": "chat.uncompact bench.subscribe",
    "v": "chat.result bench.level",
    "w": "chat.rewrite result.save traffic.waterfall entry.save bench.save log.wrap",
    "x": "chat.export traffic.export review.skip",
    "y": "question.once entry.copy_value bench.copy yes dismiss(True) decide(True)",
    "Y": "entry.copy_path bench.copy_all",
}


AT_ONCE = set(
    "chat.retry chat.cancel_call chat.uncompact servers.toggle servers.restart servers.disable bench.toggle"
    " bench.restart log.toggle log.restart"
    " bench.send bench.offer bench.offer_all bench.instructions bench.read_resources"
    " bench.subscribe tests.run doctor.again tray.release tray.release_all tray.drop"
    " question.once question.session question.always question.no".split()
)
"""Actions that change or send something without asking."""

GUARDED = {
    # these keys answer a card that lists them, only once it has been in view for a moment
    **dict.fromkeys("ynta", "an approval"),
    "r": "tray.answer opens an editor",
    "ctrl+d": "tray.drop needs a selected message, in a list that opens by a key of its own",
    "o": "result.open is in a dialog, and opens after a question",
}


def classes() -> Iterator[type[DOMNode]]:
    """Yield every widget, screen and app of mcptui."""
    for found in pkgutil.walk_packages(tui.ui.__path__, "tui.ui."):
        for value in vars(importlib.import_module(found.name)).values():
            if isinstance(value, type) and issubclass(value, DOMNode) and value.__module__ == found.name:
                yield value


def bound() -> dict[str, set[str]]:
    """Return the actions of each key: those of the table by their ids, others by their names."""
    found: dict[str, set[str]] = defaultdict(set)
    for action in ACTIONS:
        for key in filter(None, f"{action.keys},{action.anywhere}".split(",")):
            found[key].add(action.id)
    ids = {action.id for action in ACTIONS}
    for widget in set(classes()):
        for binding in Binding.make_bindings(vars(widget).get("BINDINGS", [])):
            of_table = binding.id in ids or (binding.id or "").removesuffix(".anywhere") in ids
            if not of_table:
                found[binding.key].add(binding.action)
    return found


def allowed() -> dict[str, set[str]]:
    known: dict[str, set[str]] = defaultdict(set)
    for keys, names in MEANINGS.values():
        for key in keys.split(","):
            known[key] |= set(names.split())
    for key, names in OF_THEIR_SCREENS.items():
        known[key] |= set(names.split())
    return known


def test_no_key_has_two_meanings_that_are_not_listed():
    known = allowed()
    several = {key: names for key, names in bound().items() if len(names) > 1}
    assert {key: names - known[key] for key, names in several.items() if names - known[key]} == {}


def test_a_binding_with_the_id_of_an_action_runs_that_action():
    methods: dict[str, set[str]] = defaultdict(set)
    for action in ACTIONS:
        methods[action.id].add(action.method)
    for widget in classes():
        for binding in Binding.make_bindings(vars(widget).get("BINDINGS", [])):
            action_id = (binding.id or "").removesuffix(".anywhere")
            assert action_id not in methods or binding.action in methods[action_id], widget


def test_the_function_of_an_action_of_an_addon_gets_its_owner():
    assert method_at({"screen": "traffic"}, "json:dumps")() == '{"screen": "traffic"}'


def test_no_harmless_key_of_one_screen_changes_state_on_another():
    mixed = {key: names for key, names in bound().items() if names & AT_ONCE and names - AT_ONCE}
    assert {key: names for key, names in mixed.items() if key not in GUARDED} == {}


def test_every_listed_meaning_is_bound_to_a_key():
    names = set().union(*bound().values())
    for keys, listed in MEANINGS.values():
        assert set(listed.split()) <= names, keys
    for key, listed in OF_THEIR_SCREENS.items():
        assert set(listed.split()) <= bound()[key], key


def test_only_letters_and_space_differ_between_screens():
    meanings: dict[str, list[str]] = defaultdict(list)
    for meaning, (keys, _) in MEANINGS.items():
        for key in keys.split(","):
            meanings[key].append(meaning)
    assert all(len(found) == 1 for found in meanings.values())
    assert all(len(key) == 1 or key == "space" for key in OF_THEIR_SCREENS)
