"""The keys that this add-on brings. The app reads them before its first frame, so this imports nothing."""

BRINGS = {
    "action": {
        "events.open": {
            "contexts": ("ANYWHERE",),
            "keys": "alt+e",
            "label": "events",
            "help": "Events: subscriptions to servers, and the inbox",
            "call": "tui.addons.events.screen:open_events",
        },
        "bench.events": {
            "contexts": ("BENCH_LIST",),
            "keys": "9",
            "label": "events",
            "help": "Show the events of the server",
            "call": "tui.addons.events.tab:show_tab",
            "when": "tui.addons.events.actions:why_no_events",
        },
        "events.choose": {
            "contexts": ("EVENTS",),
            "keys": "enter",
            "label": "open",
            "help": "Subscribe, read the event, or confirm the rule",
            "footer": 1,
            "call": "choose()",
        },
        "events.attach": {
            "contexts": ("EVENTS",),
            "keys": "a",
            "label": "attach",
            "help": "Attach the event to the next message",
            "footer": 2,
            "call": "attach()",
        },
        "events.traffic": {
            "contexts": ("EVENTS",),
            "keys": "f4",
            "label": "traffic",
            "help": "Show the event in the traffic",
            "footer": 3,
            "call": "traffic()",
        },
        "events.filter": {
            "contexts": ("EVENTS",),
            "keys": "slash",
            "label": "filter",
            "help": "Filter the inbox",
            "footer": 7,
            "call": "filter()",
        },
        "events.read_all": {
            "contexts": ("EVENTS",),
            "keys": "m",
            "label": "mark read",
            "help": "Mark all listed events as read",
            "footer": 8,
            "call": "read_all()",
        },
        "events.pause": {
            "contexts": ("EVENTS",),
            "keys": "p",
            "label": "pause",
            "help": "Pause the subscription, or continue it where it was",
            "footer": 5,
            "call": "pause()",
        },
        "events.unsubscribe": {
            "contexts": ("EVENTS",),
            "keys": "ctrl+d",
            "label": "unsubscribe",
            "help": "Remove the subscription",
            "footer": 6,
            "call": "unsubscribe()",
        },
        "events.stop_all": {
            "contexts": ("EVENTS",),
            "keys": "Z",
            "label": "stop all",
            "help": "Stop every subscription, and every turn that events started",
            "footer": 9,
            "call": "stop_all()",
        },
        "events.reload": {
            "contexts": ("EVENTS",),
            "keys": "R",
            "label": "list again",
            "help": "List the event types again",
            "footer": 10,
            "call": "reload()",
        },
        "events.back": {
            "contexts": ("EVENTS",),
            "keys": "escape,q",
            "label": "back",
            "help": "Clear the filter, or close",
            "footer": 4,
            "call": "back()",
        },
    }
}


def why_no_events(owner: object) -> str:
    """Return why the workbench has no tab for events, or ""."""
    from tui.core.language.translate import _

    tabs = getattr(owner, "tabs", None)
    return "" if tabs is None or "events" in tabs.names else _("This server does not offer events.")
