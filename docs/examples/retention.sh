#!/usr/bin/env bash
# Retention, demands and holds on one transcript: what docs/guides/retention.md shows. Lengths are seconds, so that two runs
# of reclaim with a grace between them fit into a minute; in earnest they are days.
# usage: docs/examples/retention.sh        $SPANVAULT names a binary to use instead of building one
set -euo pipefail
cd "$(dirname "$0")/../.."

if [ -z "${SPANVAULT:-}" ]; then
  cargo build --release --locked --quiet -p spanvault-cli
  SPANVAULT=${CARGO_TARGET_DIR:-target}/release/spanvault
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export SPANVAULT_DIR="$work/vault"

# A command line as a person would type it.
show() {
  for word in "$@"; do
    case $word in *[!a-zA-Z0-9_./:-]*) printf "'%s' " "$word" ;; *) printf '%s ' "$word" ;; esac
  done | sed 's/ $//'
}

run() {
  code=0
  printf '\n$ spanvault %s\n' "$(show "$@")"
  "$SPANVAULT" "$@" 2>&1 || code=$?
  # 4: something was refused; 5: the evidence does not suffice. Both are answers.
  case $code in 0) ;; 4 | 5) echo "[exit $code]" ;; *) exit "$code" ;; esac
}

# The first id with this letter in what is read.
id() { grep -o "\"$1[0-9][0-9]*\"" | head -n 1 | tr -d '"'; }

run ingest docs/examples/agent-session.jsonl
run retention set --hot-for 1s --keep-for 4s --grace 3s
run policy show
run demand add audit --session 5b0c --for 1h --reason 'review of the outage'
run compact --session 5b0c
run compact --session 5b0c --extend
run demand list
sleep 5
run tier run
run reclaim --dry-run
write=$("$SPANVAULT" --json ask --tool Write --get spans | id s)
result=s$((${write#s} + 1))
run hold add "$write" --reason 'case 17'
run hold add "$result" --reason 'case 17'
run hold list
run demand withdraw "$("$SPANVAULT" --json demand list | id d)" --reason 'the review is over'
run why "$write"
run reclaim
sleep 4
run ask --tool Edit --count
run reclaim
run ask --tool Edit --count
run ask --tool Write --path '/etc/**' --exists
run demand add audit --session 5b0c --for 1h
run capacity
run health
for hold in $("$SPANVAULT" --json hold list | grep -o '"h[0-9]*"' | tr -d '"'); do
  run hold release "$hold" --reason 'case 17 is closed'
done
run reclaim
run checkpoint 5b0c
run reclaim
sleep 4
run reclaim
run recover "$write"
run context 5b0c
