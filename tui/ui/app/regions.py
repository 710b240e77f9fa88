"""Where the regions of the main screen stand, and which of them a small terminal shows."""

REGIONS = """
#_default { overflow: hidden; }
#header { background: $surface; }
#body { height: 1fr; }
#conversation { width: 1fr; height: 1fr; background: $surface; padding: 0 1; }
#side { width: 38%; min-width: 40; background: $surface; }
#servers { height: 6; padding: 0 1; border-left: solid $rule; }
#trace { height: 1fr; padding: 0 1; border-left: solid $rule; }
#composer-bar { height: auto; background: $panel; }
#prompt { width: 3; padding: 0 0 0 1; color: $text-dim; }
#composer-bar:focus-within #prompt { color: $accent; }
#composer { width: 1fr; height: 1; background: $panel; padding: 0 1 0 0; border: none; }
#status { background: $surface; }
#footer { background: $surface; }
.-short #header { display: none; }
.-short #rule-bottom { display: none; }
.-tiny #rule-composer { display: none; }
.-tiny.-least #rule-top { display: none; }
.-only-conversation #side { display: none; }
.-only-servers #conversation, .-only-servers #trace, .-only-servers #rule-side { display: none; }
.-only-trace #conversation, .-only-trace #servers, .-only-trace #rule-side { display: none; }
.-only-servers #side, .-only-trace #side { width: 1fr; }
.-only-servers #servers { height: 1fr; border-left: none; }
.-only-trace #trace { border-left: none; }
CommandPalette SearchIcon { display: none; }
CommandPalette > Vertical { background: $panel; width: 84; max-width: 100%; }
CommandPalette #--input { border: none; padding: 1 2 1 1; }
CommandPalette CommandList { border: none; background: $panel; padding: 0 1 1 1; }
ToastRack { dock: top; align: right top; margin: 2 0 0 0; }
.-short ToastRack { margin: 1 0 0 0; }
Toast { background: $panel; }
"""
