"""Reports of a run: JUnit XML, Markdown, GitHub annotations, JSON lines. Each is a `Reporter`."""
