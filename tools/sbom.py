"""Writes what the package holds of others: a list of components and the text of each licence.

    tools/sbom.py --out FOLDER [--page FOLDER]

Into FOLDER go `sboms/stepscope.cdx.json` (CycloneDX 1.5, where PEP 770 wants it in a wheel) and
`licenses/*.txt`. Listed are the libraries that CMake links, nanobind and the hash table in it, the
run-time library of C++, and the packages of the built page, which its own licenses.txt names. A
linked library that is unknown here and a licence without a text are errors, and then there is no
wheel (cmake/python.cmake). The result depends on nothing but what is installed.
"""

import argparse
import json
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from urllib.parse import quote

ROOT = Path(__file__).resolve().parent.parent
RULE = "-" * 80  # between the packages in licenses.txt of the page


@dataclass(frozen=True)
class Library:
    """A library that is linked into the extension, or compiled into it from headers."""

    name: str
    target: str  # as CMake links it
    file: str  # a header of it, or an archive that the compiler knows
    module: str  # as pkg-config knows it
    spdx: str
    text: str  # in licenses/
    copies_debian: bool = True  # else licenses/ is better than what Debian says


GCC = "GPL-3.0-or-later WITH GCC-exception-3.1"
LIBRARIES = (
    # Debian's text is of 2 MB: it has a paragraph for every file of Boost.
    Library("boost", "boost::headers", "boost/version.hpp", "", "BSL-1.0", "boost.txt", False),
    Library("fmt", "fmt::fmt", "fmt/core.h", "fmt", "MIT", "fmt.txt"),
    Library("isa-l", "isal::isal", "isa-l.h", "libisal", "BSD-3-Clause", "isa-l.txt"),
    Library("libgcc", "-static-libstdc++", "libgcc.a", "", GCC, "gcc.txt"),
    Library("libstdc++", "-static-libstdc++", "libstdc++.a", "", GCC, "gcc.txt"),
    Library("nlohmann-json", "nlohmann_json::nlohmann_json", "nlohmann/json.hpp", "nlohmann_json",
            "MIT", "nlohmann-json.txt"),
    Library("protozero", "protozero::protozero", "protozero/version.hpp", "",
            "BSD-2-Clause AND Apache-2.0", "protozero.txt"),
    Library("yaml-cpp", "yaml-cpp", "yaml-cpp/yaml.h", "yaml-cpp", "MIT", "yaml-cpp.txt"),
    # Debian's text gives the names of another project.
    Library("zstd", "zstd::zstd", "zstd.h", "libzstd", "BSD-3-Clause AND MIT", "zstd.txt", False),
)  # fmt: skip

# Linked, but part of every system: nothing of it is shipped.
OF_THE_SYSTEM = {"Threads::Threads"}

Component = dict[str, object]


class MissingError(Exception):
    """Something that must be in the list and cannot be."""


def linked_targets(root: Path) -> set[str]:
    """What CMake links of others into the package."""
    found = set()
    for path in (root / "CMakeLists.txt", root / "cmake" / "python.cmake"):
        text = re.sub(r"#.*", "", path.read_text(encoding="utf-8"))
        calls = r"(?:add_room|add_program|target_link_libraries|target_link_options)\(([^)]*)\)"
        for call in re.findall(calls, text):
            found |= set(re.findall(r"[\w-]+::[\w-]+|(?<=\s)yaml-cpp\b|-static-libstdc\+\+", call))
    return {name for name in found if not name.startswith("stepscope::")} - OF_THE_SYSTEM


def output(*command: str) -> str:
    """What a command prints; nothing where it fails or is not there."""
    if not shutil.which(command[0]):
        return ""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else ""


def installed_path(name: str) -> Path | None:
    """Where a header or an archive is."""
    if name.endswith(".a"):
        path = Path(output("c++", f"-print-file-name={name}"))
        return path.resolve() if path.is_absolute() else None
    include = Path("/usr/include")
    folders = [include, *include.glob("*-linux-gnu")]
    return next((path for folder in folders if (path := folder / name).exists()), None)


def distribution() -> tuple[str, str]:
    """The name and the release of this system, as package URLs have them."""
    text = Path("/etc/os-release").read_text(encoding="utf-8")
    about = dict(re.findall(r'^(ID|VERSION_ID)="?([^"\n]*)', text, re.M))
    return about.get("ID", "linux"), f"{about.get('ID')}-{about.get('VERSION_ID')}"


def component(name: str, version: str, spdx: str, purl: str, text: str) -> Component:
    """One row of the list; `text` is the file with its licence, beside the folder of the list."""
    is_expression = " " in spdx
    return {
        "type": "library",
        "bom-ref": purl,
        "name": name,
        **({"version": version} if version else {}),
        "licenses": [{"expression": spdx} if is_expression else {"license": {"id": spdx}}],
        "purl": purl,
        "properties": [{"name": "stepscope:license-file", "value": f"licenses/{text}"}],
    }


def add_library(library: Library, texts: Path) -> Component:
    """A library; its licence comes from the installed package, else from licenses/."""
    path = installed_path(library.file)
    package = output("dpkg-query", "-S", str(path)).split(":")[0] if path else ""
    debian = Path("/usr/share/doc", package or "-", "copyright")
    ours = ROOT / "licenses" / library.text
    text = debian if library.copies_debian and debian.is_file() else ours
    if not text.is_file():
        raise MissingError(f"{library.name}: no licence text in {debian} or {ours}")
    shutil.copyfile(text, texts / library.text)
    if package:
        fields = output("dpkg-query", "-W", "-f", "${source:Package} ${source:Version}\n", package)
        source, version = fields.split()[:2]
        name, release = distribution()
        purl = f"pkg:deb/{name}/{quote(source)}@{quote(version)}?arch=source&distro={release}"
    else:
        version = output("pkg-config", "--modversion", library.module) if library.module else ""
        purl = f"pkg:generic/{quote(library.name)}" + (f"@{quote(version)}" if version else "")
    # Two libraries of one source package are two components.
    if library.text != f"{library.name}.txt":
        purl += f"#{quote(library.name)}"
    return component(library.name, version, library.spdx, purl, library.text)


def add_nanobind(texts: Path) -> list[Component]:
    """nanobind, and the hash table that it holds."""
    package = metadata.distribution("nanobind")
    files = package.files or []
    texts_of_it = [file for file in files if file.match("*.dist-info/licenses/LICENSE*")]
    if not texts_of_it:
        raise MissingError("nanobind: no licence text among its installed files")
    shutil.copyfile(str(package.locate_file(texts_of_it[0])), texts / "nanobind.txt")
    header = next((file for file in files if file.name == "robin_growth_policy.h"), None)
    if header is None:
        raise MissingError("nanobind: no robin_map among its installed files")
    shutil.copyfile(ROOT / "licenses" / "robin-map.txt", texts / "robin-map.txt")
    numbers = re.findall(r"#define TSL_RH_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", header.read_text())
    robin = ".".join(numbers)
    return [
        component("nanobind", package.version, "BSD-3-Clause",
                  f"pkg:pypi/nanobind@{package.version}", "nanobind.txt"),
        component("robin-map", robin, "MIT", f"pkg:github/Tessil/robin-map@v{robin}",
                  "robin-map.txt"),
    ]  # fmt: skip


def add_page(page: Path, texts: Path) -> list[Component]:
    """The packages in the page, which its build listed (web/licenses.ts)."""
    path = page / "licenses.txt"
    if not path.is_file():
        raise MissingError(f"{path}: the page has no list of licences; build it again")
    text = path.read_text(encoding="utf-8")
    shutil.copyfile(path, texts / "page.txt")
    found = re.findall(rf"^{RULE}\n(\S+) (\S+), (.+)$", text, re.M)
    if not found:
        raise MissingError(f"{path}: the list of licences is empty")
    return [
        component(name, version, spdx, f"pkg:npm/{quote(name)}@{version}", "page.txt")
        for name, version, spdx in found
    ]


def write(out: Path, page: Path | None, root: Path = ROOT) -> None:
    """Writes the list and the texts."""
    texts = out / "licenses"
    texts.mkdir(parents=True, exist_ok=True)
    targets = linked_targets(root)
    if unknown := targets - {library.target for library in LIBRARIES}:
        raise MissingError(
            f"{', '.join(sorted(unknown))}: linked, and not in {Path(__file__).name}"
        )
    components = [add_library(each, texts) for each in LIBRARIES if each.target in targets]
    components += add_nanobind(texts)
    components += add_page(page, texts) if page else []
    about = (root / "CMakeLists.txt").read_text(encoding="utf-8")
    (version,) = re.findall(r"project\(stepscope VERSION ([\d.]+)", about)
    purl = f"pkg:pypi/stepscope@{version}"
    document = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {
            "component": {
                "type": "application",
                "bom-ref": purl,
                "name": "stepscope",
                "version": version,
                "licenses": [{"license": {"id": "Apache-2.0"}}],
                "purl": purl,
            }
        },
        "components": components,
        "dependencies": [{"ref": purl, "dependsOn": [each["bom-ref"] for each in components]}],
    }
    path = out / "sboms" / "stepscope.cdx.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--page", type=Path, help="the built page, where the package has it")
    options = parser.parse_args()
    try:
        write(options.out, options.page)
    except MissingError as error:
        print(f"sbom: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
