"""What this add-on brings: `transport = "lines"`."""

BRINGS = {"transport": {"lines": "tui.addons.line_dialect.line_dialect:LineDialect"}}
