"""Forms on screen: of the workbench, of questions of servers, and of the dialogs of servers and models."""
