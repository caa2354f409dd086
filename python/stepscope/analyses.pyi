"""Made by tools/make_stubs.py from the descriptors of the analyses."""

from collections.abc import Iterable, Mapping
from datetime import timedelta
from typing import Any, Literal

from stepscope import _core
from stepscope.table import Answer

Numbers = int | Iterable[int] | None
Duration = int | str | timedelta

def descriptors() -> list[dict[str, Any]]: ...
def python_name(name: str) -> str: ...
def option_text(parameter: Mapping[str, Any], value: object) -> str: ...
def numbers(value: Numbers, name: str) -> list[int]: ...
def docstring(about: Mapping[str, Any]) -> str: ...

class Analyses:
    _core: _core.Recording
    def ask(
        self, analysis: str, *, ranks: Numbers = None, steps: Numbers = None, **options: Any
    ) -> Answer: ...
    def overview(
        self,
        *,
        ranks: Numbers = None,
        steps: Numbers = None,
    ) -> Answer:
        r"""How long are the steps, where does their time go, how busy are the GPUs?

        Args:
            ranks: these ranks only; all when left out.
            steps: these steps only, by number.

        Returns:
            Tables:
            run: the run.
            ranks: one rank.
            devices: one device of one rank.

        Example:
            >>> list(run.overview().tables)
            ['run', 'ranks', 'devices']
        """
    def program(
        self,
        *,
        ranks: Numbers = None,
        steps: Numbers = None,
    ) -> Answer:
        r"""Is the program compiled, replayed as graphs, trained, and on which devices?

        Args:
            ranks: these ranks only; all when left out.
            steps: these steps only, by number.

        Returns:
            Tables:
            ranks: one rank.
            devices: one device of one rank that did something.
            calls: one call into the runtime or driver, the longest first.
            sizes: what a size is, where shapes of inputs prove it.

        Example:
            >>> list(run.program().tables)
            ['ranks', 'devices', 'calls', 'sizes']
        """
    def time(
        self,
        *,
        ranks: Numbers = None,
        steps: Numbers = None,
        top: int | None = None,
        depth: int | None = None,
        slowest: int | None = None,
    ) -> Answer:
        r"""Where does the program say its time goes, and how long does every step take?

        Args:
            ranks: these ranks only; all when left out.
            steps: these steps only, by number.
            top: ranges per rank, the longest. 0: all. Default 40.
            depth: levels of ranges inside of ranges. 0: all. Default 0.
            slowest: slowest steps per rank. 0: all steps. Default 5.

        Returns:
            Tables:
            ranges: a range below the one it was entered in, the longest first.
            across: the same range on all ranks; without rows for a single rank.
            times: the steps of one rank.
            steps: one step of one rank.
            slowest: the steps of a rank that took longest.

        Example:
            >>> list(run.time().tables)
            ['ranges', 'across', 'times', 'steps', 'slowest']
        """
    def log(
        self,
        *,
        ranks: Numbers = None,
        steps: Numbers = None,
        level: Literal["debug", "info", "warning", "error", "critical"] | None = None,
        top: int | None = None,
    ) -> Answer:
        r"""What did the run say, and in which step?

        Args:
            ranks: these ranks only; all when left out.
            steps: these steps only, by number.
            level: lines of this level and above. One of debug, info, warning, error, critical. Default debug.
            top: lines per rank, the first. 0: all. Default 20.

        Returns:
            Tables:
            levels: lines of one level on one rank, the worst level first.
            lines: one line of the log, the first first.

        Example:
            >>> list(run.log().tables)
            ['levels', 'lines']
        """
    def throughput(
        self,
        *,
        ranks: Numbers = None,
        steps: Numbers = None,
        points: int | None = None,
    ) -> Answer:
        r"""How many iterations and samples a second, in training and validation?

        Args:
            ranks: these ranks only; all when left out.
            steps: these steps only, by number.
            points: stretches of time in the curve of each phase. 0: no curve. Default 100.

        Returns:
            Tables:
            phases: one phase of one rank.
            job: one phase of all ranks.
            series: a stretch of time of one phase of one rank.
            saves: the checkpoints that one rank saved; without rows where none was seen.

        Example:
            >>> list(run.throughput().tables)
            ['phases', 'job', 'series', 'saves']
        """
    def loader(
        self,
        *,
        ranks: Numbers = None,
        steps: Numbers = None,
        min_wait: Duration | None = None,
    ) -> Answer:
        r"""Does the data loader keep up, and if not, which worker was late, and why?

        Args:
            ranks: these ranks only; all when left out.
            steps: these steps only, by number.
            min_wait: a shorter wait is none: taking a batch that is there takes a moment too. Nanoseconds, text such as "30us", or a timedelta. Default 1ms.

        Returns:
            Tables:
            loaders: one loader of one rank in one phase.
            workers: one worker of a loader.
            steps: one step of one rank, and the batch it waited for longest.

        Example:
            >>> list(run.loader().tables)
            ['loaders', 'workers', 'steps']
        """
    def model(
        self,
        *,
        ranks: Numbers = None,
        steps: Numbers = None,
        depth: int | None = None,
    ) -> Answer:
        r"""How large is the model, and where are its parameters and multiplications?

        Args:
            ranks: these ranks only; all when left out.
            steps: these steps only, by number.
            depth: levels of layers inside of layers. 0: all. Default 0.

        Returns:
            Tables:
            summary: the model of one rank.
            layers: a layer below the one it is part of; sums are with the layers inside it.

        Example:
            >>> list(run.model().tables)
            ['summary', 'layers']
        """
    def system(
        self,
        *,
        ranks: Numbers = None,
        steps: Numbers = None,
        window: Duration | None = None,
        points: int | None = None,
    ) -> Answer:
        r"""What did processors, memory, GPUs, disks and network do meanwhile?

        Args:
            ranks: these ranks only; all when left out.
            steps: these steps only, by number.
            window: stretch of time over which the load of processors, disks and networks is counted. 0: from sample to sample. Nanoseconds, text such as "30us", or a timedelta. Default 1s.
            points: points of a curve over time. 0: no curves. Default 300.

        Returns:
            Tables:
            machines: one machine over the whole run.
            gpus: one GPU of the job over the whole run.
            processes: the processes of one rank over the whole run.
            traffic: one disk or network interface.
            file_systems: how full one file system of a machine was.
            missing: something that could not be seen, the first first.
            cores: one processor of a machine.
            steps: one step of one rank, by the samples within it.
            load: how busy a device was, over time.
            memory: how much memory was in use, over time.

        Example:
            >>> list(run.system().tables)
            ['machines', 'gpus', 'processes', 'traffic', 'file_systems', 'missing', 'cores', 'steps', 'load', 'memory']
        """
    def energy(
        self,
        *,
        ranks: Numbers = None,
        steps: Numbers = None,
        grams_per_kwh: float | str | None = None,
        samples_per_step: int | None = None,
        top: int | None = None,
        points: int | None = None,
    ) -> Answer:
        r"""How many joules does the run take: by device, step and range?

        Args:
            ranks: these ranks only; all when left out.
            steps: these steps only, by number.
            grams_per_kwh: CO2 of the electricity, in grams per kWh, for co2_grams. 0: not known. Default 0.
            samples_per_step: samples that all ranks together train on in a step, for joules_per_sample. 0: as many as watched loaders gave. Default 0.
            top: ranges per rank, the longest. 0: all. Default 40.
            points: points of a curve over time. 0: no curves. Default 300.

        Returns:
            Tables:
            run: all machines together, over the sampled time.
            devices: one part of a machine that tells its energy or power.
            steps: one step of one rank.
            phases: a range below the one it was entered in, the longest first.
            power: the power a device drew, over time.

        Example:
            >>> list(run.energy().tables)
            ['run', 'devices', 'steps', 'phases', 'power']
        """
    def steps(
        self,
        *,
        ranks: Numbers = None,
        steps: Numbers = None,
        definition: Literal["stepscope", "tensorboard"] | None = None,
        outlier_deviations: int | None = None,
        outlier_share: float | str | None = None,
    ) -> Answer:
        r"""Where does the time of a step go, and which steps are slow?

        Args:
            ranks: these ranks only; all when left out.
            steps: these steps only, by number.
            definition: whose rules: ours, or those of TensorBoard's PyTorch plugin. One of stepscope, tensorboard. Default stepscope.
            outlier_deviations: a step is an outlier when it is this many median deviations above the median. Default 5.
            outlier_share: and at least this share of the median above it. 0 to 1, or text such as "20%". Default 10%.

        Returns:
            Tables:
            parts: one part of the average step of one rank.
            times: the step times of one rank.
            steps: one step of one rank.
            outliers: a step that took much longer than usual on its rank, the longest first.

        Example:
            >>> list(run.steps().tables)
            ['parts', 'times', 'steps', 'outliers']
        """
    def dataloader(
        self,
        *,
        ranks: Numbers = None,
        steps: Numbers = None,
    ) -> Answer:
        r"""How long does the training loop wait for data, and is the GPU idle meanwhile?

        Args:
            ranks: these ranks only; all when left out.
            steps: these steps only, by number.

        Returns:
            Tables:
            ranks: one rank.
            steps: one step of one rank.
            loaders: one loader of one rank.
            workers: one recorded thread that loads data, or a worker process that stepscope recorded.

        Example:
            >>> list(run.dataloader().tables)
            ['ranks', 'steps', 'loaders', 'workers']
        """
    def temporal_breakdown(
        self,
        *,
        ranks: Numbers = None,
        steps: Numbers = None,
        within: Literal["steps", "work"] | None = None,
    ) -> Answer:
        r"""How much of the time does each GPU compute, communicate, copy, or wait?

        Args:
            ranks: these ranks only; all when left out.
            steps: these steps only, by number.
            within: what is measured: the steps, or from the first to the last device event. One of steps, work. Default steps.

        Returns:
            Tables:
            devices: one device of one rank.
            steps: one step on one device.
            run: all devices of all ranks, their times added.

        Example:
            >>> list(run.temporal_breakdown().tables)
            ['devices', 'steps', 'run']
        """
    def idle_time(
        self,
        *,
        ranks: Numbers = None,
        steps: Numbers = None,
        delay: Duration | None = None,
        within: Literal["steps", "work"] | None = None,
        definition: Literal["stepscope", "hta"] | None = None,
        top: int | None = None,
    ) -> Answer:
        r"""Why is the GPU waiting, and for what?

        Args:
            ranks: these ranks only; all when left out.
            steps: these steps only, by number.
            delay: a shorter gap before work that was already queued is the device's own pause. Nanoseconds, text such as "30us", or a timedelta. Default 30us.
            within: what is measured: the steps, or from the first to the last device event. One of steps, work. Default steps.
            definition: hta: host, kernel and other only, from the first to the last work of each stream. One of stepscope, hta. Default stepscope.
            top: host operations and gaps per rank. 0: all. Default 20.

        Returns:
            Tables:
            devices: one device of one rank.
            streams: one stream of one device.
            steps: one step on one device.
            host_ops: one host operation that kept the devices of a rank waiting, the worst first.
            queued: work that was launched and did not begin, and the trace does not say why, the worst first.
            stops: one device: how it stopped while it had work.
            gaps: one wait of one device, the longest first.

        Example:
            >>> list(run.idle_time().tables)
            ['devices', 'streams', 'steps', 'host_ops', 'queued', 'stops', 'gaps']
        """
    def cpu(
        self,
        *,
        ranks: Numbers = None,
        steps: Numbers = None,
        top: int | None = None,
        within: Literal["steps", "work"] | None = None,
    ) -> Answer:
        r"""What did the host do while the GPU had nothing to do?

        Args:
            ranks: these ranks only; all when left out.
            steps: these steps only, by number.
            top: rows of each table per rank; the rest is one row. 0: all. Default 20.
            within: what is measured: the steps, or from the first to the last device event. One of steps, work. Default steps.

        Returns:
            Tables:
            operators: one thing the host was in while a GPU waited, the longest first.
            frames: one Python function the host was in while a GPU waited.
            paths: one chain of Python functions the host was in while a GPU waited.
            ends: what launched the work that ended the waits.
            threads: one thread of the host.

        Example:
            >>> list(run.cpu().tables)
            ['operators', 'frames', 'paths', 'ends', 'threads']
        """
    def stalls(
        self,
        *,
        ranks: Numbers = None,
        steps: Numbers = None,
        delay: Duration | None = None,
        pause: Duration | None = None,
        top: int | None = None,
    ) -> Answer:
        r"""What on the host keeps the GPU waiting, and where is it in the code?

        Args:
            ranks: these ranks only; all when left out.
            steps: these steps only, by number.
            delay: a shorter gap before work that was already queued is the device's own pause. Nanoseconds, text such as "30us", or a timedelta. Default 30us.
            pause: at least this with nothing recorded on the host is a pause, if it fills half of the wait. Nanoseconds, text such as "30us", or a timedelta. Default 2ms.
            top: places of each sort per rank. 0: all. Default 5.

        Returns:
            Tables:
            kinds: one kind of stall on one rank.
            steps: one kind of stall in one step.
            places: one place in the program that keeps the GPU waiting, the worst of each sort first.
            calls: one call that takes memory from the driver, loads code or makes streams.
            profiler-overhead: what was recorded on the host of one rank, and what it takes to record it.

        Example:
            >>> list(run.stalls().tables)
            ['kinds', 'steps', 'places', 'calls', 'profiler-overhead']
        """
    def host_work(
        self,
        *,
        ranks: Numbers = None,
        steps: Numbers = None,
        top: int | None = None,
    ) -> Answer:
        r"""What does the CPU work on itself while it gives the GPU nothing to compute?

        Args:
            ranks: these ranks only; all when left out.
            steps: these steps only, by number.
            top: operators of each task per rank. 0: all. Default 5.

        Returns:
            Tables:
            tasks: one task of the host on one rank.
            operators: one operator that works on the CPU, the longest of each task first.
            signs: one rank: what settings that make launching slower leave in a trace.

        Example:
            >>> list(run.host_work().tables)
            ['tasks', 'operators', 'signs']
        """
    def kernel_types(
        self,
        *,
        ranks: Numbers = None,
        steps: Numbers = None,
        within: Literal["steps", "work"] | None = None,
    ) -> Answer:
        r"""What kinds of work keep the GPU busy, and which of them run at the same time?

        Args:
            ranks: these ranks only; all when left out.
            steps: these steps only, by number.
            within: what is measured: the steps, or from the first to the last device event. One of steps, work. Default steps.

        Returns:
            Tables:
            devices: one set of classes on one device, the longest first.
            run: one set of classes, the times of all devices added.

        Example:
            >>> list(run.kernel_types().tables)
            ['devices', 'run']
        """
    def operators(
        self,
        *,
        ranks: Numbers = None,
        steps: Numbers = None,
        top: int | None = None,
        frames: int | None = None,
    ) -> Answer:
        r"""Which operators take the time, on the host and on the GPU?

        Args:
            ranks: these ranks only; all when left out.
            steps: these steps only, by number.
            top: rows of each table per rank; the rest is one row. 0: all. Default 20.
            frames: innermost Python frames that make a call stack in the table stacks. 0: all. Default 4.

        Returns:
            Tables:
            operators: operators of one name on one rank, the longest on the device first.
            shapes: operators of one name with inputs of the same shapes and types.
            stacks: operators of one name called from one place.
            tensor_cores: device work of operators that multiply matrices, or of the others.

        Example:
            >>> list(run.operators().tables)
            ['operators', 'shapes', 'stacks', 'tensor_cores']
        """
    def kernels(
        self,
        *,
        ranks: Numbers = None,
        steps: Numbers = None,
        top: int | None = None,
        memory: bool | None = None,
    ) -> Answer:
        r"""Which kernels take the GPU's time?

        Args:
            ranks: these ranks only; all when left out.
            steps: these steps only, by number.
            top: names per rank; the rest is one row. 0: all. Default 20.
            memory: list copies and memsets too. Default false.

        Returns:
            Tables:
            kernels: one name on one rank, the longest first.

        Example:
            >>> list(run.kernels().tables)
            ['kernels']
        """
    def kernel_durations(
        self,
        *,
        ranks: Numbers = None,
        steps: Numbers = None,
        top: int | None = None,
        memory: bool | None = None,
    ) -> Answer:
        r"""How much do the runs of a kernel differ, and is a rank slower than the others?

        Args:
            ranks: these ranks only; all when left out.
            steps: these steps only, by number.
            top: names, those with most time over all ranks. 0: all. Default 20.
            memory: copies and memsets too. Default false.

        Returns:
            Tables:
            names: one name over all ranks, the longest first.
            ranks: one of these names on one rank.
            histogram: runs of one of these names with lengths in one range, over all ranks.

        Example:
            >>> list(run.kernel_durations().tables)
            ['names', 'ranks', 'histogram']
        """
    def roofline(
        self,
        *,
        ranks: Numbers = None,
        steps: Numbers = None,
        top: int | None = None,
        latency: Duration | None = None,
    ) -> Answer:
        r"""How near do operators and kernels come to what the GPU can do?

        Args:
            ranks: these ranks only; all when left out.
            steps: these steps only, by number.
            top: rows of a table per rank, the longest. 0: all. Default 20.
            latency: calls shorter than this that are far below both roofs are bound by latency. Nanoseconds, text such as "30us", or a timedelta. Default 10us.

        Returns:
            Tables:
            operators: calls of one operator with inputs of one shape, the longest on the device first.
            kernels: one kernel launched by one operator, the longest first.
            devices: one device of one rank and what it can do at best, without sparsity.

        Example:
            >>> list(run.roofline().tables)
            ['operators', 'kernels', 'devices']
        """
    def mfu(
        self,
        *,
        ranks: Numbers = None,
        steps: Numbers = None,
        causal: Literal["half", "full"] | None = None,
    ) -> Answer:
        r"""How much of what the GPU could compute does training use?

        Args:
            ranks: these ranks only; all when left out.
            steps: these steps only, by number.
            causal: causal attention counts the pairs its mask lets through, or all of them. One of half, full. Default half.

        Returns:
            Tables:
            steps: one step of one rank, then all of them.
            types: one kind of arithmetic on one rank.
            unknown: operators whose model FLOPs are not known, the longest first.
            profiler: an operator the profiler counted, beside our count; torch writes no counts into its files.

        Example:
            >>> list(run.mfu().tables)
            ['steps', 'types', 'unknown', 'profiler']
        """
    def overlap(
        self,
        *,
        ranks: Numbers = None,
        steps: Numbers = None,
        within: Literal["steps", "work"] | None = None,
    ) -> Answer:
        r"""How much of the communication is hidden under computing, and which is not?

        Args:
            ranks: these ranks only; all when left out.
            steps: these steps only, by number.
            within: what is measured: the steps, or from the first to the last device event. One of steps, work. Default steps.

        Returns:
            Tables:
            devices: one device of one rank.
            collectives: one collective of one group on one device, the most exposed first.
            steps: one step on one device.
            host: one collective that the CPU carries out (gloo, MPI), all threads of a rank together.
            uses: what communication is for, all devices of a rank together, the most exposed first.

        Example:
            >>> list(run.overlap().tables)
            ['devices', 'collectives', 'steps', 'host', 'uses']
        """
    def annotations(
        self,
        *,
        ranks: Numbers = None,
        steps: Numbers = None,
        top: int | None = None,
        with_steps: bool | None = None,
    ) -> Answer:
        r"""How long do the ranges named in the code take, on the host and on the GPU?

        Args:
            ranks: these ranks only; all when left out.
            steps: these steps only, by number.
            top: names per rank, the longest on the host. 0: all. Default 30.
            with_steps: the marks of the steps too. Default false.

        Returns:
            Tables:
            annotations: ranges of one name on one rank.

        Example:
            >>> list(run.annotations().tables)
            ['annotations']
        """
    def modules(
        self,
        *,
        ranks: Numbers = None,
        steps: Numbers = None,
        top: int | None = None,
        depth: int | None = None,
        by: Literal["instance", "class"] | None = None,
        from_: Literal["auto", "python", "hierarchy", "lightning", "ranges"] | None = None,
    ) -> Answer:
        r"""Which parts of the model take the time, forward and backward?

        Args:
            ranks: these ranks only; all when left out.
            steps: these steps only, by number.
            top: modules per rank, those with most GPU time. 0: all. Default 40.
            depth: levels of modules inside of modules. 0: all. Default 0.
            by: a row is one module object, or all objects of a class below the same parents. One of instance, class. Default instance.
            from_: what names the modules: Python frames (with_stack=True), TorchScript's module hierarchy (with_modules=True), Lightning's ranges, or all ranges of the user; auto: the first of the first three that is there. One of auto, python, hierarchy, lightning, ranges. Default auto.

        Returns:
            Tables:
            modules: a module below the one that called it, the longest first.

        Example:
            >>> list(run.modules().tables)
            ['modules']
        """
    def stacks(
        self,
        *,
        ranks: Numbers = None,
        steps: Numbers = None,
        metric: Literal["host", "device"] | None = None,
        threads: Literal["together", "apart", "main"] | None = None,
        top: int | None = None,
        frames: int | None = None,
        depth: int | None = None,
        no_python: bool | None = None,
        no_ranges: bool | None = None,
        no_operators: bool | None = None,
        no_calls: bool | None = None,
        no_kernels: bool | None = None,
    ) -> Answer:
        r"""Which code takes the host's time, and which code launches the GPU's work?

        Args:
            ranks: these ranks only; all when left out.
            steps: these steps only, by number.
            metric: host: time of the calling threads; device: time of the GPU work the stacks launched, with the kernels at their ends. One of host, device. Default host.
            threads: together: equal stacks of all threads are one; apart: a frame for each thread below its stacks; main: only the thread that runs the steps. One of together, apart, main. Default together.
            top: stacks per rank, the longest; the rest is one row. 0: all. Default 100.
            frames: rows of the table frames per rank, the longest. 0: all, as flame graphs need them. Default 0.
            depth: frames of a stack at most; the time of those further in counts for the last. 0: all. Default 200.
            no_python: leave out Python frames. Default false.
            no_ranges: leave out the ranges named by the user. Default false.
            no_operators: leave out operators. Default false.
            no_calls: leave out calls into the runtime and driver. Default false.
            no_kernels: with --metric device: leave out kernels and copies; their time stays with their launch. Default false.

        Returns:
            Tables:
            stacks: a stack, the longest first.
            frames: a stack below the one that called it, the longest first.

        Example:
            >>> list(run.stacks().tables)
            ['stacks', 'frames']
        """
    def loop(
        self,
        *,
        ranks: Numbers = None,
        steps: Numbers = None,
        top: int | None = None,
    ) -> Answer:
        r"""What does the thread that trains do in each step?

        Args:
            ranks: these ranks only; all when left out.
            steps: these steps only, by number.
            top: rows of operators and functions per rank. 0: all. Default 20.

        Returns:
            Tables:
            parts: one part of the average step of one rank, on the thread that trains.
            names: operators that no operator called, and ranges, by name and part.
            functions: one function of Python; without rows where none was recorded.
            steps: the steps of one rank.
            interruptions: operators of one rank that stopped in the middle, its threads together.

        Example:
            >>> list(run.loop().tables)
            ['parts', 'names', 'functions', 'steps', 'interruptions']
        """
    def patterns(
        self,
        *,
        ranks: Numbers = None,
        steps: Numbers = None,
        operator: str | None = None,
        roots: Literal["outermost", "shallowest"] | None = None,
        min_length: int | None = None,
        min_count: int | None = None,
        top: int | None = None,
        longest: int | None = None,
        shorter_than: Duration | None = None,
        most_gap: Duration | None = None,
        kernel_cost: Duration | None = None,
    ) -> Answer:
        r"""Which kernels always follow each other, and what would fusing them save?

        Args:
            ranks: these ranks only; all when left out.
            steps: these steps only, by number.
            operator: sequences under operators and ranges whose name holds this; empty: under every operator.
            roots: of matches inside each other: outermost takes each that is in no other; shallowest, as HTA, only those with the fewest events around them. One of outermost, shallowest. Default outermost.
            min_length: kernels a sequence under an operator has at least. Default 3.
            min_count: how often a sequence comes at least. Default 2.
            top: rows per rank and table; of chains five times as many. 0: all. Default 10.
            longest: kernels of a sequence worth fusing, at most; up to 256. Default 32.
            shorter_than: only kernels up to this length are worth fusing. 0: of any length. Nanoseconds, text such as "30us", or a timedelta. Default 0.
            most_gap: a longer gap before a kernel is not the cost of its launch; only this much of it counts. Nanoseconds, text such as "30us", or a timedelta. Default 50us.
            kernel_cost: what a kernel takes that does nothing. Nanoseconds, text such as "30us", or a timedelta. Default 2us.

        Returns:
            Tables:
            sequences: device work one operator starts, in its order, the longest on the device first.
            fusions: kernels that follow each other again and again and could be one, the largest saving first.
            chains: elementwise kernels, and reductions between them, that follow each other directly, the largest saving first.

        Example:
            >>> list(run.patterns().tables)
            ['sequences', 'fusions', 'chains']
        """
    def attention(
        self,
        *,
        ranks: Numbers = None,
        steps: Numbers = None,
    ) -> Answer:
        r"""Is attention computed piece by piece, and what does that take?

        Args:
            ranks: these ranks only; all when left out.
            steps: these steps only, by number.

        Returns:
            Tables:
            pieces: attention in pieces over scores of one size, the longest first.
            fused: an operator that computes attention in one kernel.

        Example:
            >>> list(run.attention().tables)
            ['pieces', 'fused']
        """
    def autotuning(
        self,
        *,
        ranks: Numbers = None,
        steps: Numbers = None,
        kernels: int | None = None,
        kinds: int | None = None,
        top: int | None = None,
    ) -> Answer:
        r"""Do convolutions try out algorithms while training goes on?

        Args:
            ranks: these ranks only; all when left out.
            steps: these steps only, by number.
            kernels: that a call starts at least when it searches. Default 16.
            kinds: of different names among them, at least. Default 6.
            top: searches per rank, the longest. 0: all. Default 100.

        Returns:
            Tables:
            ranks: one rank.
            searches: one search, the longest first.

        Example:
            >>> list(run.autotuning().tables)
            ['ranks', 'searches']
        """
    def counters(
        self,
        *,
        ranks: Numbers = None,
        steps: Numbers = None,
        by: Literal["operator", "outermost", "kernel"] | None = None,
        counter: str | None = None,
    ) -> Answer:
        r"""What did the GPU's own counters count, and for which operators?

        Args:
            ranks: these ranks only; all when left out.
            steps: these steps only, by number.
            by: whose counters are added: the innermost operator's, the outermost one's, or the kernel's. One of operator, outermost, kernel. Default operator.
            counter: only counters whose name holds this; empty: all.

        Returns:
            Tables:
            counters: one counter of one owner on one rank.
            flops: the floating-point operations of one owner, the most first.

        Example:
            >>> list(run.counters().tables)
            ['counters', 'flops']
        """
    def launches(
        self,
        *,
        ranks: Numbers = None,
        steps: Numbers = None,
        short: Duration | None = None,
        kernels_only: bool | None = None,
        top: int | None = None,
        each: bool | None = None,
    ) -> Answer:
        r"""What does it cost to start work on the GPU, and how long does work wait to run?

        Args:
            ranks: these ranks only; all when left out.
            steps: these steps only, by number.
            short: a kernel below this length is short. Nanoseconds, text such as "30us", or a timedelta. Default 10us.
            kernels_only: leave out copies and memsets. Default false.
            top: kernels per rank. 0: all. Default 20.
            each: list every single launch too. Default false.

        Returns:
            Tables:
            ranks: one rank.
            calls: one sort of call, the costliest first.
            kernels: one name of work, the costliest to launch first.
            steps: one step: what its calls started.
            each: one piece of work and its call, where asked for.

        Example:
            >>> list(run.launches().tables)
            ['ranks', 'calls', 'kernels', 'steps', 'each']
        """
    def queue_length(
        self,
        *,
        ranks: Numbers = None,
        steps: Numbers = None,
        full: int | None = None,
        points: int | None = None,
    ) -> Answer:
        r"""How far is the host ahead of the GPU: how much work waits in each stream?

        Args:
            ranks: these ranks only; all when left out.
            steps: these steps only, by number.
            full: from this length on the queue is full and launches wait. Default 1024.
            points: points of the series per stream: the highest of as many equal stretches. 0: all. Default 1000.

        Returns:
            Tables:
            streams: one stream of one device.
            series: one change of one queue's length.

        Example:
            >>> list(run.queue_length().tables)
            ['streams', 'series']
        """
    def memory_bandwidth(
        self,
        *,
        ranks: Numbers = None,
        steps: Numbers = None,
        points: int | None = None,
    ) -> Answer:
        r"""How fast do copies and memsets move memory?

        Args:
            ranks: these ranks only; all when left out.
            steps: these steps only, by number.
            points: points of the series per kind: the highest of as many equal stretches. 0: all. Default 1000.

        Returns:
            Tables:
            kinds: one direction on one device.
            series: one change of the rate.

        Example:
            >>> list(run.memory_bandwidth().tables)
            ['kinds', 'series']
        """
    def transfers(
        self,
        *,
        ranks: Numbers = None,
        steps: Numbers = None,
        top: int | None = None,
    ) -> Answer:
        r"""What is copied between host and GPU, how fast, and does anybody wait for it?

        Args:
            ranks: these ranks only; all when left out.
            steps: these steps only, by number.
            top: operators per rank. 0: all. Default 20.

        Returns:
            Tables:
            classes: one direction and kind of host memory on one device.
            sizes: copies of about one size.
            ops: one operator that copies, the longest first.
            steps: the copies that one step asked for.

        Example:
            >>> list(run.transfers().tables)
            ['classes', 'sizes', 'ops', 'steps']
        """
    def steps_tensorflow(
        self,
        *,
        ranks: Numbers = None,
        steps: Numbers = None,
    ) -> Answer:
        r"""Where does the time of a step go, in the words of TensorFlow's profiler?

        Args:
            ranks: these ranks only; all when left out.
            steps: these steps only, by number.

        Returns:
            Tables:
            parts: one part of the average step of one rank.
            steps: one step of one rank.

        Example:
            >>> list(run.steps_tensorflow().tables)
            ['parts', 'steps']
        """
    def memory_operators(
        self,
        *,
        ranks: Numbers = None,
        steps: Numbers = None,
        min_bytes: int | None = None,
        points: int | None = None,
    ) -> Answer:
        r"""Which operators allocate memory, and who keeps it?

        Args:
            ranks: these ranks only; all when left out.
            steps: these steps only, by number.
            min_bytes: list allocations of at least this many bytes. Default 0.
            points: points of the curve; each keeps its highest. 0: all. Default 500.

        Returns:
            Tables:
            memory_devices: the memory of one device on one rank.
            memory_operators: one operator on one device and rank, the most allocated first.
            memory_events: one allocation on one device and rank, the largest first.
            memory_curve: memory in use over time.

        Example:
            >>> list(run.memory_operators().tables)
            ['memory_devices', 'memory_operators', 'memory_events', 'memory_curve']
        """
    def memory_summary(
        self,
        *,
        ranks: Numbers = None,
        steps: Numbers = None,
    ) -> Answer:
        r"""How much memory was in use and held, and when was it the most?

        Args:
            ranks: these ranks only; all when left out.
            steps: these steps only, by number.

        Returns:
            Tables:
            devices: one device: its peaks, and what the history covers.
            bytes: one sort of memory of one device, as torch's memory_summary has it.
            counts: one sort of pieces of one device, as torch's memory_summary has it.
            pinned-host: page-locked memory of the host that one process took for copies.
            agreement: a figure that a snapshot and torch.cuda.memory_stats both have.

        Example:
            >>> list(run.memory_summary().tables)
            ['devices', 'bytes', 'counts', 'pinned-host', 'agreement']
        """
    def memory_timeline(
        self,
        *,
        ranks: Numbers = None,
        steps: Numbers = None,
        points: int | None = None,
        axis: Literal["events", "time"] | None = None,
        top: int | None = None,
        module_depth: int | None = None,
    ) -> Answer:
        r"""What is in memory over time, and how do steps and passes change it?

        Args:
            ranks: these ranks only; all when left out.
            steps: these steps only, by number.
            points: stretches the history is cut into; each shows its highest moment. 0: every change. Default 200.
            axis: whether stretches have equally many events or time; charts go over the same. One of events, time. Default events.
            top: places, modules and annotations that are followed. Default 8.
            module_depth: levels of modules inside of modules. 0: all. Default 0.

        Returns:
            Tables:
            shape: one device: its floor, its peak, and what passes add.
            timeline: a stretch of the history when the most of it was allocated.
            steps: one step of one device.
            passes: one forward, backward or optimizer pass of one device.
            stacks: what one place of the program had at a moment of the timeline.
            modules: what one nn.Module had at a moment of the timeline.
            annotations: what was made in one annotation at a moment of the timeline.

        Example:
            >>> list(run.memory_timeline().tables)
            ['shape', 'timeline', 'steps', 'passes', 'stacks', 'modules', 'annotations']
        """
    def memory_peak(
        self,
        *,
        ranks: Numbers = None,
        steps: Numbers = None,
        top: int | None = None,
        at: Literal["peak", "end"] | None = None,
    ) -> Answer:
        r"""What filled the memory when the most was allocated?

        Args:
            ranks: these ranks only; all when left out.
            steps: these steps only, by number.
            top: stacks per device; the rest is one row. 0: all. Default 20.
            at: which moment: when the most was allocated, or the end. One of peak, end. Default peak.

        Returns:
            Tables:
            peak: one device: when the most was allocated, and the allocation that reached it.
            categories: one sort of contents of one device at that moment.
            stacks: what one place of the program had allocated at that moment, the most first.
            sizes: blocks of similar size at that moment.
            ages: what was allocated at about the same time.

        Example:
            >>> list(run.memory_peak().tables)
            ['peak', 'categories', 'stacks', 'sizes', 'ages']
        """
    def memory_allocations(
        self,
        *,
        ranks: Numbers = None,
        steps: Numbers = None,
        top: int | None = None,
        min_bytes: int | None = None,
        category: Literal["all", "parameters", "optimizer state", "gradients", "activations", "inputs", "temporaries", "autograd detail", "communication", "unknown"] | None = None,
        alive_at: str | None = None,
    ) -> Answer:
        r"""Which allocations were made, how large were they and how long did they live?

        Args:
            ranks: these ranks only; all when left out.
            steps: these steps only, by number.
            top: allocations per device, the largest. 0: all. Default 1000.
            min_bytes: list allocations of at least this many bytes. Default 0.
            category: list allocations that hold this only. One of all, parameters, optimizer state, gradients, activations, inputs, temporaries, autograd detail, communication, unknown. Default all.
            alive_at: list what was allocated at this moment only: peak, end, or the number of an event.

        Returns:
            Tables:
            allocations: one allocation of one device, the largest first.

        Example:
            >>> list(run.memory_allocations().tables)
            ['allocations']
        """
    def memory_diff(
        self,
        *,
        ranks: Numbers = None,
        steps: Numbers = None,
        top: int | None = None,
    ) -> Answer:
        r"""Which snapshot or rank uses more memory than the others, and for what?

        Args:
            ranks: these ranks only; all when left out.
            steps: these steps only, by number.
            top: places of the program, those that differ most. 0: all. Default 20.

        Returns:
            Tables:
            snapshots: one device of one snapshot beside the others.
            categories: one sort of contents in all snapshots.
            stacks: one place of the program that differs between snapshots, the largest difference first.

        Example:
            >>> list(run.memory_diff().tables)
            ['snapshots', 'categories', 'stacks']
        """
    def memory_oom(
        self,
        *,
        ranks: Numbers = None,
        steps: Numbers = None,
        failures: int | None = None,
        top: int | None = None,
        batch_size: int | None = None,
        device_memory: int | str | None = None,
    ) -> Answer:
        r"""Why did it run out of memory, and what would make room?

        Args:
            ranks: these ranks only; all when left out.
            steps: these steps only, by number.
            failures: failures explained per device. 0: all. Default 3.
            top: places and segments listed per failure. 0: all. Default 10.
            batch_size: samples per batch, to tell the bytes of one. Default 0.
            device_memory: memory of the device, as in 80GiB, where the recording does not tell. Bytes, or text such as "80GiB".

        Returns:
            Tables:
            failures: one request that failed.
            remedies: a change that makes room, the cheapest first, those that are not enough last.
            alive: one place in the program and what it had in use when the request failed.
            free-segments: a segment with free memory the request could not use.
            headroom: one device: how close it came.

        Example:
            >>> list(run.memory_oom().tables)
            ['failures', 'remedies', 'alive', 'free-segments', 'headroom']
        """
    def memory_leaks(
        self,
        *,
        ranks: Numbers = None,
        steps: Numbers = None,
        top: int | None = None,
        device_memory: int | str | None = None,
    ) -> Answer:
        r"""What grows from step to step and is never freed?

        Args:
            ranks: these ranks only; all when left out.
            steps: these steps only, by number.
            top: places in the program per device. 0: all. Default 10.
            device_memory: memory of the device, as in 80GiB, where the recording does not tell. Bytes, or text such as "80GiB".

        Returns:
            Tables:
            outlook: one device: what it loses, and for how long it lasts.
            leaks: one place in the program that leaks memory, the most first.
            outliving: a place where some allocations live on for steps and most do not.
            growth: one step of one device.

        Example:
            >>> list(run.memory_leaks().tables)
            ['outlook', 'leaks', 'outliving', 'growth']
        """
    def memory_fragmentation(
        self,
        *,
        ranks: Numbers = None,
        steps: Numbers = None,
        top: int | None = None,
        points: int | None = None,
        device_memory: int | str | None = None,
    ) -> Answer:
        r"""How much memory is held but cannot be used, and what would change that?

        Args:
            ranks: these ranks only; all when left out.
            steps: these steps only, by number.
            top: segments listed per device. 0: all. Default 10.
            points: stretches of the history shown over time; each keeps its extremes. Default 60.
            device_memory: memory of the device, as in 80GiB, where the recording does not tell. Bytes, or text such as "80GiB".

        Returns:
            Tables:
            moments: one device at the moment it held most, wasted most, and at the end.
            settings: one way to set the allocator: what the recorded requests would have needed.
            pinned-segments: a segment with free memory that cannot be returned, at the end.
            over-time: one moment of one device; every stretch of the history keeps its extremes.

        Example:
            >>> list(run.memory_fragmentation().tables)
            ['moments', 'settings', 'pinned-segments', 'over-time']
        """
    def memory_events(
        self,
        *,
        ranks: Numbers = None,
        steps: Numbers = None,
        top: int | None = None,
    ) -> Answer:
        r"""What exactly did the allocator record?

        Args:
            ranks: these ranks only; all when left out.
            steps: these steps only, by number.
            top: how many events of each history, the newest; 0: all. Default 1000.

        Returns:
            Tables:
            events: one thing the allocator did, oldest first.
            segments: a piece of memory taken from the driver, at the end.
            blocks: a piece of a segment, by address.
            annotations: the begin or end of a named span.
            stacks: one call of a stack.

        Example:
            >>> list(run.memory_events().tables)
            ['events', 'segments', 'blocks', 'annotations', 'stacks']
        """
