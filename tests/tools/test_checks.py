"""Each check of the gate can fail, and says where."""

from pathlib import Path

import check_core
import check_layers
import check_page
import check_sizes
import pytest
from sources import ROOT


def plant(root: Path, name: str, text: str = "") -> None:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


@pytest.mark.parametrize(
    ("name", "line", "problem"),
    [
        ("src/trace/a.h", '#include "bytes/source.h"', "trace may not include bytes"),
        ("src/base/a_test.cpp", '#include "trace/run.h"', "base may not include trace"),
        ("src/cli/a.cpp", '#include "ingest/read.h"', "cli may not include ingest"),
        ("src/trace/a.h", '# include "emit/x.h"', "trace may not include emit"),
        ("src/trace/a.h", "#include <base/result.h>", "included in quotes"),
        ("src/trace/a.h", '#include "run.h"', "includes start with a room"),
        ("src/trace/a.h", '#include "../base/result.h"', 'without ".."'),
        ("bench/a.cpp", '#include "../src/base/result.h"', 'without ".."'),
        ("src/report/tables/a.h", '#include "report/page/b.h"', "may not include report/page"),
        ("src/emit/chrome/a.h", '#include "emit/jsonl/b.h"', "may not include emit/jsonl"),
        ("src/extras/a.h", "", "src/extras is not a room"),
        ("src/main.cpp", "", "every source file lives in a room"),
        ("src/base/string_utils.h", "", "says nothing"),
        ("web/src/helpers/a.ts", "", "says nothing"),
    ],
)
def test_layers(tmp_path: Path, name: str, line: str, problem: str) -> None:
    plant(tmp_path, name, f"#pragma once\n{line}\n")
    (found,) = check_layers.check(tmp_path)
    assert found.startswith(name)
    assert problem in found


def test_layers_allow_what_the_table_says(tmp_path: Path) -> None:
    plant(tmp_path, "src/session/a.cpp", '#include <fmt/core.h>\n#include "ingest/read.h"\n')
    plant(tmp_path, "src/trace/a.h", '#include "base/result.h"\n#include "trace/run.h"\n')
    plant(tmp_path, "tests/fuzz/a.cpp", '#include "ingest/read.h"\n#include "bytes/source.h"\n')
    plant(tmp_path, "src/report/page/a.cpp", '#include "report/tables/b.h"\n')
    plant(tmp_path, "src/report/tables/a_test.cpp", '#include "report/page/b.h"\n')
    assert check_layers.check(tmp_path) == []


def test_folders_with_an_order_are_there() -> None:
    for room, order in check_layers.FOLDERS.items():
        assert {folder for group in order for folder in group} == {
            path.name for path in (ROOT / "src" / room).iterdir() if path.is_dir()
        }


def test_rooms_see_only_rooms_and_never_in_a_circle() -> None:
    for room, sees in check_layers.ALLOWED.items():
        assert sees <= check_layers.ALLOWED.keys()
        for below in sees:
            assert room not in check_layers.ALLOWED[below], f"{room} and {below}"


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("std::cerr << name;", "prints"),
        ('  printf("%d", n);', "prints"),
        ('fmt::print("x");', "prints"),
        ("std::exit(2);", "ends the process"),
        ("abort();", "ends the process"),
        ("throw 1;", "throws"),
        ('auto* home = std::getenv("HOME");', "reads the environment"),
        ("auto now = std::chrono::system_clock::now();", "reads the wall clock"),
    ],
)
def test_core_rules(tmp_path: Path, line: str, problem: str) -> None:
    plant(tmp_path, "src/trace/a.cpp", f"{line}\n")
    plant(tmp_path, "src/cli/a.cpp", f"{line}\n")
    plant(tmp_path, "src/trace/a_test.cpp", f"{line}\n")
    (found,) = check_core.check(tmp_path)
    assert found.startswith(f"src/trace/a.cpp:1: trace {problem}")


@pytest.mark.parametrize(
    "line",
    [
        "snprintf(buffer, size, format);",
        'log.note("printf(x)");  // throw is said here only',
        "throw std::bad_alloc();",
        "run.exit(3); event.time(0); my::abort();",
        "auto t = std::chrono::steady_clock::now();",
        "fputs(text, file);  // core: file is what the caller asked to write",
    ],
)
def test_core_rules_leave_the_rest_alone(tmp_path: Path, line: str) -> None:
    plant(tmp_path, "src/trace/a.cpp", f"{line}\n")
    assert check_core.check(tmp_path) == []


def test_sizes(tmp_path: Path) -> None:
    plant(tmp_path, "src/base/long.cpp", "\n" * 701)
    plant(tmp_path, "src/base/fits.cpp", "\n" * 700)
    plant(tmp_path, "tools/long.py", "\n" * 800)
    assert check_sizes.check(tmp_path) == [
        "src/base/long.cpp: 701 lines; a file has at most 700",
        "tools/long.py: 800 lines; a file has at most 700",
    ]


def test_folders_are_split_too(tmp_path: Path) -> None:
    for number in range(check_sizes.MOST_FILES + 1):
        plant(tmp_path, f"src/base/one_{number}.h")
        plant(tmp_path, f"src/trace/{'a' if number % 2 else 'b'}/one_{number}.h")
        plant(tmp_path, f"tests/e2e/test_{number}.py")
    assert check_sizes.check(tmp_path) == ["src/base: 71 files; a folder has at most 70"]


def test_the_page_stays_small(tmp_path: Path) -> None:
    assert "there is no built page" in check_page.check(tmp_path)[0]
    plant(tmp_path, "index.html", "<p>" * 100_000)  # little, once compressed
    assert check_page.check(tmp_path) == []
    (tmp_path / "font.woff2").write_bytes(bytes(400_000))  # sent as it is
    assert "at most 400000" in check_page.check(tmp_path)[0]


@pytest.mark.parametrize(
    ("lines", "allowed", "problem"),
    [(900, 900, None), (901, 900, "the ratchet allows 900"), (700, 900, "remove its row")],
)
def test_the_ratchet_only_falls(lines: int, allowed: int, problem: str | None) -> None:
    found = check_sizes.size_problem(Path("src/a.cpp"), lines, {"src/a.cpp": allowed})
    assert (problem is None and found is None) or (problem is not None and problem in str(found))
