"""Kernel files from elsewhere: their text, the headers that they include, and the kernels that they declare."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from gpu_ops.devices.host_code import declarations
from gpu_ops.devices.kernel_source import HOST_HEADERS, base_name, code_of, header_files
from gpu_ops.errors import InputError, KernelError, ParamError, plain
from gpu_ops.io.regular import require_regular

LARGEST_KERNEL = 1 << 20
"""The largest kernel file in bytes."""
MOST_HEADERS = 200


class Declared(NamedTuple):
    """A kernel in a file: its name without namespaces, the parameters of its template, such as "class T" (none where it
    is no template), the declarations of its parameters, such as "const float * x", and its namespaces,
    such as "a::b"."""

    name: str
    template: tuple[str, ...]
    params: tuple[str, ...]
    scope: str = ""

    @property
    def qualified(self) -> str:
        """Its name with its namespaces."""
        return f"{self.scope}::{self.name}" if self.scope else self.name

    @property
    def first_instance(self) -> str:
        """The kernel as C++ names it: of a template an instance that might be meant, for float, 16 and false."""
        values = ", ".join(map(_first_value, self.template))
        return f"{self.qualified}<{values}>" if self.template else self.qualified

    def is_meant(self, name: str) -> bool:
        """Whether a name as C++ writes it, such as "my::reduce<int>", is this kernel's; namespaces may be left out."""
        given = name.partition("<")[0].replace(" ", "").removeprefix("::")
        return f"::{self.qualified}".endswith(f"::{given}")

    def full_name(self, name: str) -> str:
        """A name that means this kernel with all of its namespaces, as the compiler finds it."""
        _, angle, values = name.partition("<")
        return f"{self.qualified}{angle}{values}" if self.is_meant(name) else name


@dataclass(frozen=True)
class OwnFile:
    """A kernel file from elsewhere. `name` is its name without folders, `texts` has its text and those of the headers,
    by the names in the code."""

    name: str
    texts: Mapping[str, str] = field(repr=False)

    @property
    def kernels(self) -> tuple[Declared, ...]:
        """The kernels that the file and its headers declare, those of the file first."""
        found: dict[str, Declared] = {}
        for text in self.texts.values():
            for declared in declared_kernels(text):
                found.setdefault(declared.qualified, declared)
        return tuple(found.values())

    def kernel(self, name: str | None) -> Declared:
        """The kernel with a name as C++ writes it, such as "my::reduce<int>", in which namespaces may be left out where
        one kernel alone has the name; without a name, the only kernel. Raises ParamError, which names the kernels."""
        kernels = self.kernels
        shown = ", ".join(f"{d.qualified}<…>" if d.template else d.qualified for d in kernels)
        if not kernels:
            raise ParamError(f"{plain(self.name)} has no kernel: a kernel is declared __global__ void name(…).")
        if name is None:
            if len(kernels) > 1:
                raise ParamError(f"{plain(self.name)} has several kernels; choose one with --kernel: {shown}.")
            name = kernels[0].qualified
        meant = [d for d in kernels if d.is_meant(name)] or [d for d in kernels if d.name == base_name(name)]
        meant = [d for d in meant if d.full_name(name) == name] or meant
        if len(meant) != 1:
            has = "several kernels" if meant else "no kernel"
            raise ParamError(f"{plain(self.name)} has {has} {plain(name, 80)}; choose one with --kernel: {shown}.")
        (found,) = meant
        if found.template and "<" not in name:
            raise ParamError(
                f"{found.qualified} is a template; name an instance with --kernel, such as '{found.first_instance}'."
            )
        return found

    def with_clusters(self, name: str, cluster: tuple[int, int, int]) -> dict[str, str]:
        """The texts in which a kernel declares its clusters; all lines and columns keep their numbers. Raises
        ParamError where it declares them already."""
        texts = dict(self.texts)
        for file, text in texts.items():
            found = next((d for d in declarations(text) if name in d.names and "__global__" in d.head), None)
            if found is None:
                continue
            if "__cluster_dims__" in found.head:
                raise ParamError(f"{name} declares its clusters itself, with __cluster_dims__; leave --cluster out.")
            at = next(part.end for part in found.tokens if part.text == "__global__")
            before = text[:at]
            line, column = before.count("\n") + 1, at - before.rfind("\n") - 1
            mark = f" __cluster_dims__({cluster[0]}, {cluster[1]}, {cluster[2]})\n#line {line}\n{' ' * column}"
            texts[file] = before + mark + text[at:]
            return texts
        raise ParamError(f"{plain(self.name)} declares {name} in another way than __global__ void {name}(…).")


def read_kernel(path: str | Path, header: bool = False) -> str:
    """The text of a user's kernel file, or of a header, which alone may be empty. Raises InputError."""
    require_regular(Path(path), "a kernel")
    try:
        with open(path, "rb") as file:
            data = file.read(LARGEST_KERNEL + 1)
        text = data.decode("utf-8")
    except OSError as error:
        reason = str(error.strerror)
    except UnicodeDecodeError as error:
        reason = f"{_place(data, error.start)} is no UTF-8"
    else:
        reason = f"it is larger than {LARGEST_KERNEL >> 10} KiB" if len(data) > LARGEST_KERNEL else ""
        if 0 in data:
            reason = reason or f"{_place(data, data.index(0))} is a null character"
        reason = reason or ("" if header or text.strip() else "it is empty")
        if not reason:
            return text
    raise InputError(f"{plain(path)} cannot be read as CUDA C ({reason}); give a text file, such as mine.cu.")


def _place(data: bytes, at: int) -> str:
    """A byte by its line and column, both from 1: "the byte 0xe4 in line 1, column 4"."""
    return f"the byte 0x{data[at]:02x} in line {data.count(10, 0, at) + 1}, column {at - data.rfind(10, 0, at)}"


def with_own_name(text: object, shipped: str, name: str) -> str:
    """A message with the name of the user's file in place of that of the shipped file that it replaces."""
    return str(text).replace(shipped, plain(name))


def read_file(path: str | Path, folders: Sequence[str | Path] = ()) -> OwnFile:
    """A kernel file with the headers that it includes from `folders`, directly or through other headers; a header is
    looked for next to the header that includes it, then in one folder after another, and only there. Raises InputError,
    KernelError."""
    name = Path(path).name
    texts = {name: read_kernel(path)}
    for folder in map(Path, folders):
        if not folder.is_dir():
            raise InputError(f"{plain(folder)} is no folder; --include names a folder with headers.")
    waiting: list[tuple[str, list[tuple[Path, Path]]]] = [(texts[name], [])]
    while waiting:
        includer, beside = waiting.pop()
        for wanted in _included(includer):
            if wanted in texts or wanted in header_files():
                continue
            places = [*beside, *((Path(folder), Path(folder)) for folder in folders)]
            file, top = next(((f, top) for at, top in places if (f := _inside(top, at / wanted))), (None, None))
            text = read_kernel(file, header=True) if file else HOST_HEADERS.get(wanted)
            if text is not None:
                texts[wanted] = text
                waiting.append((text, [(file.parent, top)] if file and top else []))
            if len(texts) > MOST_HEADERS:
                raise KernelError(f"{plain(name)} includes more than {MOST_HEADERS} headers; name fewer folders.")
    return OwnFile(name, texts)


def _inside(folder: Path, path: Path) -> Path | None:
    """A header in a folder or in those within; None where there is none, or where it is outside."""
    file, top = path.resolve(), folder.resolve()
    return file if file.is_relative_to(top) and file.is_file() else None


def _included(text: str) -> Iterator[str]:
    for match in re.finditer(r'^# include (?:"([^"]+)"|< ([^<>]+) >)', code_of(text), re.M):
        yield match[1] or match[2].replace(" ", "")


_GLOBAL = re.compile(r"(?<!\w)__global__(?!\w)")
_SCOPES = re.compile(
    r"^# .*$|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'|(?<!\w)__global__(?!\w)"
    r"|(?:\bnamespace (?P<namespace>\w+(?: :: \w+)*) )?\{|\}",
    re.M,
)
"""Directives and texts, whose brackets mean nothing, kernels, and the brackets of namespaces and others."""
_TEMPLATE = re.compile(r"template < ?")
_NAME = re.compile(r"(\w+) \(")
_INTEGER = re.compile(r"(?:const )?(?:(?:un)?signed|char|short|int|long|uint|size_t|u?int\d+_t| )+")
_SIGNS = re.compile(r"[;{}\n]")
_ATTRIBUTE = re.compile(r"__(?:launch_bounds|maxnreg|cluster_dims|block_size|attribute)__ \(|alignas \(")


LONGEST_HEAD = 4000
"""Characters before a kernel's name, and of its parameters: without limits a hostile file takes minutes."""


def declared_kernels(text: str) -> tuple[Declared, ...]:
    """The kernels that a text declares, in order, each once."""
    code = code_of(text)
    found: dict[str, Declared] = {}
    matches, end, scopes = [*_GLOBAL.finditer(code)], 0, _scopes(code)
    for number, match in enumerate(matches):
        at, begin = match.end(), max(match.start() - LONGEST_HEAD, end)
        last = min([at + LONGEST_HEAD, *(m.start() for m in matches[number + 1 : number + 2])])
        end = at
        while attribute := _ATTRIBUTE.search(code, at, code.find("(", at, last) + 1):
            at = _closing(code, attribute.end())
        scope = next(scopes)
        if name := _NAME.search(code, at, last):
            inner = code[name.end() : _closing(code, name.end()) - 1]
            before = _SIGNS.split(code[begin : match.start()])[-1]  # of this declaration
            template = _TEMPLATE.search(before)
            of = _of_template(before[template.end() :]) if template else ()
            declared = Declared(name[1], tuple(of), tuple(_split(inner)), scope)
            found.setdefault(declared.qualified, declared)
    return tuple(found.values())


def _scopes(code: str) -> Iterator[str]:
    """The namespaces of each __global__ in the code, such as "a::b"; "" from where brackets do not match."""
    scopes, right = list[str](), True
    for part in _SCOPES.finditer(code):
        if part[0].endswith("{"):
            scopes.append((part["namespace"] or "").replace(" ", ""))
        elif part[0] == "}":
            right = right and bool(scopes)
            scopes[-1:] = []
        elif part[0] == "__global__":
            yield "::".join(filter(None, scopes)) if right else ""


def _first_value(parameter: str) -> str:
    """A first value of a template's parameter: a type, a truth, a number, or a number as another type, such as an
    enumeration."""
    words = parameter.partition("=")[0].replace("...", " ").split()
    if words[0] in ("class", "typename"):
        return "float"
    kind = " ".join(words[:-1] if len(words) > 1 else words)
    return "false" if kind == "bool" else "16" if _INTEGER.fullmatch(kind) else f"({kind})0"


def _closing(code: str, start: int) -> int:
    """The end of the brackets that were opened before `start`."""
    depth, last = 1, min(start + LONGEST_HEAD, len(code))
    for place in range(start, last):
        depth += {"(": 1, ")": -1}.get(code[place], 0)
        if depth == 0:
            return place + 1
    return last


def _of_template(code: str) -> Iterator[str]:
    """The parameters of a template, up to the > that ends them: a > within other brackets ends nothing."""
    depth, angles = 0, 1
    for place, letter in enumerate(code):
        depth += {"(": 1, "[": 1, ")": -1, "]": -1}.get(letter, 0)
        angles += {"<": 1, ">": -1}.get(letter, 0) if depth == 0 else 0
        if angles == 0:
            return _split(code[:place])
    return iter(())


def _split(inner: str) -> Iterator[str]:
    """The parameters of a declaration."""
    depth, start = 0, 0
    for place, letter in enumerate(inner + ","):
        depth += {"(": 1, "<": 1, "[": 1, "{": 1, ")": -1, ">": -1, "]": -1, "}": -1}.get(letter, 0)
        if letter == "," and depth == 0 or place == len(inner):
            if part := inner[start:place].strip():
                yield part
            start = place + 1
