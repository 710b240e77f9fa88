"""What this add-on brings: breakpoints. Loads the standard library only."""

BRINGS = {
    "service": {
        "breakpoints": "tui.addons.faults.tray:Tray",
        "held messages": "tui.addons.faults.tray_pane:TrayPane",
    },
}
