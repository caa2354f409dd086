"""Writes down what TensorBoard's plugin says of operators, for the test of that name.

    python tensorboard_operators.py TRACE.json.gz... > tests/fixtures/tensorboard_operators.json

Runs where `torch-tb-profiler` (installed with --no-deps), pandas and numpy are. Microseconds.
"""

import gzip
import json
import sys
from pathlib import Path

KEYS = ("host_duration", "self_host_duration", "device_duration", "self_device_duration")


def figures(path: Path) -> dict[str, list[float]]:
    """Calls and KEYS of every operator of a trace."""
    from torch_tb_profiler.profiler.data import RunProfileData

    profile = RunProfileData("worker", "span", json.loads(gzip.decompress(path.read_bytes())))
    profile.process()
    return {
        op.name: [op.calls, *(round(getattr(op, key), 3) for key in KEYS)]
        for op in sorted(profile.op_list_groupby_name, key=lambda op: op.name)
    }


def main() -> None:
    """One line per operator."""
    samples = []
    for path in map(Path, sys.argv[1:]):
        lines = (f"  {json.dumps(name)}: {json.dumps(v)}" for name, v in figures(path).items())
        samples.append(
            f' "{path.name.removesuffix(".json.gz")}": {{\n' + ",\n".join(lines) + "\n }"
        )
    print("{\n" + ",\n".join(samples) + "\n}")


if __name__ == "__main__":
    main()
