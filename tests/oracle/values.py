"""What a value means where a time, a whole number or a quantity is expected."""

import re
import struct
from decimal import ROUND_HALF_EVEN, Context, Decimal

from oracle.text import Json, Number

NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?")
INT64 = range(-(2**63), 2**63)
UINT64 = range(2**64)
EXACTLY = Context(prec=100_000, rounding=ROUND_HALF_EVEN)


def number_text(value: Json) -> str | None:
    """The decimal text of a number, or of a string that holds nothing else."""
    text = value.text if isinstance(value, Number) else value
    if isinstance(text, str) and NUMBER.fullmatch(text):
        return text
    return None


def exact(text: str) -> Decimal | None:
    """The number's value; None beyond any use, so that 1e999999999 costs nothing."""
    number = Decimal(text)
    if number.is_zero():
        return Decimal(0)
    if number.adjusted() > 40:
        return None
    return Decimal("1e-40").copy_sign(number) if number.adjusted() < -40 else number


def nanoseconds(text: str) -> int | None:
    """Microseconds in decimal text as whole nanoseconds, half to even; None if it does not fit."""
    value = exact(text)
    if value is None:
        return None
    rounded = int(EXACTLY.to_integral_value(value.scaleb(3, EXACTLY)))
    return rounded if rounded in INT64 else None


def has_picoseconds(text: str) -> bool:
    """Is there something below the nanosecond?"""
    value = exact(text)
    return value is not None and EXACTLY.remainder(value.scaleb(3, EXACTLY), Decimal(1)) != 0


def integer(value: Json) -> int | None:
    """A whole number of at most 64 bits, signed or not."""
    text = number_text(value)
    if text is None:
        return None
    number = exact(text)
    if number is None or number != int(number):
        return None
    return int(number) if int(number) in INT64 or int(number) in UINT64 else None


def identifier(value: Json) -> int | None:
    """A whole number as the engine keeps ids: 64 bits, -1 is "none"."""
    number = integer(value)
    if number is None or number == -1:
        return None
    return number


def real(value: Json) -> float | None:
    """A quantity as a double."""
    text = number_text(value)
    return None if text is None else float(text)


def single(value: Json) -> float | None:
    """A quantity as the engine's 32-bit float columns keep it."""
    number = real(value)
    if number is None:
        return None
    try:
        kept: float = struct.unpack("f", struct.pack("f", number))[0]
    except OverflowError:
        return None
    return kept
