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

# The page answers for as long as a reader may want to look, and leaves no process running.
seconds=${STEPSCOPE_DEMO_SECONDS:-1800}
rm -f "$out/address"  # of an earlier tour
timeout "$seconds" "$stepscope" serve --no-open examples/data/gpt_bf16.json.gz >"$out/address" 2>"$out/serve.log" </dev/null &
for _ in $(seq 100); do
  [[ -s $out/address ]] && break
  sleep 0.1
done
[[ -s $out/address ]] || cat "$out/serve.log" >&2

printf '\nWhere to look next:\n'
printf '  %s report PATH...           where the time goes; --html FILE for a page with charts\n' "$stepscope"
printf '  %s advise PATH...           what is wrong, what to change, what it will bring\n' "$stepscope"
printf '  %s serve PATH...            the same as a page to click through, with a timeline\n' "$stepscope"
printf '  %s analyze --list           every question there is\n' "$stepscope"
printf '  %s info PATH...             any trace or folder of traces that torch.profiler wrote\n' "$stepscope"
printf '  %s export PATH --to jsonl   every event with its links, a line each\n' "$stepscope"
printf '  %s --help                   all commands; docs/start/opening-traces.md tells more\n' "$stepscope"
if [[ -s $out/address ]]; then
  printf '\nThe page on this sample, for %s minutes (kill %s ends it sooner):\n  %s\n' $((seconds / 60)) $! "$(cat "$out/address")"
fi
