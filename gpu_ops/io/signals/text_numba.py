"""Compiled conversion of numbers to and from text. Both directions are exact, or report that they are uncertain.

Reading takes up to 19 digits of a line and scales them by a power of ten from a table of 128-bit values. The table is
truncated, so the product is a lower bound of an interval of known width; a line is accepted only when the whole
interval rounds to one double. Writing uses exact integers throughout.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np

Bytes = np.ndarray[Any, np.dtype[np.uint8]]
Words = np.ndarray[Any, np.dtype[np.uint64]]

LONGEST = 38
"""Bytes of the longest written line: sign, 19 digits, point, 16 digits, line break."""

# 19 digits times any of these powers is a normal double: overflow and subnormals cannot occur.
LOW, HIGH = -300, 288


def _powers() -> tuple[Words, Words, np.ndarray[Any, np.dtype[np.int64]]]:
    """10^q for q = LOW…HIGH as 128 bits, the top one set, truncated: both words, and the double's exponent field."""
    high, low, exponents = [], [], []
    for q in range(LOW, HIGH + 1):
        five = 5 ** abs(q)
        shift = 128 - five.bit_length() if q >= 0 else 127 + five.bit_length()
        scaled = (five << shift if shift >= 0 else five >> -shift) if q >= 0 else (1 << shift) // five
        high.append(scaled >> 64)
        low.append(scaled & (2**64 - 1))
        # A product's first word counts 2^128 and loses 11 bits; the top one of the other 53 adds 1 to the field itself.
        exponents.append(128 + 11 + q - shift + 52 + 1023 - 1)
    return np.array(high, np.uint64), np.array(low, np.uint64), np.array(exponents, np.int64)


POWER_HIGH, POWER_LOW, POWER_EXPONENT = _powers()

ZERO, ONE, TEN = np.uint64(0), np.uint64(1), np.uint64(10)
HALF_WORD, LOW_HALF = np.uint64(32), np.uint64(2**32 - 1)
SIGN, SIGN_BIT = np.uint64(63), np.uint64(1 << 63)
WORD = np.uint64(64)
MANTISSA_BITS, MANTISSA, EXPONENT = np.uint64(52), np.uint64(2**52 - 1), np.uint64(0x7FF)
DROPPED, DROPPED_MASK, DROPPED_HALF = np.uint64(11), np.uint64(0x7FF), np.uint64(0x400)
NEARLY, LOST_UNITS = np.uint64(2**64 - 4), np.uint64(34)
E16 = np.uint64(10**16)

NEWLINE, RETURN, SPACE, TAB, PLUS, MINUS, POINT, DIGIT = 10, 13, 32, 9, 43, 45, 46, 48
EXPONENT_LETTERS = (69, 101)
MOST_DIGITS = 19


@numba.njit(cache=True, nogil=True)
def _multiply(a: Any, b: Any) -> Any:
    """The 128-bit product of two words: high, low."""
    a1, a0, b1, b0 = a >> HALF_WORD, a & LOW_HALF, b >> HALF_WORD, b & LOW_HALF
    low, middle = a0 * b0, a1 * b0
    middle += low >> HALF_WORD
    other = a0 * b1 + (middle & LOW_HALF)
    return a1 * b1 + (middle >> HALF_WORD) + (other >> HALF_WORD), a * b


@numba.njit(cache=True, nogil=True)
def _scale(digits: Any, power: int, lost: bool) -> Any:
    """The bits of digits·10^power rounded to nearest, ties to even, and whether they are certain.

    `lost` says that more digits follow these 19, so that the true number is up to one unit above `digits`.
    """
    if digits == ZERO:
        return ZERO, True
    if power < LOW or power > HIGH:
        return ZERO, False
    exponent = POWER_EXPONENT[power - LOW]
    for step in (32, 16, 8, 4, 2, 1):  # to the top of the word; without branches, which a processor could not predict
        free = np.int64(digits >> np.uint64(64 - step) == ZERO) * step
        digits <<= np.uint64(free)
        exponent -= free
    top, middle = _multiply(digits, POWER_HIGH[power - LOW])
    carried, _ = _multiply(digits, POWER_LOW[power - LOW])
    middle += carried
    if middle < carried:
        top += ONE
    short = ONE - (top >> SIGN)
    top, middle = (top << short) | (middle >> SIGN & short), middle << short
    exponent -= np.int64(short)
    # The true value is at least top:middle and less than 4 units of middle above it; where digits were lost, less than
    # 34 units of top, because 19 digits fill at least 60 of 64 bits. It must not reach halfway from below.
    rest = top & DROPPED_MASK
    if lost and rest < DROPPED_HALF and rest + LOST_UNITS >= DROPPED_HALF:
        return ZERO, False
    if (rest == DROPPED_HALF and middle == ZERO) or (rest == DROPPED_HALF - ONE and middle >= NEARLY):
        return ZERO, False
    mantissa = (top >> DROPPED) + np.uint64(rest >= DROPPED_HALF)
    return (np.uint64(exponent) << MANTISSA_BITS) + mantissa, True


@numba.njit(cache=True, nogil=True)
def _run(data: Bytes, i: int, stop: int, digits: Any, count: int, lost: bool) -> Any:
    """Read a run of digits: its end, the significant digits so far, their number, the number of dropped digits, and
    whether one of them is not 0."""
    if count == 0:
        while i < stop and data[i] == DIGIT:
            i += 1
    begin, full = i, min(stop, i + MOST_DIGITS - count)
    while i < full:
        digit = np.uint64(data[i]) - np.uint64(DIGIT)  # any other character wraps around or is above 9
        if digit > np.uint64(9):
            break
        digits = digits * TEN + digit
        i += 1
    count += i - begin
    begin = i
    if count == MOST_DIGITS:
        while i < stop and DIGIT <= data[i] <= DIGIT + 9:
            lost = lost or data[i] != DIGIT
            i += 1
    return i, digits, count, i - begin, lost


@numba.njit(cache=True, nogil=True)
def _exponent(data: Bytes, i: int, stop: int) -> Any:
    """Read an exponent after its letter: its end, its value, and whether it has one to four digits."""
    sign = 1
    if i < stop and (data[i] == PLUS or data[i] == MINUS):
        sign = -1 if data[i] == MINUS else 1
        i += 1
    end, digits, count, _, _ = _run(data, i, stop, ZERO, 0, False)
    return end, sign * np.int64(digits), end > i and count <= 4


@numba.njit(cache=True, nogil=True)
def number(data: Bytes, i: int, stop: int) -> Any:
    """Read one number: its end, its bits, and whether they are certain."""
    sign = ZERO
    if i < stop and (data[i] == PLUS or data[i] == MINUS):
        sign = SIGN_BIT if data[i] == MINUS else ZERO
        i += 1
    end, digits, count, power, lost = _run(data, i, stop, ZERO, 0, False)
    seen = end > i
    i = end
    if i < stop and data[i] == POINT:
        end, digits, count, dropped, lost = _run(data, i + 1, stop, digits, count, lost)
        power -= end - (i + 1) - dropped
        seen = seen or end > i + 1
        i = end
    if seen and i < stop and data[i] in EXPONENT_LETTERS:
        i, exponent, seen = _exponent(data, i + 1, stop)
        power += exponent
    bits, sure = _scale(digits, power, lost)
    return i, bits | sign, sure and seen


@numba.njit(cache=True, nogil=True)
def parse_lines(data: Bytes, bits: Words, doubtful: np.ndarray[Any, np.dtype[np.bool_]]) -> None:
    """Parse the lines of `data` into the bits of one double each.

    An uncertain line has `doubtful` set and its offset in `data` in place of its bits.
    """
    i, stop = 0, len(data)
    for row in range(len(bits)):
        begin = i
        while i < stop and (data[i] == SPACE or data[i] == TAB):
            i += 1
        i, value, sure = number(data, i, stop)
        while i < stop and (data[i] == SPACE or data[i] == TAB or data[i] == RETURN):
            i += 1
        if i < stop and data[i] != NEWLINE:
            sure = False
            while i < stop and data[i] != NEWLINE:
                i += 1
        doubtful[row] = not sure
        bits[row] = value if sure else np.uint64(begin)
        i += 1


@numba.njit(cache=True, nogil=True)
def _split(mantissa: Any, point: int) -> Any:
    """mantissa·2^-point as its integer part and 16 decimals, rounded half to even on the exact remainder."""
    if point <= 0:
        return mantissa << np.uint64(-point), ZERO
    if point > 119:  # less than 2^-66, far below half of the last decimal
        return ZERO, ZERO
    shift = np.uint64(point)
    whole = mantissa >> shift if shift < WORD else ZERO
    rest = mantissa - (whole << shift) if shift < WORD else mantissa
    high, low = _multiply(rest, E16)
    if shift >= WORD:  # drop 56 bits; the last bit records whether one of them was set, so that ties stay ties
        dropped = np.uint64(56)
        sticky = ONE if low << (WORD - dropped) != ZERO else ZERO
        low = (high << (WORD - dropped)) | (low >> dropped) | sticky
        high = ZERO
        shift -= dropped
    decimals = (high << (WORD - shift)) | (low >> shift)
    remainder = low & ((ONE << shift) - ONE)
    half = ONE << (shift - ONE)
    if remainder > half or (remainder == half and decimals & ONE == ONE):
        decimals += ONE
    return whole, decimals  # never 10^16: below an integer the next double is further away than half a decimal


@numba.njit(cache=True, nogil=True)
def _write_digits(text: Bytes, end: int, number: Any, least: int) -> int:
    """Write the digits of `number` so that they end before `end`, at least `least` of them. Returns their start."""
    i = end
    while number != ZERO or end - i < least:
        i -= 1
        rest = number // TEN
        text[i] = np.uint8(number - rest * TEN) + np.uint8(DIGIT)
        number = rest
    return i


@numba.njit(cache=True, nogil=True)
def format_lines(bits: Words, text: Bytes) -> int:
    """Write each double, as its bits and below 2^63 in size, as "%.16f" and a line break. Returns the length."""
    line = np.empty(LONGEST, np.uint8)
    length = 0
    for word in bits:
        field = (word >> MANTISSA_BITS) & EXPONENT
        mantissa = word & MANTISSA
        if field != ZERO:
            mantissa |= ONE << MANTISSA_BITS
        whole, decimals = _split(mantissa, 1075 - (np.int64(field) if field != ZERO else 1))
        line[LONGEST - 1] = NEWLINE
        _write_digits(line, LONGEST - 1, decimals, 16)
        line[LONGEST - 18] = POINT
        begin = _write_digits(line, LONGEST - 18, whole, 1)
        if word >> SIGN == ONE:
            begin -= 1
            line[begin] = MINUS
        for i in range(begin, LONGEST):
            text[length] = line[i]
            length += 1
    return length
