"""The workbench: one server worked with by hand."""
