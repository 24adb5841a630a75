#!/usr/bin/env bash
# The main job on one transcript: verdicts, the compacted context, and a question that the summary alone gets wrong.
# usage: docs/examples/tour.sh [TRANSCRIPT]
set -euo pipefail
cd "$(dirname "$0")/../.."
transcript=${1:-docs/examples/agent-session.jsonl}

cargo build --release --locked --quiet -p spanvault-cli
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export SPANVAULT_DIR="$work/vault"

run() {
  printf '\n$ spanvault %s\n' "$(printf '%q ' "$@")"
  # 4: something was refused; 5: the evidence does not suffice. Both are answers.
  ${CARGO_TARGET_DIR:-target}/release/spanvault "$@" || { code=$?; [ "$code" -eq 4 ] || [ "$code" -eq 5 ] || exit "$code"; }
}

run compact "$transcript"
run refusals
run context "$(${CARGO_TARGET_DIR:-target}/release/spanvault --json sessions | sed -n '1s/.*"session":"\([^"]*\)".*/\1/p')"
summary=$(${CARGO_TARGET_DIR:-target}/release/spanvault --json spans | sed -n 's/.*"summary":"\(m[0-9]*\)".*/\1/p' | head -n 1)
if [ -n "$summary" ]; then
  printf '\n# What the summary says by itself:\n'
  run recover "$summary"
  printf '\n'
fi
printf '\n# Did we ever write under /etc?\n'
run ask --effect mutates --path '/etc/**' --exists
