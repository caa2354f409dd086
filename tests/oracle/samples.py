"""Good and bad files to start from when making others: the inputs of the goldens."""

from pathlib import Path

from golden_file import read

FOLDER = Path(__file__).resolve().parent.parent / "golden" / "ingest"
LARGEST = 20_000


def samples() -> dict[str, bytes]:
    """Name and content of every sample."""
    return {
        f"{path.stem}/{section.name}": section.content()
        for path in sorted(FOLDER.glob("*.test"))
        for section in read(path).inputs()
        if not section.options & {"gzip", "zstd"} and len(section.text) < LARGEST
        if ".scope" not in section.name  # has no text to damage
    }
