"""Add-on `tests`: kept calls, suites, and what runs, reports and reviews them."""
