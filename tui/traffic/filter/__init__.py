"""The filter language of the traffic."""
