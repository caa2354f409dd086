"""Native code records by the header: a program in C alone, and C++ below a recorded Python."""

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from program import ROOT, Program
from recorded_program import Script, rank_folder

import stepscope

MakeScript = Callable[[str], Script]

PACKAGE = ROOT / "python" / "stepscope"  # where a wheel has it, too
STRICT = ["-Wall", "-Wextra", "-Werror", "-pedantic"]

IN_C = """
#include <stdio.h>
#include <stepscope/stepscope.h>

int main(int count, char** words) {
  const uint32_t read_batch = stepscope_name("read batch");
  const uint32_t loss = stepscope_name("loss");
  int64_t step;
  struct stepscope_cost cost;
  if (count < 2 || stepscope_start(words[1]) != 0) {
    fprintf(stderr, "%s\\n", stepscope_error());
    return 1;
  }
  stepscope_begin_step(0);
  for (step = 0; step < 3; ++step) {
    stepscope_begin(read_batch);
    stepscope_end(read_batch);
    stepscope_counter(loss, 1.0 / (double)(step + 1));
    stepscope_step(step);
  }
  stepscope_log(30, "reader", "a batch was short");
  stepscope_stop();
  stepscope_get_cost(&cost);
  return cost.dropped == 0 && cost.lost_bytes == 0 ? 0 : 2;
}
"""

IN_CPP = """
#include <stepscope/stepscope.h>

extern "C" void decode() {
  STEPSCOPE_RANGE("decode");
  { STEPSCOPE_RANGE("entropy"); }
}
"""


# Two threads and the one that trains, none of which ever waits, until something found no room.
TOO_MUCH = """
#include <pthread.h>
#include <stdio.h>
#include <stepscope/stepscope.h>

static uint32_t name;
static volatile int over;

static void* burst(void* unused) {
  while (!over) {
    stepscope_begin(name);
    stepscope_end(name);
  }
  return unused;
}

int main(int count, char** words) {
  pthread_t threads[2];
  struct stepscope_cost cost = {0, 0, 0, 0, 0, 0};
  int64_t step;
  int i;
  name = stepscope_name("burst");
  if (count < 2 || stepscope_start(words[1]) != 0) return 1;
  for (i = 0; i < 2; ++i) pthread_create(&threads[i], NULL, burst, NULL);
  stepscope_begin_step(0);
  for (step = 0; step < 10 || (cost.dropped == 0 && step < 3000); ++step) {
    for (i = 0; i < 20000; ++i) {
      stepscope_begin(name);
      stepscope_end(name);
    }
    stepscope_step(step);
    stepscope_get_cost(&cost);
  }
  over = 1;
  for (i = 0; i < 2; ++i) pthread_join(threads[i], NULL);
  stepscope_stop();
  stepscope_get_cost(&cost);
  printf("%llu %llu\\n", (unsigned long long)cost.dropped, (unsigned long long)step);
  return 0;
}
"""

NOTHING_GIVEN = """
#include <stddef.h>
#include <stdio.h>
#include <stepscope/stepscope.h>

int main(int count, char** words) {
  struct stepscope_system nowhere = {0};
  if (stepscope_start(NULL) == 0 || stepscope_start_as(NULL, NULL, NULL, 3) == 0) return 1;
  if (stepscope_start_system(NULL) == 0 || stepscope_start_system(&nowhere) == 0) return 1;
  stepscope_get_cost(NULL);
  stepscope_get_system(NULL);
  puts(stepscope_error());
  if (count < 2 || stepscope_start(words[1]) != 0) return 2;
  stepscope_begin(stepscope_name(NULL));
  stepscope_end(stepscope_name(NULL));
  stepscope_begin(0);
  stepscope_begin(12345678);
  stepscope_log(20, NULL, NULL);
  stepscope_stop();
  return 0;
}
"""


def compiled(words: tuple[str, ...], source: Path, target: Path, *options: str) -> Path:
    """By the first compiler of these that is there, as docs/start/native-code.md says."""
    compiler = next(filter(None, map(shutil.which, words)), None)
    if compiler is None:
        pytest.skip(f"no {words[0]} here")
    include = ["-I", str(ROOT / "include")]
    library = ["-L", str(PACKAGE), "-lstepscope_capture", f"-Wl,-rpath,{PACKAGE}"]
    subprocess.run(
        [compiler, *STRICT, *options, *include, str(source), "-o", str(target), *library],
        check=True,
    )
    return target


def program_in_c(code: str, folder: Path, *options: str) -> Path:
    """Built in a folder that has one for its run, too."""
    source = folder / "program.c"
    source.write_text(code)
    (folder / "run").mkdir()
    return compiled(("cc", "gcc", "clang"), source, folder / "program", "-std=c99", *options)


def test_a_program_in_c(tmp_path: Path) -> None:
    program = program_in_c(IN_C, tmp_path)
    subprocess.run([program, tmp_path / "run"], check=True)
    run = stepscope.open(tmp_path / "run" / "events.scope")
    ranges = {row["range"]: row["calls"] for row in run.time()["ranges"].rows()}
    assert ranges == {"read batch": 3}
    assert run.step_numbers == [0, 1, 2]
    assert [row["text"] for row in run.log()["lines"].rows()] == ["a batch was short"]
    nowhere = subprocess.run(
        [program, "/proc/nowhere"], capture_output=True, text=True, check=False
    )
    assert nowhere.returncode == 1
    assert "/proc/nowhere" in nowhere.stderr


def test_more_than_can_be_written_is_counted_and_reported(tmp_path: Path, program: Program) -> None:
    """Memory stays where it is, every step is there, and `info` says how much is not."""
    burst = program_in_c(TOO_MUCH, tmp_path, "-pthread")
    limited = f"ulimit -v {256 << 10}; exec {burst} {tmp_path / 'run'}"  # KiB; three rings take 3
    done = subprocess.run(["sh", "-c", limited], capture_output=True, text=True, check=True)
    dropped, steps = map(int, done.stdout.split())
    assert dropped > 0
    info = program.run("info", "--json", tmp_path / "run" / "events.scope")
    assert info.exit_status == 4
    (recording,) = json.loads(info.stdout)["recordings"]
    assert (recording["dropped_records"], recording["lost_steps"]) == (dropped, 0)
    assert recording["steps"] == steps
    text = program.run("info", tmp_path / "run" / "events.scope").stdout.decode()
    assert f"{dropped:,} records found no room" in " ".join(text.split())


def test_nothing_given_is_no_crash(tmp_path: Path) -> None:
    nothing = program_in_c(NOTHING_GIVEN, tmp_path)
    done = subprocess.run([nothing, tmp_path / "run"], capture_output=True, text=True, check=True)
    assert done.stdout == "no folder was given to sample to\n"
    run = stepscope.open(tmp_path / "run" / "events.scope")
    assert {row["range"] for row in run.time()["ranges"].rows()} == {"(no name)", "(name lost)"}


def test_cpp_below_python(script: MakeScript, tmp_path: Path) -> None:
    """One recorder for both: ranges nest across the border."""
    source = tmp_path / "decoder.cpp"
    source.write_text(IN_CPP)
    library = compiled(
        ("c++", "g++", "clang++"), source, tmp_path / "decoder.so", "-std=c++11", "-shared", "-fPIC"
    )
    program = script(
        f"""
        import ctypes, sys
        import stepscope as ss
        decoder = ctypes.CDLL({str(library)!r})
        with ss.profile(sys.argv[1], trace=False) as prof:
            for _ in range(2):
                with ss.range("load"):
                    decoder.decode()
                prof.step()
        decoder.decode()  # nothing records any more
        """
    )
    done = program.run(str(tmp_path / "run"))
    assert (done.returncode, done.stderr) == (0, "")
    rows = stepscope.open(rank_folder(tmp_path / "run") / "events.scope").time()["ranges"].rows()
    found = [(row["range"], row["depth"], row["calls"]) for row in rows]
    assert found == [("load", 0, 2), ("decode", 1, 2), ("entropy", 2, 2)]
