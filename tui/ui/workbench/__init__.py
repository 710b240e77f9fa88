"""The workbench: using one server by hand."""
