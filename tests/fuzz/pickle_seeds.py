"""Writes the seeds of pickle_fuzz: small snapshots in every protocol, and what must be refused.

.venv/bin/python tests/fuzz/pickle_seeds.py
"""

import os
import pickle
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "corpus" / "pickle_fuzz"


def snapshot() -> dict[str, Any]:
    """A snapshot with one of everything torch writes."""
    frames = [
        {"name": "f", "filename": "a.py", "line": 3},
        {"name": "g", "filename": "??", "line": 0},
    ]
    base = 0x7F0000000000

    def event(action: str, address: int, size: int, **more: Any) -> dict[str, Any]:
        return {
            "action": action,
            "addr": address,
            "size": size,
            "stream": 0,
            "time_us": 1794706879221928,
            "compile_context": "N/A",
            "user_metadata": "",
            "frames": frames,
            **more,
        }

    return {
        "segments": [
            {
                "device": 0,
                "address": base,
                "total_size": 2097152,
                "allocated_size": 512,
                "active_size": 512,
                "requested_size": 100,
                "stream": 0,
                "segment_type": "small",
                "segment_pool_id": (0, 1),
                "is_expandable": False,
                "frames": [],
                "blocks": [
                    {
                        "address": base,
                        "size": 512,
                        "requested_size": 100,
                        "state": "active_allocated",
                        "frames": frames,
                    },
                    {
                        "address": base + 512,
                        "size": 2096640,
                        "requested_size": 0,
                        "state": "inactive",
                        "frames": [],
                    },
                ],
            }
        ],
        "device_traces": [
            [
                event("segment_alloc", base, 2097152, pool_id=(0, 1)),
                event("alloc", base, 100, forward_frames=["h", "i"]),
                event("alloc", 2**63 + 512, 100, user_metadata={"k": [1, 2.5, None, True]}),
                event("free_requested", 2**63 + 512, 100),
                event("free_completed", 2**63 + 512, 100, internal_metadata="x"),
                event("something_new", base, 1),
                {"action": "oom", "device_free": 3, "size": 2**40, "stream": 0, "time_us": 5.0},
            ],
            [],
        ],
        "allocator_settings": {
            "PYTORCH_CUDA_ALLOC_CONF": "",
            "max_split_size": -1,
            "garbage_collection_threshold": 0.0,
            "expandable_segments": True,
            "roundup_power2_divisions": {"1": 0, "2": 4},
        },
        "external_annotations": [
            {"name": "ProfilerStep#1", "stage": "START", "device": 0, "time_us": 1794706879221900},
            {"name": "ProfilerStep#1", "stage": "END", "device": 0, "time_us": 1794706879222900},
        ],
        "something": {1: {2: [(), (1,), (1, 2, 3), {4}]}},
    }


class Runs:
    """What must never be run."""

    def __reduce__(self) -> tuple[Any, ...]:
        return (os.getcwd, ())


def main() -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    for protocol in range(6):
        whole = snapshot()
        if protocol < 4:
            whole.pop("something")  # sets are made by calling `set` there
        text = pickle.dumps(whole, protocol)
        (FOLDER / f"protocol_{protocol}").write_bytes(text)
    (FOLDER / "cut").write_bytes(pickle.dumps(snapshot(), 4)[:900])
    (FOLDER / "runs_code").write_bytes(pickle.dumps({"segments": [Runs()]}, 4))
    nested: list[Any] = []
    for _ in range(400):
        nested = [nested]
    (FOLDER / "deep").write_bytes(pickle.dumps({"segments": [], "x": nested}, 4))
    (FOLDER / "bytes").write_bytes(
        pickle.dumps({"segments": [], "x": [b"abc", bytearray(b"def")]}, 5)
    )
    laughs = b"\x80\x04]\x94(K\x01K\x02e"
    for i in range(30):
        laughs += b"]\x94(" + bytes([ord("h"), i]) * 9 + b"e"
    (FOLDER / "laughs").write_bytes(b"\x80\x04}\x94(\x8c\x08segments" + laughs[2:] + b"u.")
    loop: list[Any] = []
    loop.append(loop)
    (FOLDER / "loop").write_bytes(pickle.dumps({"segments": loop, "frames": loop}, 4))


if __name__ == "__main__":
    main()
