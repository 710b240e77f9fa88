"""What this add-on brings: the page of an app view. Loads nothing."""

BRINGS = {"service": {"app page": "tui.addons.apps.view:ask_to_open"}}
