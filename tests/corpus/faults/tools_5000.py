#!/usr/bin/env python3
"""FAULT: 5,000 tools on one page.

EXPECT: All listed; the event loop never stalls.
"""
import os

exec(open(os.path.join(os.path.dirname(__file__), "_server.py")).read())


TOOLS[:] = [{**TOOLS[0], "name": f"t{number}"} for number in range(5000)]

serve()
