"""The answer of a sweep: a row for each setting, the best, and what to beware of.

Definitions: docs/cli/sweep.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from stepscope import _core
from stepscope.sweep.schedule import Scene, counted, without_digits
from stepscope.sweep.scores import (
    Best,
    Score,
    Tried,
    Trouble,
    best_setting,
    counts_samples,
    score_of,
)
from stepscope.sweep.settings import (
    NAMES,
    OF_WORKERS,
    SWITCHES,
    Settings,
    demand,
    keywords_text,
    python_text,
)

Row = dict[str, Any]


@dataclass
class Answer:
    """Tables, and sentences about them."""

    settings: list[Row] = field(default_factory=list)
    best: list[Row] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)

    @property
    def sentence(self) -> str:
        """What to do, in one sentence."""
        return _sentence(self.settings, self.best[0]) if self.best else _NOTHING

    @property
    def is_sure(self) -> bool:
        """Whether there is one setting to take: what was not tried may be faster."""
        if not self.best:
            return False
        best = self.best[0]
        return bool(best["tried"] > 1 and best["not_told_apart"] is None and best["not_tried"] == 0)


_NOTHING = "no setting could be measured"


def make_answer(tried: Sequence[Tried], scene: Scene) -> Answer:
    """Of all that was tried."""
    groups, group_of = _grouped(tried)
    best = best_setting(groups)
    if best is not None:
        _put_least_first(best, groups)
    labels = setting_labels(tried)
    by_sample = counts_samples(tried)
    scores = [score_of(one, by_sample) for one in tried]
    reference: Score | None = None  # the best, or the fastest where none is called that
    if best is not None:
        place = best.fastest if best.rivals else best.place
        reference = score_of(groups[place], by_sample)

    def rank(i: int) -> tuple[bool, bool, float]:
        score = scores[i]
        time = score.per_ns if score is not None else float("inf")
        return (best is None or group_of[i] != best.place, tried[i].trouble is not None, time)

    out = Answer()
    is_alone = sum(one.is_measured for one in groups) < 2
    reasons: set[str] = set()
    for i in sorted(range(len(tried)), key=rank):
        outcome = _outcome(tried[i], group_of[i], best, is_alone, scene)
        if tried[i].why:
            if without_digits(outcome) in reasons:
                outcome = "failed as the one above"
            reasons.add(without_digits(outcome))
        out.settings.append(_row(tried[i], labels[i], scores[i], reference, outcome))
    if best is not None:
        out.best = [_best_row(groups, best, scene)]
    out.remarks = [*scene.sentences, *_warnings(tried, labels, scene)]
    return out


def _grouped(tried: Sequence[Tried]) -> tuple[list[Tried], list[int]]:
    """Jobs that ran with the same settings are trials of one; and the group of each."""
    groups: list[Tried] = []
    places: list[int] = []
    for one in tried:
        same = None
        if one.settings and one.trouble is None:
            same = next(
                (
                    place
                    for place, other in enumerate(groups)
                    if other.trouble is None and other.settings == one.settings
                ),
                None,
            )
        if same is None:
            same = len(groups)
            groups.append(Tried(one.given, one.actual, [], one.trouble, one.why))
        groups[same].trials += one.trials
        places.append(same)
    return groups, places


def _put_least_first(best: Best, groups: Sequence[Tried]) -> None:
    """Where none is called the best, the one that asks for least stands first."""
    if best.rivals:
        best.place, *best.rivals = sorted(
            [*best.rivals, best.place], key=lambda i: demand(groups[i].settings)
        )
        best.as_good = [place for place in best.as_good if place != best.place]


def setting_labels(tried: Sequence[Tried]) -> list[str]:
    """The settings that are not the same in all of them, as keywords; all where none differ."""
    differing = [name for name in NAMES if len(set(_values(tried, name))) > 1]
    labels = []
    for one in tried:
        shown = one.given if one.trouble is Trouble.SAME else one.settings
        if differing:
            shown = {name: value for name, value in shown.items() if name in differing}
        labels.append(keywords_text(shown) or one.job or "as the target has it")
    return labels


def _values(tried: Sequence[Tried], name: str) -> Iterator[int | None]:
    """What was asked for; of finished jobs, what their loaders had."""
    for one in tried:
        settings = one.given or one.actual
        if settings and (name not in OF_WORKERS or one.workers > 0):
            yield settings.get(name)


def _outcome(one: Tried, group: int, best: Best | None, is_alone: bool, scene: Scene) -> str:
    if one.why:
        return one.why
    if not one.is_measured:
        if scene.was_given_up:
            return "not tried: the target failed"
        return f"not tried: {'stopped before' if scene.was_stopped else 'the budget ended'}"
    if best is None or (is_alone and scene.out_of_time == 0):
        return "the only one measured"
    if best.rivals and group in (best.place, *best.rivals):
        return "not told apart"
    if group == best.place:
        return "fastest tried" if scene.out_of_time > 0 else "best"
    return "as good" if group in best.as_good else "slower"


def _row(one: Tried, label: str, score: Score | None, reference: Score | None, outcome: str) -> Row:
    settings: dict[str, Any] = dict.fromkeys(_COLUMNS) | one.settings
    for name in SWITCHES:
        if settings[name] is not None:
            settings[name] = settings[name] != 0
    measured: Row = {}
    if score is not None and reference is not None:
        measured = {
            "loading_time_ns": score.loading_ns,
            "training_time_ns": score.training_ns if score.trains else None,
            "samples_per_second": score.samples_per_second,
            "slower_share": score.per_ns / reference.per_ns - 1,
            "start_ns": score.start_ns,
            "trials": len(score.runs),
            "steps": score.steps,
        }
    return {
        **settings,
        **measured,
        "setting": label,
        "peak_bytes": one.peak_bytes,
        "shared_bytes": one.shared_bytes,
        "outcome": outcome,
        "job": one.job or None,
    }


# In their order.
_COLUMNS = (
    *("setting", "num_workers", "persistent_workers", "pin_memory", "non_blocking"),
    *("prefetch_factor", "drop_last", "batch_size", "loading_time_ns", "training_time_ns"),
    *("samples_per_second", "slower_share", "start_ns", "peak_bytes", "shared_bytes", "trials"),
    *("steps", "outcome", "job"),
)


def _best_row(groups: Sequence[Tried], best: Best, scene: Scene) -> Row:
    labels = setting_labels(groups)
    by_sample = counts_samples(groups)
    measured = sum(one.is_measured for one in groups)
    is_complete = measured > 1 and scene.out_of_time == 0
    slower = None
    if best.next is not None:
        slower = _per_ns(groups[best.next], by_sample) / _per_ns(groups[best.place], by_sample) - 1
    return {
        "keywords": keywords_text(_asked(groups[best.place])),
        "confidence": best.confidence if is_complete else None,
        "next_slower_share": slower,
        "next": labels[best.next] if best.next is not None else None,
        "as_good": len(best.as_good),
        "by_sample": by_sample,
        "not_told_apart": _group_text(best, labels) if best.rivals else None,
        "tried": measured,
        "not_tried": scene.out_of_time,
        "left_out": max(0, scene.not_tried - scene.out_of_time),
    }


def _per_ns(one: Tried, by_sample: bool) -> float:
    score = score_of(one, by_sample)
    assert score is not None  # it is the best, or the next one
    return score.per_ns


def _asked(one: Tried) -> Settings:
    """What was asked for, with the values that the loader has: a target may know better."""
    return {n: v for n, v in one.settings.items() if not one.given or n in one.given}


def _group_text(best: Best, labels: Sequence[str]) -> str:
    most = 4
    names = [labels[place] for place in (best.place, *best.rivals)]
    more = [f"and {len(names) - most} more"] if len(names) > most else []
    return "; ".join(names[:most] + more)


# What to beware of.


def _warnings(tried: Sequence[Tried], labels: Sequence[str], scene: Scene) -> Iterator[str]:
    yield from _of_ignored_keywords(tried)
    yield from _of_cpus(tried, scene)
    yield from _of_memory(
        tried,
        labels,
        lambda one: one.peak_bytes,
        ("the memory that trials were allowed", scene.memory_limit),
        "In training the model and other ranks of the node need memory too: a job that goes beyond "
        "its limit is killed. Each worker holds what the dataset keeps in Python objects, and "
        "prefetch_factor batches.",
    )
    yield from _of_memory(
        tried,
        labels,
        lambda one: one.shared_bytes,
        ("/dev/shm", scene.shared_limit),
        "Batches travel through it; a worker that finds it full dies of a bus error. In a "
        "container its size is an option (docker run --shm-size).",
    )
    yield from _of_cache(tried)
    yield from _of_untried(scene)


def _of_ignored_keywords(tried: Sequence[Tried]) -> Iterator[str]:
    for name in NAMES:
        for one in tried:
            given, actual = one.given.get(name), one.actual.get(name)
            if given is not None and actual is not None and given != actual:
                yield (
                    f"The target was given {name}={python_text(name, given)}, and its loader has "
                    f"{name}={python_text(name, actual)}: it does not pass it on."
                )
                break


_TOO_MANY = (
    "more workers than CPUs help only where they wait for storage, and slow down a loop that "
    "computes on the CPU."
)


def _of_cpus(tried: Sequence[Tried], scene: Scene) -> Iterator[str]:
    """Workers and the loop want a CPU each."""
    most = max((one.workers for one in tried if one.is_measured or one.why), default=0)
    if scene.cpus is not None and most > scene.cpus:
        yield (
            f"Up to {most} workers were tried and the job has {counted(scene.cpus, 'CPU')} (by "
            f"affinity, cgroup and Slurm): {_TOO_MANY}"
        )
    # Of finished jobs, each with CPUs of its own, the one that had least for its workers.
    short = [
        (one.workers - one.job_cpus, one.workers, one.job_cpus, one.job)
        for one in tried
        if one.job_cpus is not None and one.is_measured and one.workers > one.job_cpus
    ]
    if short:
        _, workers, cpus, job = max(short, key=lambda one: one[0])
        yield (
            f"Job {job} ran {workers} workers and a rank of it had {cpus:.3g} "
            f"CPU{'' if cpus == 1 else 's'}: {_TOO_MANY}"
        )


def _of_memory(
    tried: Sequence[Tried],
    labels: Sequence[str],
    used: Callable[[Tried], int | None],
    limit: tuple[str, int | None],
    advice: str,
) -> Iterator[str]:
    what, most = limit
    if not most:
        return
    names = [
        f"{label} ({_gib_text(held)})"
        for one, label in zip(tried, labels, strict=True)
        if (held := used(one)) is not None and held >= most / 2
    ]
    if names:
        yield f"More than half of {what} ({_gib_text(most)}): {'; '.join(names)}. {advice}"


def _gib_text(count: int) -> str:
    mib = count / 2**20
    return f"{mib:.0f} MiB" if mib < 1024 else f"{mib / 1024:.1f} GiB"


def _of_cache(tried: Sequence[Tried]) -> Iterator[str]:
    """The first trial read from a disk and the others did not: times are of memory."""
    read = [
        trial.storage_bytes
        for one in tried
        for trial in one.trials
        if trial.storage_bytes is not None
    ]
    little = 16 << 20
    if len(read) > 1 and read[0] >= little and sum(read[1:]) <= read[0] / 10:
        yield (
            "The first trial read its data from storage and the others found it in memory: a "
            "dataset that does not fit into memory loads slower than this, and may want more "
            "workers."
        )


def _of_untried(scene: Scene) -> Iterator[str]:
    late = scene.out_of_time
    if late:
        were = f"{counted(late, 'setting')} {'was' if late == 1 else 'were'} not tried"
        if scene.was_given_up:
            yield f"{were}: the target failed, and would again."
        else:
            before = (
                "it was stopped before"
                if scene.was_stopped
                else "the budget ended before (a larger --budget tries them)"
            )
            yield f"{were}: {before}, and any of them may be the fastest."
    left_out = scene.not_tried - late
    if left_out > 0:
        was = "was" if left_out == 1 else "were"
        yield (
            f"{left_out} of the combinations of these values {was} left out: of so many, settings "
            f"are varied one after the other, and those {was} not tried."
        )


# The sentence.


def _longer_text(share: float) -> str:
    if share < 1:
        return f"takes {100 * share:.0f} % longer"
    return f"takes {1 + share:.1f} times as long"


def _step_text(row: Row) -> str:
    loading, training = row["loading_time_ns"], row["training_time_ns"]
    text = f"{_core.duration_text(round(loading + (training or 0)))} per step"
    if training is not None:
        text += f", {_core.duration_text(round(loading))} of it waiting for data"
    return text


def _sentence(settings: Sequence[Row], best: Row) -> str:
    first = settings[0]
    # As the others are named: by what differs. All keywords are in the line to paste.
    name: str = best["keywords"] if best["tried"] < 2 else first["setting"]
    if not best["keywords"]:
        name = "the target as it is"
    step = _step_text(first)
    late = best["not_tried"]
    untried = f"; {late} {'was' if late == 1 else 'were'} not tried: a larger --budget" * (late > 0)
    if best["tried"] < 2:
        runs = sum(row["loading_time_ns"] is not None for row in settings)
        if runs > 1:
            return (
                f"the {runs} runs have the same settings, so there is nothing to choose: {name}, "
                f"{step}"
            )
        return (
            f"{name} is the only setting that was measured, so there is nothing to compare it "
            f"with: {step}{untried}"
        )
    if best["not_told_apart"] is not None:
        return (
            f"not told apart: {best['not_told_apart']}; the times of each vary more than they "
            f"differ, so any may be the fastest (the first asks for least: {step}), and more "
            f"trials would tell{untried}"
        )
    # Nothing is said about what was not tried.
    is_all = best["not_tried"] + best["left_out"] == 0
    of = "" if is_all else f" of the {best['tried']} tried"
    more = best["as_good"]
    is_best = f"is the best{of} that asks for least" if more else f"is the fastest{of}"
    out = f"{name} {is_best}: {step}"
    if more == 1:
        out += "; 1 other setting is as fast and asks for more"
    elif more:
        out += f"; {more} other settings are as fast and ask for more"
    if best["next"] is not None:
        part = "sample" if best["by_sample"] else "step"
        out += f"; with {best['next']} a {part} {_longer_text(best['next_slower_share'])}"
    return f"{out}{untried}"
