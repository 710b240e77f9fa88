"""Text from a server that a person does not see, or that instructs the model without their knowledge."""
