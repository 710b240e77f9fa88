#!/usr/bin/env python3
"""FAULT: Closes stdin at once and keeps running.

EXPECT: Detected immediately, not at the start deadline: no message can reach the server, so it is stopped.
"""
import os

exec(open(os.path.join(os.path.dirname(__file__), "_server.py")).read())


os.close(0)
time.sleep(600)
