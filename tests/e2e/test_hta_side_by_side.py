"""Our breakdowns where HTA is right: traces in whole microseconds, which its rounding leaves alone.

What HTA (traceinsight 0.6.1, pandas 2) printed with include_last_profiler_step=True.
"""

from pathlib import Path

import pytest
from answers import tables
from program import Program

RIGHT = {
    "two_ranks_0": {
        "overlap": 14.95,
        "temporal": (675191, 210320, 337336, 1222847),
        "types": {
            "communication": 336033,
            "compute": 151094,
            "compute + communication": 59204,
            "communication + memory": 950,
            "memory": 353,
            "compute + communication + memory": 12,
            "compute + memory": 10,
        },
    },
    "two_ranks_1": {
        "overlap": 19.93,
        "temporal": (651136, 271973, 308077, 1231186),
        "types": {
            "communication": 299495,
            "compute": 196425,
            "compute + communication": 67626,
            "compute + communication + memory": 7904,
            "memory": 4554,
            "communication + memory": 4028,
            "compute + memory": 18,
        },
    },
}


@pytest.mark.parametrize("name", RIGHT)
def test_equal_to_the_microsecond(program: Program, corpus: Path, name: str) -> None:
    path, right = corpus / "hta" / f"{name}.json.gz", RIGHT[name]
    (row,) = tables(program, "overlap", "--within", "work", path)["devices"]
    assert round(100 * row["hidden_share"], 2) == right["overlap"]
    (row,) = tables(program, "temporal-breakdown", "--within", "work", path)["devices"]
    exposed = row["exposed_communication_ns"] + row["exposed_memory_ns"]
    found = (row["idle_ns"], row["compute_ns"], exposed, row["measured_ns"])
    assert tuple(time // 1000 for time in found) == right["temporal"]
    types = tables(program, "kernel-types", "--within", "work", path)["run"]
    assert {r["type"]: r["time_ns"] // 1000 for r in types} == right["types"]
