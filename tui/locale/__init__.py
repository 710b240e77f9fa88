"""The interface's texts in other languages (a `.po` file for each part of the program), and loading them."""
