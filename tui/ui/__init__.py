"""The screens. The only room that imports textual."""
