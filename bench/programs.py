"""The programs that are measured, built on demand, and how each is called."""

import subprocess
import sys
import tarfile
from pathlib import Path

from inputs import UNITS, Input, Inputs, has_template
from measure import ROOT, Timing, json_lines, run

# pysimdjson, whose source archive holds simdjson's two amalgamated sources.
SIMDJSON = ROOT / "tools" / "requirements-simdjson.txt"

# A GPT with shapes and memory events, one with Python stacks, a ResNet with DataLoader workers.
TEMPLATES = ["gpt_bf16", "gpt_stack", "resnet50_dataloader_bound"]


def fetch_simdjson() -> None:
    """Puts simdjson's sources into .deps/simdjson, for the yardstick only."""
    folder = ROOT / ".deps" / "simdjson"
    if (folder / "simdjson.cpp").exists():
        return
    sdists = ROOT / ".deps" / "sdist"
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--require-hashes"]
    # Without isolation: pip reads the archive's metadata with the setuptools of .venv and fetches
    # no other.
    command += ["--no-binary", ":all:", "--no-build-isolation"]
    command += ["--dest", str(sdists), "-r", str(SIMDJSON)]
    subprocess.run(command, check=True)
    folder.mkdir(parents=True, exist_ok=True)
    with tarfile.open(next(sdists.glob("pysimdjson-*.tar.gz"))) as sdist:
        for member in sdist.getmembers():
            name = Path(member.name)
            if name.name in ("simdjson.h", "simdjson.cpp") and name.parent.name == "simdjson":
                content = sdist.extractfile(member)
                assert content
                (folder / name.name).write_bytes(content.read())


def build(folder: Path, *targets: str) -> None:
    """Builds the program and the benchmarks, optimised: all of them, or those that are named."""
    if not targets:
        fetch_simdjson()
    if not (folder / "build.ninja").exists():
        configure = ["cmake", "-S", str(ROOT), "-B", str(folder), "-G", "Ninja"]
        subprocess.run([*configure, "-DCMAKE_BUILD_TYPE=Release"], check=True)
    elif not targets and not (folder / "bench" / "bench_simdjson_walk").exists():
        subprocess.run(["cmake", str(folder)], check=True)  # simdjson may have come since
    command = ["cmake", "--build", str(folder), "-j2", "--target", "stepscope"]
    command += targets or ("bench",)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


class Programs:
    """The programs in one build folder, and the settings of one run of the benchmarks."""

    def __init__(self, folder: Path, runs: int, most: str) -> None:
        self.folder = folder
        self.runs = runs
        self.reuse_peers = False
        self.most = int(most[:-1]) * UNITS[most[-1]]
        self.inputs = Inputs(self._bench("generate"))

    def trace(self, stem: str, size: str, packing: str = "") -> Input:
        """An input of about that size."""
        print(f"  {stem}-{size}.json{packing}", file=sys.stderr)
        return self.inputs.trace(stem, size, packing)

    def sizes(self, *sizes: str) -> list[str]:
        """Those of the sizes that were allowed."""
        return [size for size in sizes if int(size[:-1]) * UNITS[size[-1]] <= self.most]

    def templates(self) -> list[str]:
        """The real traces that are at hand."""
        return [stem for stem in TEMPLATES if has_template(stem)]

    def turns(self, trace: Input) -> int:
        """How often each program runs: less for large inputs, where noise is small."""
        return self.runs if trace.text_bytes < 700_000_000 else max(self.runs // 3, 3)

    def load(self, trace: Input, threads: int) -> Timing:
        """One load by the importer into finished columns and links, timed within its process."""
        if not self._bench("load").exists():
            return self.info(trace, threads)
        return self._from_bench("load", trace, "--threads", str(threads))

    def info(self, trace: Input, threads: int) -> Timing:
        """One `stepscope info`, from the start of the process to its end."""
        program = self.folder / "stepscope"
        done = run([program, "info", "--json", "-j", str(threads), trace.path])
        return Timing([done.seconds], done.peak_bytes, {})

    def walk(self, trace: Input, variant: str) -> Timing:
        """A bare simdjson walk over the same text."""
        return self._from_bench("simdjson_walk", trace, "--only", variant)

    def inflate(self, trace: Input) -> Timing:
        """Unpacking alone."""
        return self._from_bench("inflate", trace)

    def _bench(self, name: str) -> Path:
        return self.folder / "bench" / f"bench_{name}"

    def _from_bench(self, name: str, trace: Input, *options: str) -> Timing:
        done = run([self._bench(name), trace.path, "--runs", "1", *options])
        line = json_lines(done.output)[-1]
        facts = {key: line[key] for key in ("variant", "table_bytes", "events") if line.get(key)}
        return Timing(line["seconds"], line["peak_bytes"], facts)
