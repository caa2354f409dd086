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

show info examples/data/gpt_bf16.json.gz
show report examples/data/gpt_bf16.json.gz
show advise examples/data/gpt_bf16.json.gz
show analyze kernels --top 5 examples/data/gpt_bf16.json.gz
show info examples/data/ddp

# What the tour writes stays there to be looked at.
out=build/demo
mkdir -p "$out"
show report --html "$out/ddp.html" examples/data/ddp 2>&1
show export examples/data/ddp --to perfetto -o "$out/ddp.perfetto-trace"
ls -l "$out/ddp.perfetto-trace" | awk '{print "wrote " $5 " bytes: both ranks in one file, ready for ui.perfetto.dev"}'

printf '\nWhere to look next:\n'
printf '  %s report PATH...           where the time goes; --html FILE for a page with charts\n' "$stepscope"
printf '  %s advise PATH...           what is wrong, what to change, what it will bring\n' "$stepscope"
printf '  %s analyze --list           every question there is\n' "$stepscope"
printf '  %s info PATH...             any trace or folder of traces that torch.profiler wrote\n' "$stepscope"
printf '  %s export PATH --to jsonl   every event with its links, a line each\n' "$stepscope"
printf '  %s --help                   all commands; docs/start/opening-traces.md tells more\n' "$stepscope"
