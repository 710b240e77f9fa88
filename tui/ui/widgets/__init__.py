"""Building blocks of the screens: rows, lines, inputs, trees, Markdown, pictures."""
