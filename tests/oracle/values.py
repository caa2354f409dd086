"""What a value means where a time, a whole number or a quantity is expected."""

import math
import re
import struct
from decimal import ROUND_HALF_EVEN, Context, Decimal

from oracle.text import Json, Number

TIME = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
REAL = re.compile(r"-?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
HEX = re.compile(r"0[xX][0-9a-fA-F]+")
MOST_NANOSECONDS = 2**62  # so that no sum of two times overflows
INT64 = range(-(2**63), 2**63)
UINT64 = range(2**64)
EXACTLY = Context(prec=100_000, rounding=ROUND_HALF_EVEN)


def number_text(value: Json, form: re.Pattern[str]) -> str | None:
    """The text of a number, or of a string that holds nothing else."""
    text = value.text if isinstance(value, Number) else value
    if isinstance(text, str) and form.fullmatch(text):
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
    return rounded if abs(rounded) <= MOST_NANOSECONDS else None


def has_picoseconds(text: str) -> bool:
    """Is there something below the nanosecond?"""
    value = exact(text)
    return value is not None and EXACTLY.remainder(value.scaleb(3, EXACTLY), Decimal(1)) != 0


def integer(value: Json) -> int | None:
    """A whole number of at most 64 bits, signed or not; decimals and exponents only up to 2^53."""
    text = value.text if isinstance(value, Number) else value
    if not isinstance(text, str):
        return None
    if HEX.fullmatch(text):
        number = int(text, 16)
    elif re.fullmatch("-?[0-9]+", text):
        number = int(text)
    else:
        real = number_text(value, REAL)
        decimal = None if real is None else exact(real)
        if decimal is None or decimal != int(decimal) or abs(decimal) > 2**53:
            return None
        number = int(decimal)
    return number if number in INT64 or number in UINT64 else None


def signed(value: Json) -> int | None:
    """A whole number as 64 signed bits keep it."""
    number = integer(value)
    return number if number is None or number in INT64 else number - 2**64


def identifier(value: Json) -> int | None:
    """A whole number as the engine keeps ids: 64 signed bits, -1 is "none"."""
    number = signed(value)
    return None if number == -1 else number


def narrow(value: Json) -> int | None:
    """An id that the engine keeps in 32 bits; what does not fit is as large as can be."""
    number = identifier(value)
    return None if number is None else max(-(2**31) + 1, min(2**31 - 1, number))


def real(value: Json) -> float | None:
    """A quantity as a double; None beyond its range."""
    text = number_text(value, REAL)
    if text is None:
        return None
    number = float(text)
    lost = number == 0 and re.search("[1-9]", text.lower().partition("e")[0])
    return None if math.isinf(number) or lost else number


def single(value: Json) -> float | None:
    """A quantity as the engine's 32-bit float columns keep it."""
    number = real(value)
    if number is None:
        return None
    try:
        kept: float = struct.unpack("f", struct.pack("f", number))[0]
    except OverflowError:
        return math.copysign(math.inf, number)
    return kept
