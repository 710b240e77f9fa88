"""What this add-on brings: the model `demo`."""

BRINGS = {"model": {"demo": "tui.addons.demo.demo:DemoModel"}}
