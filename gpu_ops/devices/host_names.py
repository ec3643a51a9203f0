"""Names that nvcc has from the headers of the host, also where a file includes none of them, and NVRTC has not: types
such as uint, limits such as FLT_MAX, and a few of namespace std."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from gpu_ops.devices.host_code import declarations
from gpu_ops.devices.kernel_source import code_of

NAMES_HEADER = "names_of_the_host.h"
"""The header that the compiler reads before a file."""
_TYPES = {
    **{"int8_t": "signed char", "int16_t": "short", "int32_t": "int", "int64_t": "long long"},
    **{"uint8_t": "unsigned char", "uint16_t": "unsigned short", "uint32_t": "unsigned int"},
    **{"uint64_t": "unsigned long long", "intptr_t": "long long", "uintptr_t": "unsigned long long"},
    **{"uint": "unsigned int", "ushort": "unsigned short", "ulong": "unsigned long"},
}
_BITS = "__builtin_bit_cast({}, {})"
_MACROS = {
    **{"INFINITY": _BITS.format("float", "0x7f800000"), "HUGE_VALF": _BITS.format("float", "0x7f800000")},
    **{"HUGE_VAL": _BITS.format("double", "0x7ff0000000000000"), "NAN": _BITS.format("float", "0x7fc00000")},
    **{"EXIT_SUCCESS": "0", "EXIT_FAILURE": "1"},
    **{"M_E": "2.7182818284590452354", "M_LOG2E": "1.4426950408889634074", "M_LOG10E": "0.43429448190325182765"},
    **{"M_LN2": "0.69314718055994530942", "M_LN10": "2.30258509299404568402", "M_PI": "3.14159265358979323846"},
    **{"M_PI_2": "1.57079632679489661923", "M_PI_4": "0.78539816339744830962", "M_1_PI": "0.31830988618379067154"},
    **{"M_2_PI": "0.63661977236758134308", "M_2_SQRTPI": "1.12837916709551257390"},
    **{"M_SQRT2": "1.41421356237309504880", "M_SQRT1_2": "0.70710678118654752440"},
    **{"FLT_MAX": "3.402823466e+38f", "FLT_MIN": "1.175494351e-38f", "FLT_EPSILON": "1.192092896e-07f"},
    **{"DBL_MAX": "1.7976931348623158e+308", "DBL_MIN": "2.2250738585072014e-308"},
    **{"DBL_EPSILON": "2.2204460492503131e-16", "FLT_DIG": "6", "DBL_DIG": "15", "FLT_MANT_DIG": "24"},
    **{"DBL_MANT_DIG": "53", "CHAR_BIT": "8", "SCHAR_MAX": "127", "SCHAR_MIN": "(-128)", "UCHAR_MAX": "255"},
    **{"CHAR_MAX": "127", "CHAR_MIN": "(-128)", "SHRT_MAX": "32767", "SHRT_MIN": "(-32768)", "USHRT_MAX": "65535"},
    **{"INT_MAX": "2147483647", "INT_MIN": "(-2147483647 - 1)", "UINT_MAX": "4294967295u"},
    **{"LLONG_MAX": "9223372036854775807LL", "LLONG_MIN": "(-9223372036854775807LL - 1)"},
    **{"ULLONG_MAX": "18446744073709551615ULL", "INT8_MAX": "127", "INT8_MIN": "(-128)", "UINT8_MAX": "255"},
    **{"INT16_MAX": "32767", "INT16_MIN": "(-32768)", "UINT16_MAX": "65535", "INT32_MAX": "2147483647"},
    **{"INT32_MIN": "(-2147483647 - 1)", "UINT32_MAX": "4294967295u", "INT64_MAX": "9223372036854775807LL"},
    **{"INT64_MIN": "(-9223372036854775807LL - 1)", "UINT64_MAX": "18446744073709551615ULL"},
    **{"LONG_MAX": "((long)(~0ul >> 1))", "LONG_MIN": "(-(long)(~0ul >> 1) - 1)", "ULONG_MAX": "(~0ul)"},
}
_CALLED = (
    *("abs", "acos", "asin", "atan", "atan2", "cbrt", "ceil", "copysign", "cos", "cosh", "erf", "exp", "exp2", "fabs"),
    *("floor", "fma", "fmax", "fmin", "fmod", "hypot", "isfinite", "isinf", "isnan", "log", "log10", "log1p", "log2"),
    *("nearbyint", "pow", "rint", "round", "rsqrt", "sin", "sinh", "sqrt", "tan", "tanh", "trunc"),
    *("min", "max", "swap"),
)
"""Functions of std; only those with std:: before them count, because a file may have its own of that name."""
_TRAITS = """template <class T, T v> struct integral_constant {
    static constexpr T value = v;
    typedef T value_type;
    __host__ __device__ constexpr operator T() const noexcept { return v; }
};
template <bool b> using bool_constant = integral_constant<bool, b>;
using true_type = bool_constant<true>;
using false_type = bool_constant<false>;
template <class A, class B> struct is_same : false_type {};
template <class A> struct is_same<A, A> : true_type {};
template <class A, class B> constexpr bool is_same_v = is_same<A, B>::value;
template <bool b, class A, class B> struct conditional { typedef A type; };
template <class A, class B> struct conditional<false, A, B> { typedef B type; };
template <bool b, class A, class B> using conditional_t = typename conditional<b, A, B>::type;
template <bool b, class T = void> struct enable_if {};
template <class T> struct enable_if<true, T> { typedef T type; };
template <bool b, class T = void> using enable_if_t = typename enable_if<b, T>::type;
template <class T> struct remove_const { typedef T type; };
template <class T> struct remove_const<const T> { typedef T type; };
template <class T> using remove_const_t = typename remove_const<T>::type;
template <class T> struct remove_cv { typedef T type; };
template <class T> struct remove_cv<const T> { typedef T type; };
template <class T> struct remove_cv<volatile T> { typedef T type; };
template <class T> struct remove_cv<const volatile T> { typedef T type; };
template <class T> using remove_cv_t = typename remove_cv<T>::type;
template <class T> struct remove_reference { typedef T type; };
template <class T> struct remove_reference<T&> { typedef T type; };
template <class T> struct remove_reference<T&&> { typedef T type; };
template <class T> using remove_reference_t = typename remove_reference<T>::type;
"""
_LIMITS = """template <class T> struct numeric_limits { static constexpr bool is_specialized = false; };
#define LIMITS(T, LEAST, LOWEST, MOST, INTEGER, MORE) template <> struct numeric_limits<T> { \\
    static constexpr bool is_specialized = true, is_integer = INTEGER, is_signed = (T)-1 < (T)0; \\
    __host__ __device__ static constexpr T min() noexcept { return LEAST; } \\
    __host__ __device__ static constexpr T lowest() noexcept { return LOWEST; } \\
    __host__ __device__ static constexpr T max() noexcept { return MOST; } MORE };
#define UNSIGNED(T) LIMITS(T, 0, 0, (T)-1, true, )
#define SIGNED(T, U) LIMITS(T, -(T)((U)-1 >> 1) - 1, -(T)((U)-1 >> 1) - 1, (T)((U)-1 >> 1), true, )
#define FLOATING(T, LEAST, MOST, EPSILON, INFINITE, QUIET) LIMITS(T, LEAST, -MOST, MOST, false, \\
    static constexpr bool has_infinity = true; \\
    __host__ __device__ static constexpr T epsilon() noexcept { return EPSILON; } \\
    __host__ __device__ static constexpr T infinity() noexcept { return __builtin_bit_cast(T, INFINITE); } \\
    __host__ __device__ static constexpr T quiet_NaN() noexcept { return __builtin_bit_cast(T, QUIET); })
LIMITS(bool, false, false, true, true, )
UNSIGNED(unsigned char)
UNSIGNED(unsigned short)
UNSIGNED(unsigned int)
UNSIGNED(unsigned long)
UNSIGNED(unsigned long long)
LIMITS(char, char(-128), char(-128), 127, true, )
SIGNED(signed char, unsigned char)
SIGNED(short, unsigned short)
SIGNED(int, unsigned int)
SIGNED(long, unsigned long)
SIGNED(long long, unsigned long long)
FLOATING(float, 1.175494351e-38f, 3.402823466e+38f, 1.192092896e-07f, 0x7f800000, 0x7fc00000)
FLOATING(double, 2.2250738585072014e-308, 1.7976931348623158e+308, 2.2204460492503131e-16, 0x7ff0000000000000, \
    0x7ff8000000000000)
#undef LIMITS
#undef UNSIGNED
#undef SIGNED
#undef FLOATING
"""
_CODE = {
    "min": "template <class T> __host__ __device__ constexpr const T& min(const T& a, const T& b) "
    "{ return b < a ? b : a; }\n",
    "max": "template <class T> __host__ __device__ constexpr const T& max(const T& a, const T& b) "
    "{ return a < b ? b : a; }\n",
    "swap": "template <class T> __host__ __device__ void swap(T& a, T& b) { T c = a; a = b; b = c; }\n",
}
_GROUPS = {"traits": _TRAITS, "limits": _LIMITS}
_GROUP = {
    **dict.fromkeys(re.findall(r"(?:struct|using|constexpr bool) (\w+)[ ;]?(?=[ ={:])", _TRAITS), "traits"),
    "numeric_limits": "limits",
}
"""The names of std with code of their own, and which code that is."""
_ALL = {*_TYPES, *_MACROS, "std"}
_STD = r"(?<!\w :: )\bstd"  # not that of cuda::std
_DECLARED = r"\b(?:float|double|int|unsigned|long|short|char|bool|auto|const|constexpr)(?: [*&])* {}\b"


def names_header(texts: Sequence[str], besides: Iterable[str], declared: Iterable[str]) -> str:
    """The text of a header that declares those of the names that the code `texts` and the texts `besides`, such as
    instances, use and that neither the code nor `declared` has of its own; "" where there are none."""
    code = "\n".join(map(code_of, (*texts, *besides)))
    words = set(re.findall(r"[A-Za-z_]\w*", code))
    if not words & _ALL:
        return ""
    own = {*declared, *re.findall(r"^# define (\w+)", code, re.M)}.union(
        *(d.names for t in texts for d in declarations(t))
    )
    wanted = words - own
    lines = [f"typedef {c} {name};\n" for name, c in _TYPES.items() if name in wanted]
    here = [name for name in _MACROS if name in wanted and not re.search(_DECLARED.format(name), code)]
    lines += [f"#define {name} {_MACROS[name]}\n" for name in here]
    return "".join((*lines, _of_std(code, words, own)))


def _of_std(code: str, words: set[str], own: set[str]) -> str:
    """The part of the header in namespace std."""
    if not re.search(rf"{_STD}\b", code):
        return ""
    called = {*re.findall(rf"{_STD} :: (\w+)", code)}
    if "using namespace std ;" in code:
        called |= {"swap"} & words
    elif not re.search(r"\bnamespace std \{ [^}]", code):
        own = set()  # a name outside of std is another one
    types: Mapping[str, str] = {
        **_TYPES,
        "size_t": "size_t",
        "ptrdiff_t": "ptrdiff_t",
        "nullptr_t": "decltype(nullptr)",
    }
    lines = [f"typedef {c} {name};\n" for name, c in types.items() if name in called - own]
    lines += [_CODE.get(name, f"using ::{name};\n") for name in _CALLED if name in called - own]
    groups = {_GROUP[name] for name in _GROUP if name in words}
    lines += [text for group, text in _GROUPS.items() if group in groups and not _names_of(group) & own]
    return "".join(("namespace std {\n", *lines, "}\n")) if lines else ""


def _names_of(group: str) -> set[str]:
    return {name for name, of in _GROUP.items() if of == group}
