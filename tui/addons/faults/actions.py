"""The keys that this add-on brings. The app reads them before its first frame, so this imports nothing."""

_PANE = "tui.addons.faults.tray_pane"

# fmt: off
BRINGS = {
    "action": {
        "traffic.breakpoint": ("TRAFFIC,ENTRY,TRAY", "I", "breakpoint",
            "Set a breakpoint, to hold messages on their way", 9, f"{_PANE}:set_breakpoint",
            "tui.addons.faults.actions:why_no_tray"),
        "traffic.faults": ("TRAFFIC,ENTRY,TRAY", "exclamation_mark", "faults",
            "Inject faults: break messages of servers on purpose", 0, f"{_PANE}:inject_faults",
            "tui.addons.faults.actions:why_no_tray"),
        "tray.open": ("TRAFFIC,ENTRY", "H", "held messages", "Focus the held messages", 0, f"{_PANE}:focus",
            "tui.addons.faults.actions:why_none_held"),
        "tray.edit": ("TRAY", "e,enter", "edit", "Edit the held message as JSON", 2, f"{_PANE}:edit",
            "tui.addons.faults.actions:why_none_held"),
        "tray.release": ("TRAY", "a", "send", "Send the held message on", 1, f"{_PANE}:release",
            "tui.addons.faults.actions:why_none_held"),
        "tray.drop": ("TRAY", "ctrl+d", "drop", "Drop the held message. It is never sent", 3, f"{_PANE}:drop",
            "tui.addons.faults.actions:why_none_held"),
        "tray.answer": ("TRAY", "r", "answer",
            "Answer the held request yourself, or replace the held response", 6, f"{_PANE}:answer",
            "tui.addons.faults.actions:why_none_held"),
        "tray.release_all": ("TRAY,TRAFFIC", "A", "all", "Send all held messages on, in order", 20,
            f"{_PANE}:release_all", "tui.addons.faults.actions:why_none_held"),
        "tray.back": ("TRAY", "escape,q", "back", "Focus the traffic list", 7, f"{_PANE}:back"),
    },
}
# fmt: on


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
