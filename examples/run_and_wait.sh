#!/bin/sh
# Starts a command in a new tmux window, waits until it says so, and prints what it said. Needs a running tmux server.
# Usage: examples/run_and_wait.sh 'make test'
set -eu
pane=$(tmux new-window -d -P -F '#{pane_id}' "sh -c '$1; echo finished with status \$?; sleep 5'")
visor robot wait-for "$pane" --regex 'finished with status [0-9]+' --timeout-secs 600 >/dev/null
visor get-text "$pane" --tail 200
