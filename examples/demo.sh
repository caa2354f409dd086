#!/usr/bin/env bash
# The tour: what is in a real trace, in a few commands. Run by `make demo` and by the tests.
set -euo pipefail
cd "$(dirname "$0")/.."
stepscope=${STEPSCOPE_BIN:-build/stepscope}

# Shows a command as a reader would type it, then runs it.
show() {
  printf '\n$ stepscope %s\n' "$*"
  "$stepscope" "$@"
}

samples=(examples/data/*.json.gz)
if [[ ! -e ${samples[0]} ]]; then
  echo 'demo: no sample in examples/data' >&2
  exit 1
fi

show info "${samples[0]}"

printf '\nMore samples lie in examples/data; any trace that torch.profiler wrote opens the same way:\n'
printf '  %s info PATH...\n' "$stepscope"
printf '  %s --help\n' "$stepscope"
