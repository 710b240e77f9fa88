"""The keys that this add-on brings. The app reads them before its first frame, so this imports nothing."""

_PANE = "tui.addons.faults.tray_pane"

BRINGS = {
    "action": {
        "traffic.breakpoint": {
            "contexts": ("TRAFFIC", "ENTRY", "TRAY"),
            "keys": "I",
            "label": "breakpoint",
            "help": "Set a breakpoint, to hold messages on their way",
            "footer": 9,
            "call": f"{_PANE}:set_breakpoint",
            "when": "tui.addons.faults.actions:why_no_tray",
        },
        "traffic.faults": {
            "contexts": ("TRAFFIC", "ENTRY", "TRAY"),
            "keys": "exclamation_mark",
            "label": "faults",
            "help": "Inject faults: break messages of servers on purpose",
            "call": f"{_PANE}:inject_faults",
            "when": "tui.addons.faults.actions:why_no_tray",
        },
        "tray.open": {
            "contexts": ("TRAFFIC", "ENTRY"),
            "keys": "H",
            "label": "held messages",
            "help": "Focus the held messages",
            "call": f"{_PANE}:focus",
            "when": "tui.addons.faults.actions:why_none_held",
        },
        "tray.edit": {
            "contexts": ("TRAY",),
            "keys": "e,enter",
            "label": "edit",
            "help": "Edit the held message as JSON",
            "footer": 2,
            "call": f"{_PANE}:edit",
            "when": "tui.addons.faults.actions:why_none_held",
        },
        "tray.release": {
            "contexts": ("TRAY",),
            "keys": "a",
            "label": "send",
            "help": "Send the held message on",
            "footer": 1,
            "call": f"{_PANE}:release",
            "when": "tui.addons.faults.actions:why_none_held",
        },
        "tray.drop": {
            "contexts": ("TRAY",),
            "keys": "ctrl+d",
            "label": "drop",
            "help": "Drop the held message. It is never sent",
            "footer": 3,
            "call": f"{_PANE}:drop",
            "when": "tui.addons.faults.actions:why_none_held",
        },
        "tray.answer": {
            "contexts": ("TRAY",),
            "keys": "r",
            "label": "answer",
            "help": "Answer the held request yourself, or replace the held response",
            "footer": 6,
            "call": f"{_PANE}:answer",
            "when": "tui.addons.faults.actions:why_none_held",
        },
        "tray.release_all": {
            "contexts": ("TRAY", "TRAFFIC"),
            "keys": "A",
            "label": "all",
            "help": "Send all held messages on, in order",
            "footer": 20,
            "call": f"{_PANE}:release_all",
            "when": "tui.addons.faults.actions:why_none_held",
        },
        "tray.back": {
            "contexts": ("TRAY",),
            "keys": "escape,q",
            "label": "back",
            "help": "Focus the traffic list",
            "footer": 7,
            "call": f"{_PANE}:back",
        },
    },
}


def why_no_tray(screen: object) -> str:
    """Return why no breakpoint can be set, or ""."""
    from tui.core.language.translate import message

    live = getattr(screen, "live", None)
    return "" if live is not None else message("A breakpoint needs live servers. This is a recording.")


def why_none_held(screen: object) -> str:
    """Return why nothing can be released, or ""."""
    from tui.core.language.translate import message

    live = getattr(screen, "live", None)
    return "" if live is not None and live.runtime.breakpoints.messages else message("No held messages.")
