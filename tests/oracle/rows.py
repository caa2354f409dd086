"""A finished event as the row that `stepscope export --to jsonl` prints for it."""

from oracle import values
from oracle.events import API_CALLS, ON_DEVICE, Event, text_of
from oracle.links import external_id, is_launch
from oracle.text import Json, clean

Value = None | int | float | str | list["Value"] | dict[str, "Value"]
Row = dict[str, Value]

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
        "name": event.name if isinstance(event.entry.get("name"), str) else None,
        "pid": event.track[0],
        "tid": event.track[1],
        "start_ns": event.start,
    }
    if event.shape == "flow":
        del row["kind"]
        row |= {"id": flow_id(event.entry.get("id")), "flow": event.phase}
        return without_nothing(row)
    if event.shape in ("span", "async_span"):
        row["dur_ns"] = event.duration
    row["flags"] = list(event.flags) or None
    row["parent"] = ordinal(event.parent)
    if event.kind in ("cpu_op", "annotation"):
        row |= op_columns(event)
    if event.kind in API_CALLS and is_launch(event):
        row |= launch_columns(event)
    if event.kind in ON_DEVICE:
        row |= device_columns(event)
    if event.kind == "kernel":
        row |= kernel_columns(event)
    if event.kind in ("memcpy", "memset"):
        row["bytes"] = values.integer(event.args.get("bytes"))
        row["bandwidth_gbps"] = values.single(event.args.get("memory bandwidth (GB/s)"))
    if event.kind in ("sync", "device_marker"):
        row["sync"] = sync_columns(event)
    if event.kind == "memory":
        row["memory"] = memory_columns(event)
    if "Collective name" in event.args:
        row["collective"] = collective_columns(event)
    if event.shape == "counter":
        row["counters"] = counter_columns(event)
    return without_nothing(row)


def flow_id(value: Json) -> Value:
    """A flow's id: a number where it is one."""
    number = values.integer(value)
    return text_of(value) if number is None else number


def op_columns(event: Event) -> Row:
    """Operators and annotations."""
    return {
        "external_id": external_id(event),
        "sequence": event.id("Sequence number"),
        "forward_thread": event.id("Fwd thread id"),
        "forward": ordinal(event.forward),
    }


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
        "device": event.id("device"),
        "stream": stream_of(event, "stream"),
        "context": event.id("context"),
        "correlation": event.id("correlation"),
        "external_id": external_id(event),
        "launch": ordinal(event.launch),
    }


def stream_of(event: Event, key: str) -> int | None:
    """A stream; waits on no stream in particular say -1 or 2^32 - 1."""
    number = event.id(key)
    return None if event.kind == "sync" and number == NO_STREAM else number


def kernel_columns(event: Event) -> Row:
    """Shape and residency."""
    args = event.args
    return {
        "grid": three(args.get("grid")),
        "block": three(args.get("block")),
        "registers": values.identifier(args.get("registers per thread")),
        "shared_memory": values.identifier(args.get("shared memory")),
        "blocks_per_sm": values.single(args.get("blocks per SM")),
        "warps_per_sm": values.single(args.get("warps per SM")),
        "occupancy_percent": values.single(args.get("est. achieved occupancy %")),
        "graph_id": event.id("graph id"),
        "graph_node": event.id("graph node id"),
    }


def three(value: Json) -> Value:
    """The sizes of a grid or block."""
    if not isinstance(value, list) or len(value) != 3:
        return None
    sizes: list[Value] = [values.integer(size) for size in value]
    return None if None in sizes else sizes


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
    """An allocation or a free."""

    def read(key: str) -> int | None:
        return values.integer(event.args.get(key))

    return (
        without_nothing(
            {
                "address": read("Addr"),
                "bytes": read("Bytes"),
                "total_allocated": read("Total Allocated"),
                "total_reserved": read("Total Reserved"),
                "device_type": read("Device Type"),
                "device_id": read("Device Id"),
            }
        )
        or None
    )


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
            "comms_id": event.id("Comms Id"),
            "group_size": event.id("Group size"),
            "rank": event.id("Rank"),
            "source_rank": event.id("Src Rank"),
            "destination_rank": event.id("Dst Rank"),
            "asynchronous": flag(event.args.get("Is asynchronized op")),
        }
    )


def string(event: Event, key: str) -> str | None:
    """An argument that is text."""
    value = event.args.get(key)
    return clean(value) if isinstance(value, str) else None


def flag(value: Json) -> Value:
    """True, "True" or 1."""
    if isinstance(value, str):
        return {"true": 1, "false": 0}.get(value.lower(), values.identifier(value))
    return int(value) if isinstance(value, bool) else values.identifier(value)


def counter_columns(event: Event) -> Value:
    """The series of a counter."""
    series: Row = {clean(k): values.real(v) for k, v in event.args.items()}
    return without_nothing(series) or None
