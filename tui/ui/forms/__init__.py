"""Forms on screen: one for the workbench, for questions of servers, and for the dialogs of servers and models."""
