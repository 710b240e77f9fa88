#!/bin/sh
# The suite's command, in place of the client: hands the call to the test that waits for it in $RELAY, where
# the client starts without loading its modules again, and ends as the client does: relay.sh URL
{
  printf '%s\n' "$1"
  printf '%s\n' "$MCP_CONFORMANCE_SCENARIO"
  printf '%s\n' "$MCP_CONFORMANCE_CONTEXT"
} >"$RELAY/call.part"
mv "$RELAY/call.part" "$RELAY/call"
read -r status <"$RELAY/status"
exit "$status"
