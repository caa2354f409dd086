"""The scheduler of `stepscope sweep`: races whose best setting is known, with a clock of their own.

Noise is drawn the same way every time. What real trials do is in tests/recording/test_sweep.py.
"""

import itertools
import json
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from statistics import NormalDist
from typing import Any

import pytest

from stepscope import _core
from stepscope.errors import UsageError
from stepscope.sweep.answer import make_answer, setting_labels
from stepscope.sweep.command import main, values_of
from stepscope.sweep.race import NextTrial, Race, combinations
from stepscope.sweep.runner import Answer, Limits, Outcome, request_for
from stepscope.sweep.schedule import Plan, Scene, Schedule, Swept, usual_workers
from stepscope.sweep.scores import (
    SURE,
    Block,
    Score,
    Trial,
    Tried,
    Trouble,
    best_setting,
    chance_of_faster,
    counts_samples,
    score_of,
)
from stepscope.sweep.settings import NAMES, Settings, keywords_text

StepTime = Callable[[Settings], float]  # milliseconds, by setting


@dataclass
class FakeRunner:
    """Trials of made-up lengths, which take their time from a clock that stands still else."""

    step_ms: StepTime
    step_noise: float = 0.1
    trial_noise: float = 0.005
    starts: Sequence[float] = (2,)
    seed: int = 1
    takes: Sequence[str] = NAMES
    outcomes: Callable[[Settings], Outcome | None] = lambda given: None
    actual: Settings = field(default_factory=dict)
    memory_limit: int = 1 << 30
    stopped_by: int = 0
    now: float = 0

    def __post_init__(self) -> None:
        self._random = random.Random(self.seed)
        self._starts = itertools.cycle(self.starts)

    def last_lines(self, most: int) -> list[str]:
        return ["a line"]

    def run(
        self, given: Settings, keywords: list[str] | None, trial: NextTrial, limits: Limits
    ) -> Outcome:
        start = next(self._starts)
        out = self.outcomes(given) or Outcome()
        out.import_s, out.keywords = start, list(self.takes)
        if out.trouble is not None:
            self.now += start
            return out
        if start > limits.all_s:  # it is ended with the budget, and measured nothing
            self.now += limits.all_s
            return Outcome(trouble=Trouble.FAILED, import_s=start, was_cut=True)
        out.actual = dict(self.actual)
        out.trial = walk(self.step_ms(given), trial, self)
        out.wall_s = start + sum(b.loading_ns + b.training_ns for b in out.trial.blocks) / 1e9
        self.now += out.wall_s
        return out

    def noise(self, share: float) -> float:
        return self._random.gauss(1, share)


def walk(step_ms: float, trial: NextTrial, runner: FakeRunner) -> Trial:
    mean = step_ms * 1e6 * runner.noise(runner.trial_noise)
    out = Trial(length=10_000, trains=True)
    spent = 0.0
    while spent < trial.seconds * 1e9:
        length = mean * 8 * max(0.2, runner.noise(runner.step_noise))
        out.blocks.append(Block(8, int(length / 2), int(length / 2), 64))
        spent += length
        hopeless = trial.hopeless_ns is not None and mean / 8 > trial.hopeless_ns
        if len(out.blocks) >= 3 and hopeless:
            break
    return out


def sweep(choices: dict[str, list[int]], runner: FakeRunner, budget: float) -> Swept:
    plan = Plan("target:make", choices, budget, cpus=64)
    return Schedule(plan, runner, clock=lambda: runner.now).run()


def named(swept: Swept) -> Tried:
    best = best_setting(swept.tried)
    assert best is not None
    return swept.tried[best.place]


def by_workers(settings: Settings) -> float:
    return 10 + 80 / (1 + settings["num_workers"])


# The order.


def test_the_fastest_is_found_and_losers_have_one_trial() -> None:
    runner = FakeRunner(by_workers)
    swept = sweep({"num_workers": [0, 1, 2, 4, 8]}, runner, 120)
    best = best_setting(swept.tried)
    assert best is not None and best.confidence > SURE and not best.rivals
    assert named(swept).workers == 8
    assert [len(one.trials) for one in swept.tried][0] == 1
    assert len(named(swept).trials) >= 2
    assert runner.now < 120
    assert not swept.scene.sentences


def test_of_settings_as_fast_the_one_with_fewest_workers_is_named() -> None:
    for seed in range(5):
        runner = FakeRunner(lambda s: 12 if s["num_workers"] >= 4 else 40, 0.05, seed=seed)
        swept = sweep({"num_workers": [0, 2, 4, 8, 16]}, runner, 120)
        best = best_setting(swept.tried)
        assert best is not None and len(best.as_good) == 2
        assert named(swept).workers == 4


def test_on_a_busy_machine_at_most_one_in_twenty_is_sure_and_wrong() -> None:
    # Trials of one setting differ by more than the settings do.
    wrong_and_sure = unsure = 0
    for seed in range(60):
        runner = FakeRunner(
            lambda s: 20 if s["num_workers"] == 2 else 21.6, 0.3, trial_noise=0.2, seed=seed
        )
        swept = sweep({"num_workers": [0, 1, 2, 3]}, runner, 60)
        best = best_setting(swept.tried)
        assert best is not None and bool(best.rivals) == (best.confidence < SURE)
        unsure += bool(best.rivals)
        wrong_and_sure += not best.rivals and named(swept).workers != 2
    assert wrong_and_sure <= 3
    assert unsure >= 30


def test_on_a_quiet_machine_it_is_sure_in_time() -> None:
    # Steps vary, trials do not: a fifth is found, though each block of steps varies by more.
    for seed in range(8):
        runner = FakeRunner(lambda s: 20 if s["num_workers"] == 2 else 24, 0.3, seed=seed)
        swept = sweep({"num_workers": [0, 1, 2, 3]}, runner, 180)
        best = best_setting(swept.tried)
        assert best is not None and not best.rivals
        assert named(swept).workers == 2


@pytest.mark.parametrize("budget", [0.5, 3, 7, 20, 60])
def test_it_ends_within_its_budget(budget: float) -> None:
    runner = FakeRunner(by_workers, 0.3)
    swept = sweep({"num_workers": list(range(9))}, runner, budget)
    assert runner.now <= budget + 1  # a step is not cut
    if budget > 2:
        assert (swept.scene.not_tried > 0) == (budget < 20.5)
    else:
        assert swept.failure.startswith("the budget of 500 ms ended before a setting could be")


@pytest.mark.parametrize("budget", [95, 100, 119])
def test_where_starting_is_slow_each_has_a_trial_before_any_has_another(budget: float) -> None:
    # Three starts and hardly more, the last of them quicker than the others.
    times = {6: 20.0, 2: 44.0, 0: 100.0}
    runner = FakeRunner(lambda s: times[s["num_workers"]], starts=(30, 31, 24))
    swept = sweep({"num_workers": [0, 2, 6]}, runner, budget)
    assert swept.scene.out_of_time == 0
    assert named(swept).workers == 6
    assert [len(one.trials) for one in swept.tried] == [1, 1, 1]


def test_stages_that_it_did_not_come_to_are_out_of_time() -> None:
    choices = {"num_workers": [1, 2, 4, 8], "prefetch_factor": [2, 4, 8], "pin_memory": [0, 1]}
    swept = sweep(dict(choices), FakeRunner(by_workers), 14)
    assert swept.scene.out_of_time == 3  # one more way to pin, two more to prefetch
    assert any(text.startswith("The budget ended before") for text in swept.scene.sentences)
    assert sweep(dict(choices), FakeRunner(by_workers), 600).scene.out_of_time == 0


def test_many_combinations_are_varied_one_after_the_other() -> None:
    choices = {
        "num_workers": [0, 2, 4, 8],
        "prefetch_factor": [2, 4, 8],
        "pin_memory": [0, 1],
        "non_blocking": [0, 1],
        "persistent_workers": [0, 1],
    }
    assert len(combinations(choices)) == 4 + 3 * 3 * 8

    def step_ms(settings: Settings) -> float:  # copies that are not waited for need pinned memory
        pinned = settings["pin_memory"]
        copies = -3 if pinned and settings["non_blocking"] else 0
        prefetch = -2 if settings.get("prefetch_factor") == 4 else 0
        return by_workers(settings) + (0 if pinned else 4) + copies + prefetch

    runner = FakeRunner(step_ms)
    swept = sweep(choices, runner, 300)
    assert keywords_text(named(swept).given) == (
        "num_workers=8, pin_memory=True, non_blocking=True, prefetch_factor=4, "
        "persistent_workers=False"
    )
    assert len(swept.tried) <= 12
    assert swept.scene.not_tried > 60
    assert runner.now < 300


def test_without_workers_nothing_is_prefetched() -> None:
    found = combinations({"num_workers": [0, 2], "prefetch_factor": [2, 4]})
    assert [keywords_text(one) for one in found] == [
        "num_workers=0",
        "num_workers=2, prefetch_factor=2",
        "num_workers=2, prefetch_factor=4",
    ]


def test_what_asks_for_more_memory_than_one_that_had_none_is_not_tried() -> None:
    def outcomes(given: Settings) -> Outcome | None:
        if given["num_workers"] == 4:
            return Outcome(trouble=Trouble.MEMORY, why="stopped at 8 GiB")
        return None

    swept = sweep({"num_workers": [1, 4, 2, 8]}, FakeRunner(by_workers, outcomes=outcomes), 100)
    assert [one.why for one in swept.tried] == [
        *("", "stopped at 8 GiB", ""),
        "not tried: num_workers=4 was out of memory already",
    ]
    assert swept.tried[3].trouble is Trouble.SKIPPED
    assert swept.scene.not_tried == 0


def test_one_setting_is_measured_and_that_is_all() -> None:
    swept = sweep({"num_workers": [2]}, FakeRunner(by_workers), 60)
    assert [len(one.trials) for one in swept.tried] == [1]
    assert not swept.scene.sentences


def test_settings_of_one_loader_are_one_as_soon_as_they_are_seen() -> None:
    # The target does not pass pin_memory on.
    runner = FakeRunner(lambda s: 1, 0.3, actual={"pin_memory": 0})
    swept = sweep({"pin_memory": [1, 0]}, runner, 60)
    assert [len(one.trials) for one in swept.tried] == [2, 0]
    assert swept.tried[1].why == "the same loader as with pin_memory=True"
    assert swept.scene.not_tried == 0


def test_keywords_that_the_target_does_not_take_are_not_varied() -> None:
    runner = FakeRunner(by_workers, takes=("num_workers",))
    swept = sweep({"pin_memory": [0, 1], "num_workers": [2, 4]}, runner, 60)
    assert swept.scene.sentences == [
        "target:make takes no keyword pin_memory: pin_memory was not varied."
    ]
    assert [one.given for one in swept.tried] == [{"num_workers": 2}, {"num_workers": 4}]


def test_the_same_failure_twice_ends_the_sweep() -> None:
    numbers = itertools.count(100)

    def outcomes(given: Settings) -> Outcome:
        return Outcome(trouble=Trouble.FAILED, why=f"killed by signal 9, process {next(numbers)}")

    swept = sweep({"num_workers": [0, 1, 2]}, FakeRunner(by_workers, outcomes=outcomes), 60)
    assert swept.failure.startswith("killed by signal 9")
    assert swept.last_lines == ["a line"]
    assert swept.scene.was_given_up and swept.scene.out_of_time == 1


def test_when_nothing_is_varied_workers_are() -> None:
    assert usual_workers(1) == [0, 1]
    assert usual_workers(6) == [0, 1, 2, 4, 6]
    assert usual_workers(8) == [0, 1, 2, 4, 8]
    swept = sweep({}, FakeRunner(by_workers), 20)
    assert [one.given["num_workers"] for one in swept.tried] == usual_workers(64)


# Comparing.


def tried(*trials: Trial, workers: int = 2, given: Settings | None = None, **more: Any) -> Tried:
    return Tried(given or {"num_workers": workers}, trials=list(trials), **more)


def blocks(*lengths: int, count: int = 12) -> Trial:
    """Blocks of one step whose lengths go round these."""
    return Trial([Block(1, lengths[i % len(lengths)], 0, 8) for i in range(count)])


def score(one: Tried, by_sample: bool = False) -> Score:
    found = score_of(one, by_sample)
    assert found is not None
    return found


def test_the_beginning_of_a_pass_is_shared_out() -> None:
    trial = Trial([Block(2, 20, 80, 16)] * 2, [Block(1, 1010, 40, 8)], 100)
    found = score(tried(trial))
    assert (found.loading_ns, found.training_ns) == (20, 40)  # 10, and 1000 shared by 100 steps
    assert found.per_ns == 60
    # Workers that stay are started once; only a later pass says what theirs takes.
    assert score(tried(trial, given={"persistent_workers": 1})).loading_ns == 10
    again = Trial(trial.blocks, [*trial.firsts, Block(1, 110, 40, 8)], 100)
    assert score(tried(again, given={"persistent_workers": 1})).loading_ns == 11


def test_times_are_per_sample_where_samples_are_known() -> None:
    small, large = (tried(Trial([Block(2, 0, t, s)] * 2)) for t, s in ((100, 16), (160, 32)))
    assert counts_samples([small, large])
    best = best_setting([small, large])
    assert best is not None and best.fastest == 1
    unknown = tried(Trial([Block(2, 0, 160, None)]))
    assert not counts_samples([small, unknown])
    best = best_setting([small, unknown])
    assert best is not None and best.fastest == 0


def test_trials_that_differ_make_those_tried_once_unsure() -> None:
    def trial(mean: int) -> Trial:
        return blocks(mean, mean + 1, mean + 2)

    quiet = [tried(trial(100_000)), tried(trial(110_000))]
    best = best_setting(quiet)
    assert best is not None and (best.place, best.rivals) == (0, [])
    # A third, tried twice, shows that here trials differ by a third though nothing was changed.
    best = best_setting([*quiet, tried(trial(300_000), trial(450_000))])
    assert best is not None and best.confidence < SURE
    assert best.rivals == [1]


def test_chances_of_two_settings_add_up_to_one() -> None:
    def noisy(mean: int) -> Score:
        return score(tried(blocks(mean * 9 // 10, mean, mean * 11 // 10)))

    one, other = noisy(1000), noisy(1020)
    both = chance_of_faster(one, other, 0) + chance_of_faster(other, one, 0)
    assert both == pytest.approx(1, abs=0.02)
    assert chance_of_faster(one, other, 0) > 0.1
    assert chance_of_faster(one, noisy(2000), 0) < 1e-4
    assert chance_of_faster(noisy(2000), one, 0) > 1 - 1e-4


# Quantiles as tables have them: freedom, t, probability of more.
QUANTILES = [(1, 6.314, 0.05), (2, 4.303, 0.025), (5, 3.365, 0.01), (30, 2.042, 0.025)]


@pytest.mark.parametrize(("freedom", "t", "tail"), QUANTILES)
def test_tails_are_those_of_student(freedom: float, t: float, tail: float) -> None:
    assert _core.student_tail(t, freedom) == pytest.approx(tail, rel=2e-3)
    assert _core.student_tail(-t, freedom) == pytest.approx(1 - tail, rel=2e-3)
    normal = 1 - NormalDist().cdf(t)
    assert _core.student_tail(t, 1e9) == pytest.approx(normal, rel=1e-3)


# The answer.


def failed(workers: int, why: str) -> Tried:
    return tried(workers=workers, trouble=Trouble.FAILED, why=why)


def outcomes_of(found: Sequence[Tried], scene: Scene | None = None) -> list[str]:
    return [row["outcome"] for row in make_answer(found, scene or Scene()).settings]


def test_the_same_failure_is_said_once() -> None:
    found = [
        tried(blocks(1000, 1010, 990), workers=0),
        failed(2, "worker 17 was killed by signal 7 (bus error)"),
        failed(4, "worker 1234 was killed by signal 7 (bus error)"),
        failed(8, "raised OSError: no"),
    ]
    assert outcomes_of(found) == [
        "the only one measured",
        "worker 17 was killed by signal 7 (bus error)",
        "failed as the one above",
        "raised OSError: no",
    ]


def test_the_group_is_named_where_the_fastest_is_not_sure() -> None:
    found = [
        tried(blocks(1000, 5000, 200, 9000), workers=2),
        tried(blocks(900, 5200, 210, 8800), workers=4),
        tried(blocks(90_000, 91_000, 89_000), workers=0),
    ]
    answer = make_answer(found, Scene())
    assert answer.best[0]["not_told_apart"] == "num_workers=2; num_workers=4"
    assert answer.best[0]["confidence"] < SURE
    assert outcomes_of(found) == ["not told apart", "not told apart", "slower"]
    assert answer.sentence.startswith("not told apart: num_workers=2; num_workers=4; the times")


def test_the_one_that_asks_for_least_is_first_where_none_is_sure() -> None:
    # Batches of 8 are faster by the sample, and it is not known whether by enough.
    found = [
        tried(blocks(1000, 5000, 200, 9000), given={"num_workers": 3, "batch_size": 8}),
        tried(blocks(1100, 5600, 220, 9900), given={"num_workers": 3, "batch_size": 4}),
    ]
    answer = make_answer(found, Scene())
    assert answer.best[0]["not_told_apart"] == "batch_size=4; batch_size=8"
    assert answer.best[0]["keywords"] == "num_workers=3, batch_size=4"
    assert answer.settings[0]["setting"] == "batch_size=4"
    # None is called the best: they are compared with the fastest.
    assert answer.settings[0]["slower_share"] > 0 == answer.settings[1]["slower_share"]


def test_settings_are_named_by_what_they_were_asked_for() -> None:
    found = [tried(blocks(1000), workers=0), tried(blocks(500), workers=2)]
    found[0].actual, found[1].actual = {"num_workers": 0}, {"num_workers": 2, "prefetch_factor": 2}
    assert setting_labels(found) == ["num_workers=0", "num_workers=2"]
    # Of jobs that have run, by what differs; without workers there is nothing to prefetch.
    for one in found:
        one.given = {}
    assert setting_labels(found) == ["num_workers=0", "num_workers=2"]


def test_nothing_is_claimed_of_what_was_not_tried() -> None:
    found = [
        tried(blocks(1000, 1010, 990), workers=2, actual={"num_workers": 2, "batch_size": 8}),
        tried(blocks(2000, 2010), workers=0, actual={"num_workers": 0, "batch_size": 8}),
        tried(workers=6),
    ]
    scene = Scene(not_tried=1, out_of_time=1)
    answer = make_answer(found, scene)
    best = answer.best[0]
    assert (best["confidence"], best["tried"], best["not_tried"]) == (None, 2, 1)
    assert not answer.is_sure
    assert outcomes_of(found, scene) == ["fastest tried", "slower", "not tried: the budget ended"]
    # What the others have is no difference to one that never said.
    assert setting_labels(found) == ["num_workers=2", "num_workers=0", "num_workers=6"]


def job(workers: int, length: int, name: str) -> Tried:
    one = tried(blocks(length, length + 10), actual={"num_workers": workers}, job=name)
    one.given = {}
    return one


def test_jobs_of_one_setting_are_its_trials() -> None:
    alike = [job(4, 1000, "17"), job(4, 1300, "18")]
    answer = make_answer(alike, Scene())
    assert (answer.best[0]["tried"], answer.best[0]["not_told_apart"]) == (1, None)
    assert outcomes_of(alike) == ["the only one measured", "the only one measured"]
    assert answer.sentence.startswith("the 2 runs have the same settings, so there is nothing to")
    # Among others, they say how much trials differ.
    three = [job(4, 1000, "17"), job(0, 9000, "19"), job(4, 1020, "18")]
    assert make_answer(three, Scene()).best[0]["tried"] == 2
    assert outcomes_of(three) == ["best", "best", "slower"]
    assert [row["job"] for row in make_answer(three, Scene()).settings] == ["17", "18", "19"]
    assert [len(one.trials) for one in three] == [1, 1, 1], "they are left as they were"


def test_jobs_with_more_workers_than_cpus_are_warned_of() -> None:
    jobs = [job(2, 1000, "16"), job(4, 900, "17"), job(6, 800, "18")]
    jobs[1].job_cpus, jobs[2].job_cpus = 2, 16
    (remark,) = make_answer(jobs, Scene()).remarks
    assert remark.startswith("Job 17 ran 4 workers and a rank of it had 2 CPUs: more workers than")
    jobs[1].job_cpus = 4
    assert make_answer(jobs, Scene()).remarks == []


def test_memory_and_storage_are_warned_of() -> None:
    found = [
        tried(blocks(1000), workers=0, peak_bytes=3 << 30),
        tried(blocks(500), workers=2, shared_bytes=1 << 30),
    ]
    found[0].trials[0].storage_bytes, found[1].trials[0].storage_bytes = 1 << 30, 0
    texts = make_answer(found, Scene(memory_limit=4 << 30, shared_limit=1 << 30)).remarks
    assert texts[0].startswith(
        "More than half of the memory that trials were allowed (4.0 GiB): num_workers=0 (3.0 GiB)."
    )
    assert texts[1].startswith("More than half of /dev/shm (1.0 GiB): num_workers=2 (1.0 GiB).")
    assert texts[2].startswith("The first trial read its data from storage and the others found")


def test_nothing_is_certain() -> None:
    found = [tried(blocks(1000), workers=2), tried(blocks(900_000), workers=4)]
    assert make_answer(found, Scene()).best[0]["confidence"] == 0.9999


def test_the_page_shows_the_answer() -> None:
    found = [tried(blocks(1_000_000), workers=2), tried(blocks(2_500_000), workers=4)]
    answer = make_answer(found, Scene())
    page = _core.SweepPage(
        answer.sentence, [("Spent", "1 s", False)], ["Mind this."], answer.settings, answer.best
    )
    text = page.text(100, False, False)
    assert text.startswith(
        "num_workers=2 is the fastest: 1.00 ms per step; with num_workers=4 a sample takes 2.5 "
    )
    assert "Mind this." in text and "Spent" in text and "this page with a chart" in text
    assert "this page with a chart" not in page.md(True)
    assert "<svg" in page.html()
    settings, best = page.tables()
    assert settings.csv().splitlines()[1].startswith("num_workers=2,2,,,")
    assert best.csv().splitlines()[1] == "num_workers=2,0.9999,1.5,num_workers=4,0,true,,2,0,0"


# Trials and words.


def test_the_lines_of_a_trial() -> None:
    answer = Answer()
    lines = (
        "takes num_workers|setting num_workers 2|setting colour 3|length 100|trains|first 1 5 6 8"
    )
    for line in f"{lines}|block 2 3 4 -1|block nonsense|unknown|storage 77|end".split("|"):
        answer.take(line, 1.5)
    out = answer.outcome
    assert (out.import_s, out.keywords, out.actual) == (1.5, ["num_workers"], {"num_workers": 2})
    assert (out.trial.length, out.trial.storage_bytes, out.trial.trains) == (100, 77, True)
    assert out.trial.firsts == [Block(1, 5, 6, 8)]
    assert out.trial.blocks == [Block(2, 3, 4, None)]
    assert answer.has_ended and answer.phase == "after the first batch"


def test_what_a_trial_is_asked() -> None:
    given = {"num_workers": 0, "pin_memory": 1}
    request = request_for("t:make", given, NAMES, NextTrial(1.5, by_sample=False))
    assert request["keywords"] == {
        "num_workers": 0,
        "pin_memory": True,
        "prefetch_factor": None,  # torch refuses them without workers
        "persistent_workers": False,
    }


def test_lists_of_values() -> None:
    assert values_of("num_workers", "0,2,4-6", "--num-workers") == [0, 2, 4, 5, 6]
    assert values_of("pin_memory", "True,no", "--pin-memory") == [1, 0]
    wrong = {"num_workers": "2,x", "prefetch_factor": "0", "batch_size": "1-1000"}
    for name, text in {**wrong, "pin_memory": "true,maybe"}.items():
        with pytest.raises(UsageError, match="is not a list"):
            values_of(name, text, f"--{name}")


WRONG: list[tuple[list[str], dict[str, str], str]] = [
    ([], {}, "say what to sweep: dataloader"),
    (["loader", "t:make"], {}, "'loader': only dataloader can be swept"),
    (["dataloader"], {}, "no target given: module:function"),
    (["dataloader", "target"], {}, "'target' is not module:function"),
    (["dataloader", ":make"], {}, "':make' is not module:function"),
    (["dataloader", "t:make", "o:make"], {}, "'o:make': one target at a time"),
    (["dataloader"], {"from": ""}, "--from needs runs"),
    (["dataloader", "t:make"], {"num-workers": "2,x"}, "--num-workers: '2,x' is not a list of"),
    (["dataloader", "t:make"], {"budget": "2d"}, "--budget: '2d' is not a length of time"),
    (["dataloader", "t:make"], {"budget": "0"}, "--budget: '0' is not a length of time"),
]


@pytest.mark.parametrize(("words", "options", "why"), WRONG)
def test_wrong_words_start_nothing(
    words: list[str], options: dict[str, str], why: str, capfd: pytest.CaptureFixture[str]
) -> None:
    given = {name: [text, f"--{name}"] for name, text in options.items()}
    request = {"words": words, "options": given, "python": "/nowhere", "cpus": 1, "jobs": 1}
    look = {"width": 100, "colour": False, "progress": False, "quiet": False}
    assert main(json.dumps({**request, **look, "max_memory": 1 << 30})) == 2
    out, err = capfd.readouterr()
    assert out == ""
    assert err.startswith(f"stepscope: {why}")
    assert "`stepscope sweep --help` shows examples" in err


def test_a_race_asks_in_turns() -> None:
    # The second round is in the reverse order, so that drift hits all alike.
    def places() -> Iterator[int]:
        race = Race({"num_workers": [1, 2, 3]})
        runner = FakeRunner(lambda s: 20)
        for left in range(100, 40, -10):
            trial = race.next(left, 1)
            if trial is None:
                return
            yield race.last.workers
            race.take(walk(20, trial, runner))

    assert list(places()) == [1, 2, 3, 3, 2, 1]
