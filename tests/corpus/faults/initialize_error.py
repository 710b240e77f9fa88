#!/usr/bin/env python3
"""FAULT: initialize is answered with an error.

EXPECT: Fails at once; the reason names the failed request and quotes the error.
"""
import os

exec(open(os.path.join(os.path.dirname(__file__), "_server.py")).read())


ERA = "legacy"


def initialize(req):
    fail(req, -32603, "missing API key: set WEATHER_API_KEY")


H["initialize"] = initialize

serve()
