"""Text from a server that the user does not see, or that instructs the model without their knowledge."""
