"""The model side. The only room that imports openai."""
