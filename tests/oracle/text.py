"""From the bytes of a file to values. Numbers keep their text, so that nothing is rounded."""

import gzip
import io
import json
import re
import zlib
from dataclasses import dataclass


class NotJsonError(Exception):
    """Python's json does not take this text, so there is nothing to compare with."""


@dataclass(frozen=True, slots=True)
class Number:
    """A number as it stands in the file."""

    text: str


@dataclass(frozen=True, slots=True)
class Constant:
    """NaN, Infinity or -Infinity: not JSON, but Python takes them."""

    text: str


Json = None | bool | str | Number | Constant | list["Json"] | dict[str, "Json"]


def decompress(data: bytes) -> bytes:
    """The text of a file, whatever it is packed in.

    Raises:
        NotJsonError: it is damaged.
    """
    try:
        if data.startswith(b"\x1f\x8b"):
            return gzip.decompress(data)
        if data.startswith(b"\x28\xb5\x2f\xfd"):
            return _unzstd(data)
    except (OSError, EOFError, zlib.error) as error:
        raise NotJsonError(str(error)) from None
    return data


def _unzstd(data: bytes) -> bytes:
    # Here, since machines with a GPU on which recordings are read may not have it.
    import zstandard

    packed = zstandard.ZstdDecompressor().stream_reader(io.BytesIO(data), read_across_frames=True)
    try:
        return packed.read()
    except zstandard.ZstdError as error:
        raise NotJsonError(str(error)) from None


def parse(text: bytes) -> Json:
    """Parses JSON. Broken UTF-8 is repaired, a byte order mark skipped, control bytes are kept.

    Raises:
        NotJsonError: the text is not JSON, or too deep for Python.
    """
    try:
        parsed: Json = json.loads(
            text.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace"),
            parse_int=Number,
            parse_float=Number,
            parse_constant=Constant,
            strict=False,
        )
    except (ValueError, RecursionError) as error:
        raise NotJsonError(str(error)) from None
    return parsed


LONE_SURROGATE = re.compile("[\ud800-\udfff]")


def clean(text: str) -> str:
    """Half a surrogate pair (an escape can write one) is no character."""
    return LONE_SURROGATE.sub("\N{REPLACEMENT CHARACTER}", text)
