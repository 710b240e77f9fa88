"""Text of a server that a person does not see, or that speaks to the model past the person."""
