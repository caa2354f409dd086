"""The oracle's own tests: each rule of README.md on the smallest input that shows it."""

import gzip
import json
from typing import Any

import pytest

from oracle import NotJsonError, read_trace
from oracle.values import nanoseconds

Row = dict[str, Any]


def rows_of(*events: str) -> dict[int, Row]:
    lines: list[Any] = read_trace(f"[{','.join(events)}]".encode()).lines()
    return {line["ordinal"]: line for line in lines[1:]}


def header_of(text: str) -> Row:
    line: Any = read_trace(text.encode()).lines()[0]
    header: Row = line["header"]
    return header


def event(ts: float, dur: float | None = None, **more: Any) -> str:
    entry = {"ph": "X", "name": "f", "pid": 1, "tid": 1, "ts": ts}
    return json.dumps(entry | ({} if dur is None else {"dur": dur}) | more)


def op(ts: float, dur: float, **args: Any) -> str:
    return event(ts, dur, cat="cpu_op", args=args)


def call(ts: float, dur: float, correlation: int, **more: Any) -> str:
    return event(ts, dur, cat="cuda_runtime", args={"correlation": correlation} | more)


def kernel(ts: float, dur: float, correlation: int, **more: Any) -> str:
    return event(ts, dur, cat="kernel", pid=0, tid=7, args={"correlation": correlation} | more)


def parents(*events: str) -> list[int | None]:
    return [row.get("parent") for row in rows_of(*events).values()]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0", 0),
        ("1", 1000),
        ("1.5", 1500),
        ("1695115378713042.123", 1695115378713042123),
        ("0.0005", 0),
        ("0.0015", 2),
        ("-0.0015", -2),
        ("0.00050000000000000000000000000000000000000000001", 1),
        ("1.5e3", 1500000),
        ("15E-1", 1500),
        ("4611686018427387.904", 2**62),
        ("4611686018427387.905", None),
        ("1e999999999", None),
        ("1e-999999999", 0),
        ("0e999999999", 0),
    ],
)
def test_times_are_exact(text: str, expected: int | None) -> None:
    assert nanoseconds(text) == expected


def test_number_and_text_name_the_same_track() -> None:
    rows = rows_of(event(0, 1, pid=5, tid="5"), event(0, 1, pid="5", tid=5))
    assert {(row["pid"], row["tid"]) for row in rows.values()} == {("5", "5")}


def test_entries_that_are_no_events_keep_their_ordinal() -> None:
    rows = rows_of("3", "null", '{"ph":"M"}', '{"ph":"X"}', '{"ts":1}', event(0, 1))
    assert list(rows) == [5]


@pytest.mark.parametrize("dur", ["-1", "2592000000001", "1e300", '"-0.001"'])
def test_impossible_durations_are_flagged_and_zero(dur: str) -> None:
    row = rows_of(f'{{"ph":"X","ts":1,"dur":{dur}}}')[0]
    assert (row["dur_ns"], row["flags"]) == (0, ["bad_duration"])


def test_thirty_days_are_possible() -> None:
    assert rows_of(event(0, 30 * 86400 * 10**6))[0]["dur_ns"] == 30 * 86400 * 10**9


def test_times_far_from_the_rest_are_not_in_the_span() -> None:
    day = 86400 * 10**6
    near = read_trace(f"[{event(0, 5)},{event(1, 5)},{event(day + 1, 5)}]".encode())
    far = read_trace(f"[{event(0, 5)},{event(1, 5)},{event(day + 1.001, 5)}]".encode())
    assert near.span == (0, (day + 6) * 1000)
    assert far.span == (0, 6000)
    assert [e.ordinal for e in far.events if e.flags == {"far_time"}] == [2]


def test_begin_and_end_nest_whatever_the_names() -> None:
    begin = [event(0, ph="B", name="a"), event(1, ph="B", name="b")]
    end = [event(5, ph="E", name="a"), event(9, ph="E", name="x")]
    rows = rows_of(*end, *begin)  # the file need not be in time order
    assert {r["name"]: (r["start_ns"], r["dur_ns"]) for r in rows.values()} == {
        "a": (0, 9000),
        "b": (1000, 4000),
    }


def test_what_never_ends_lasts_to_the_end_of_the_window() -> None:
    rows = rows_of(event(1, ph="B"), event(2, 10), event(3, ph="E", tid=9))
    assert rows[0]["dur_ns"] == 11000
    assert rows[0]["flags"] == ["unclosed"]
    assert 2 not in rows


def test_async_events_pair_by_category_and_id() -> None:
    rows = rows_of(
        event(0, ph="b", id=1, cat="x"),
        event(1, ph="b", id="2", cat="x"),
        event(2, ph="n", id=1, cat="x"),
        event(3, ph="e", id="1", cat="x", tid=4),
        event(4, ph="e", id=2, cat="x"),
        event(5, ph="e", id=2, cat="y"),
    )
    assert [(r["ph"], r.get("dur_ns")) for r in rows.values()] == [
        ("async_span", 3000),
        ("async_span", 3000),
        ("async_instant", None),
    ]


def test_a_call_that_outlives_its_caller_by_clock_noise_is_a_call() -> None:
    rows = rows_of(event(0, 10), event(5, 6), event(20, 10), event(25, 6.001))
    assert (rows[1]["parent"], rows[1]["flags"]) == (0, ["outlives_parent"])
    assert "parent" not in rows[3]


def test_spans_that_overlap_are_siblings() -> None:
    assert parents(event(0, 100), event(10, 20), event(20, 40), event(25, 2)) == [None, 0, 0, 2]


def test_points_have_no_children() -> None:
    # Calls of no length at one microsecond follow each other in real files; none calls the next.
    assert parents(event(0, 10), event(10, 0), event(10, 0)) == [None, None, None]
    assert parents(event(0, 10), event(0, 0), event(0, 0)) == [None, 0, 0]


def test_overhead_and_device_tracks_have_no_tree() -> None:
    assert parents(event(0, 10, cat="overhead"), event(1, 2)) == [None, None]
    assert parents(kernel(0, 10, 0), kernel(1, 2, 0)) == [None, None]


def python(ts: float, dur: float, own: int, parent: int | None) -> str:
    args = {"Python id": own, "Python parent id": parent}
    return event(ts, dur, cat="python_function", args=args)


def test_python_ids_say_who_called() -> None:
    main = python(0, 10, 1, None)
    # A frame or an operator that lies around the call stays in between, whatever the ids say.
    assert parents(main, python(1, 8, 2, 1), python(2, 1, 3, 1)) == [None, 0, 1]
    assert parents(main, op(1, 8), python(2, 1, 3, 1)) == [None, 0, 1]
    assert parents(main, op(1, 8), python(1, 7, 2, 1), python(2, 1, 3, 1)) == [None, 0, 1, 2]
    # The ids decide: between twins, where the call ends later by clock noise, where frames overlap.
    assert parents(main, python(1, 2, 2, 1), python(1, 2, 3, 1)) == [None, 0, 0]
    assert parents(main, python(1, 2, 2, 1), python(2, 1.5, 3, 1)) == [None, 0, 0]
    assert parents(main, op(1, 2), python(1, 2, 2, 1), python(1, 2, 3, 1)) == [None, 0, 1, 1]
    frames = [python(1, 4, 2, 1), python(3, 5, 3, 1), python(4, 0.5, 4, 2)]
    assert parents(main, *frames) == [None, 0, 0, 1]
    assert parents(main, frames[0], op(3, 5), frames[2]) == [None, 0, 0, 2]
    # A frame that has ended calls nothing more.
    assert parents(main, python(1, 2, 2, 1), python(4, 1, 3, 2)) == [None, 0, 0]
    assert parents(python(0, 10, 1, None), python(2, 1, 3, 99)) == [None, 0]


def test_device_work_belongs_to_the_latest_call_before_it() -> None:
    rows = rows_of(
        call(0, 1, 7), call(10, 1, 7), kernel(12, 1, 7), kernel(5, 1, 7), kernel(-5, 1, 7)
    )
    assert [rows[i]["launch"] for i in (2, 3, 4)] == [1, 0, 0]
    assert (rows[0]["work"], rows[1]["work"]) == ([4, 3], [2])


def test_correlation_zero_is_none() -> None:
    rows = rows_of(call(0, 1, 0), kernel(1, 1, 0), kernel(1, 1, -1))
    assert "launch" not in rows[1]
    assert rows[1]["correlation"] == 0
    assert "correlation" not in rows[2]


def test_a_call_is_made_by_the_operator_around_it() -> None:
    annotation = event(1, 8, cat="user_annotation")
    rows = rows_of(op(0, 10), annotation, call(2, 1, 5))
    assert rows[2]["op"] == 0
    assert rows_of(annotation, call(2, 1, 5))[1]["op"] == 0


def test_else_by_the_operator_of_its_external_id() -> None:
    ops = [op(0, 1, **{"External id": 4}), op(2, 1, **{"External id": 4})]
    rows = rows_of(
        *ops, event(5, 1, cat="cuda_driver", tid=2, args={"correlation": 1, "external id": 4})
    )
    assert rows[2]["op"] == 1


def flow(ph: str, ts: float, number: int, cat: str = "fwdbwd") -> str:
    return event(ts, ph=ph, id=number, cat=cat, name=cat)


def test_arrows_lead_from_backward_to_forward() -> None:
    rows = rows_of(op(0, 9), op(0, 5), op(20, 9), flow("s", 0, 3), flow("f", 20, 3))
    assert rows[2]["forward"] == 1


def test_sequence_numbers_lead_from_backward_to_forward() -> None:
    numbers = {"Sequence number": 5}
    rows = rows_of(
        op(0, 1, **numbers), op(2, 1, **numbers), op(9, 1, **numbers, **{"Fwd thread id": 1})
    )
    assert rows[2]["forward"] == 1


def test_identifiers_from_2_to_the_53_are_text() -> None:
    row = rows_of(kernel(0, 1, 1, stream=2**53, context=2**53 - 1))[0]
    assert (row["stream"], row["context"]) == (str(2**53), 2**53 - 1)


def test_steps_come_from_the_profiler_then_from_what_repeats() -> None:
    step = event(5, 7, cat="user_annotation", name="ProfilerStep#3")
    assert header_of(f"[{step}]")["steps"] == {
        "source": "profiler_step",
        "list": [[3, 5000, 12000]],
    }
    kernels = ",".join(
        event(10 * i + j, 1, cat="kernel", name=name)
        for i in range(4)
        for j, name in enumerate("ab")
    )
    assert header_of(f"[{kernels}]")["steps"] == {
        "source": "repetition",
        "list": [[0, 0, 10000], [1, 10000, 20000], [2, 20000, 30000]],
    }
    assert header_of(f"[{event(1, 2)}]")["steps"] == {"source": "whole", "list": [[0, 1000, 3000]]}


def test_files_may_be_packed_and_text_may_be_broken() -> None:
    text = b'\xef\xbb\xbf[{"ph":"i","ts":1,"name":"a\xff\xe2\x82b\\ud800\x01"}]'
    for data in (text, gzip.compress(text[:20]) + gzip.compress(text[20:])):
        assert read_trace(data).events[0].name == "a\ufffd\ufffdb\ufffd\x01"


@pytest.mark.parametrize("text", [b"", b"{", b"[" * 100_000, b'{"a":1}', b"3"])
def test_what_python_does_not_take_is_not_compared(text: bytes) -> None:
    with pytest.raises(NotJsonError):
        read_trace(text)
