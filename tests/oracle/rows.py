"""A finished event as the row that `stepscope export --to jsonl` prints for it."""

from oracle import values
from oracle.events import API_CALLS, ON_DEVICE, Event, text_of
from oracle.layout import plain, write
from oracle.links import external_id, flow_id, is_launch
from oracle.text import Constant, Json, Number, clean

Value = None | int | float | str | list["Value"] | dict[str, "Value"]
Row = dict[str, Value]

NO_COLLECTIVES = API_CALLS | {"python", "sync", "device_marker", "memory"}
NO_STREAM = 2**32 - 1  # CUPTI's "none", as some versions write it


def without_nothing(row: Row) -> Row:
    """Leaves out what the event does not have."""
    return {key: value for key, value in row.items() if value is not None}


def printable(value: Value) -> Value:
    """Numbers from 2^53 on are strings: readers that keep doubles would lose digits."""
    if isinstance(value, dict):
        return {key: printable(one) for key, one in value.items()}
    if isinstance(value, list):
        return [printable(one) for one in value]
    return str(value) if isinstance(value, int) and abs(value) >= 2**53 else value


def ordinal(event: Event | None) -> int | None:
    """How a row names another one."""
    return None if event is None else event.ordinal


def row_of(event: Event, rank: int, window: int) -> Row:
    """The row of an event."""
    row: Row = {
        "rank": rank,
        "window": window,
        "ordinal": event.ordinal,
        "ph": event.shape,
        "cat": event.category or None,
        "kind": event.kind,
        "name": event.name if isinstance(event.entry.get("name"), str | Number) else None,
        "pid": event.track[0],
        "tid": event.track[1],
        "start_ns": event.start,
    }
    if event.shape == "flow":
        del row["kind"]
        row |= {"id": flow_id(event), "flow": event.phase}
        return without_nothing(row)
    if event.shape in ("span", "async_span"):
        row["dur_ns"] = event.duration
    row["flags"] = list(event.flags) or None
    row["parent"] = ordinal(event.parent)
    if event.kind in ("cpu_op", "annotation"):
        row |= op_columns(event)
    if event.kind == "python":
        row["module_id"] = values.narrow(event.args.get("Python module id"))
    if event.kind in API_CALLS and is_launch(event):
        row |= launch_columns(event)
    if event.kind in ON_DEVICE:
        row |= device_columns(event)
    if event.kind == "kernel":
        row |= kernel_columns(event)
    if event.kind in ("memcpy", "memset"):
        size = event.id("bytes", "Bytes")
        row["bytes"] = event.id("size") if size is None else size
        row["bandwidth_gbps"] = values.single(event.args.get("memory bandwidth (GB/s)"))
    if event.kind in ("sync", "device_marker"):
        row["sync"] = sync_columns(event)
    if event.kind == "memory":
        row["memory"] = memory_columns(event)
    if event.kind not in NO_COLLECTIVES and string(event, "Collective name") is not None:
        row["collective"] = collective_columns(event)
    series = counter_columns(event)
    if event.shape == "counter" or (event.kind == "profiler_range" and series):
        row["counters"] = series
    return without_nothing(row)


def op_columns(event: Event) -> Row:
    """Operators and annotations."""
    return {
        "external_id": external_id(event),
        "sequence": event.id("Sequence number"),
        "forward_thread": values.narrow(event.args.get("Fwd thread id")),
        "forward": ordinal(event.forward),
        "inputs": input_columns(event),
        "flops": flops_of(event),
        "call_stack": some_text(event, "Call stack"),
        "module_hierarchy": some_text(event, "Module Hierarchy"),
    }


def input_columns(event: Event) -> Value:
    """What it was called with: lists (or texts) as JSON without what makes no difference."""
    spellings = {
        "dims": ("Input Dims", "Input dims"),
        "types": ("Input type",),
        "strides": ("Input Strides",),
        "concrete": ("Concrete Inputs",),
    }
    given = {column: event.given(*keys) for column, keys in spellings.items()}
    # In place of a list they say nothing, also where they were mended to a text.
    given = {k: None if v in ("NaN", "Infinity", "-Infinity") else v for k, v in given.items()}
    lists = {k: write(bare(v), quoted) for k, v in given.items() if isinstance(v, list | str)}
    return {**lists} or None


def bare(value: Json) -> Json:
    """NaN and its like are no JSON: their names stand for them."""
    if isinstance(value, list):
        return [bare(one) for one in value]
    if isinstance(value, dict):
        return {key: bare(one) for key, one in value.items()}
    return value.text if isinstance(value, Constant) else value


def quoted(text: str) -> str:
    """A string with no escapes but those it needs, control characters by number."""
    escapes = {'"': '\\"', "\\": "\\\\"} | {chr(i): f"\\u{i:04x}" for i in range(32)}
    return '"' + "".join(escapes.get(c, c) for c in clean(text)) + '"'


def flops_of(event: Event) -> int | None:
    """Floating-point operations; 0 is written where they were not counted."""
    count = values.signed(event.given("flops", "kernel_flop"))
    return count if count is not None and count > 0 else None


def some_text(event: Event, key: str) -> str | None:
    """An argument that is text; an empty one says nothing."""
    return text_of(event.args.get(key)) or None


def launch_columns(event: Event) -> Row:
    """Calls into the runtime or driver."""
    return {
        "correlation": event.id("correlation"),
        "external_id": external_id(event),
        "op": ordinal(event.op),
        "work": [work.ordinal for work in event.work] or None,
    }


def device_columns(event: Event) -> Row:
    """What sits on a stream."""
    return {
        "device": values.narrow(event.args.get("device")),
        "stream": stream_of(event, "stream"),
        "context": event.id("context"),
        "correlation": event.id("correlation"),
        "external_id": external_id(event),
        "launch": ordinal(event.launch),
    }


def stream_of(event: Event, key: str) -> int | None:
    """A stream; waits on no stream in particular say -1 or 2^32 - 1."""
    number = event.id(key)
    return None if number == NO_STREAM else number


def kernel_columns(event: Event) -> Row:
    """Shape and residency."""
    args = event.args
    registers = values.identifier(args.get("registers per thread")) or 0
    return {
        "grid": three(args.get("grid"), 2**32 - 1),
        "block": three(args.get("block"), 2**16 - 1),
        "registers": max(0, min(2**16 - 1, registers)) or None,
        "shared_memory": values.narrow(args.get("shared memory")),
        "blocks_per_sm": values.single(args.get("blocks per SM")),
        "warps_per_sm": values.single(args.get("warps per SM")),
        "occupancy_percent": values.single(
            event.given("est. achieved occupancy %", "theoretical occupancy %")
        ),
        "graph_id": event.id("graph id"),
        "graph_node": event.id("graph node id"),
    }


def three(value: Json, most: int) -> Value:
    """The sizes of a grid or block: a list of one to three whole numbers, else nothing."""
    if not isinstance(value, list) or not 1 <= len(value) <= 3:
        return None
    sizes = [values.integer(size) for size in value]
    if not all(size is not None and 0 <= size < 2**32 for size in sizes) or not any(sizes):
        return None
    return [min(most, size or 0) for size in (*sizes, 0, 0)[:3]]


def sync_columns(event: Event) -> Value:
    """What a wait waits for, or which event was recorded."""
    return (
        without_nothing(
            {
                "what": string(event, "cuda_sync_kind"),
                "wait_on_stream": stream_of(event, "wait_on_stream"),
                "wait_on_record": event.id("wait_on_cuda_event_record_corr_id"),
                "event_id": event.id("wait_on_cuda_event_id", "event_id"),
            }
        )
        or None
    )


def memory_columns(event: Event) -> Value:
    """An allocation or a free; without a number of bytes it is neither."""
    size = values.signed(event.given("Bytes", "bytes"))
    if size is None:
        return None
    return without_nothing(
        {
            "address": values.integer(event.args.get("Addr")) or None,
            "bytes": size,
            "total_allocated": event.id("Total Allocated"),
            "total_reserved": event.id("Total Reserved"),
            "device_type": small(event, "Device Type"),
            "device_id": small(event, "Device Id"),
        }
    )


def small(event: Event, key: str) -> int | None:
    """A number of 15 bits; below 0 is none."""
    number = event.id(key)
    return None if number is None or number < 0 else min(number, 2**15 - 1)


def collective_columns(event: Event) -> Value:
    """A communication."""
    return without_nothing(
        {
            "name": string(event, "Collective name"),
            "dtype": string(event, "dtype"),
            "group_name": string(event, "Process Group Name"),
            "group_description": string(event, "Process Group Description"),
            "group_ranks": string(event, "Process Group Ranks"),
            "in_split": string(event, "In split size"),
            "out_split": string(event, "Out split size"),
            "in_elements": event.id("In msg nelems"),
            "out_elements": event.id("Out msg nelems"),
            "sequence": event.id("Seq"),
            "comms_id": (values.integer(event.args.get("Comms Id")) or 0) % 2**64 or None,
            "group_size": values.narrow(event.args.get("Group size")),
            "rank": values.narrow(event.args.get("Rank")),
            "source_rank": values.narrow(event.args.get("Src Rank")),
            "destination_rank": values.narrow(event.args.get("Dst Rank")),
            "asynchronous": flag(event.args.get("Is asynchronized op")),
        }
    )


def string(event: Event, key: str) -> str | None:
    """An argument that is text, a number, or a list as text."""
    value = event.args.get(key)
    if isinstance(value, list):
        return write(value, plain, ", ")
    return text_of(value) if isinstance(value, str | Number) else None


def flag(value: Json) -> Value:
    """Whether something is said to be so."""
    text = str(value).lower() if isinstance(value, bool) else text_of(value)
    return {"true": 1, "True": 1, "1": 1, "false": 0, "False": 0, "0": 0}.get(text)


def counter_columns(event: Event) -> Value:
    """The series of a counter: the arguments that are numbers, or texts of numbers."""
    numbers = {k: v for k, v in event.args.items() if isinstance(v, Number | str)}
    series: Row = {clean(key): values.real(number) for key, number in numbers.items()}
    return without_nothing(series)
