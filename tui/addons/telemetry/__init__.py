"""Telemetry: spans and metrics of the traffic, for OpenTelemetry."""
