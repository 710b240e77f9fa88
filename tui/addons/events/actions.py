"""The keys that this add-on brings. The app reads them before its first frame, so this imports nothing."""

# fmt: off
BRINGS = {
    "action": {
        "events.open": ("ANYWHERE", "alt+e", "events", "Events: subscriptions to servers, and the inbox", 0,
            "tui.addons.events.screen:open_events"),
        "bench.events": ("BENCH_LIST", "9", "events", "Show the events of the server", 0,
            "tui.addons.events.tab:show_tab", "tui.addons.events.actions:why_no_events"),
        "events.choose": ("EVENTS", "enter", "open", "Subscribe, read the event, or confirm the rule", 1,
            "choose()"),
        "events.attach": ("EVENTS", "a", "attach", "Attach the event to the next message", 2, "attach()"),
        "events.traffic": ("EVENTS", "f4", "traffic", "Show the event in the traffic", 3, "traffic()"),
        "events.filter": ("EVENTS", "slash", "filter", "Filter the inbox", 7, "filter()"),
        "events.read_all": ("EVENTS", "m", "mark read", "Mark all listed events as read", 8, "read_all()"),
        "events.pause": ("EVENTS", "p", "pause", "Pause the subscription, or continue it where it was", 5,
            "pause()"),
        "events.unsubscribe": ("EVENTS", "ctrl+d", "unsubscribe", "Remove the subscription", 6,
            "unsubscribe()"),
        "events.stop_all": ("EVENTS", "Z", "stop all",
            "Stop every subscription, and every turn that events started", 9, "stop_all()"),
        "events.reload": ("EVENTS", "R", "list again", "List the event types again", 10, "reload()"),
        "events.back": ("EVENTS", "escape,q", "back", "Clear the filter, or close", 4, "back()"),
    },
}
# fmt: on


def why_no_events(owner: object) -> str:
    """Return why the workbench has no tab for events, or ""."""
    from tui.core.language.translate import _

    tabs = getattr(owner, "tabs", None)
    return "" if tabs is None or "events" in tabs.names else _("This server does not offer events.")
