"""What a kernel file has for the host: NVRTC compiles code for the device alone, and most files of CUDA C also have a
main function, helpers and variables of the host."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import NamedTuple

from gpu_ops.devices.kernel_source import tokens

FOR_DEVICE = {"__global__", "__device__", "__constant__", "__managed__", "__shared__"}
CONSTANT_CODE = {"constexpr", "consteval"}
CONSTANT = {"const", *CONSTANT_CODE}
_PAIRS = {"(": ")", "[": "]", "{": "}"}
_TYPES = {"struct", "class", "union", "enum", "typedef", "using", "concept"}
_WORD = re.compile(r"[A-Za-z_]\w*")
_TAGS = re.compile(
    r"__launch_bounds__|__attribute__|__(?:builtin_)?align__|alignas|decltype|__declspec|__cluster_dims__"
)
_AFTER = {"const", "noexcept", "override", "final", "try", "mutable"}
"""Words between the parameters of a function and its body."""
LONGEST_HEAD = 500
"""Tokens of a declaration outside of its brackets: without a limit a hostile file takes minutes."""
_OF_BASES = (":", ",", "::", "public", "private", "protected", "virtual")
"""What precedes the name of a base class."""
ENDS = ("(", "[", "{", "=", ",", ";", ":")
"""What follows a name that is declared."""


class Token(NamedTuple):
    """A token and its position; `directive` is the number of the line with # that it is part of, 0 for none."""

    text: str
    start: int
    end: int
    directive: int


class Declaration(NamedTuple):
    """A declaration outside of functions and classes: its tokens, those outside of brackets as `head`, the names that
    it declares, and all of its words."""

    tokens: Sequence[Token]
    head: Sequence[str]
    names: frozenset[str]
    words: frozenset[str]

    @property
    def by_use(self) -> bool:
        """Whether code of the device may use it without a word that says so: a type or a constant."""
        if list(self.head[:3]) == ["using", "std", "::"]:
            return False
        constant = CONSTANT_CODE if _calls(self.head) else CONSTANT
        return bool(_TYPES.intersection(self.head[:3]) or constant.intersection(self.head))

    @property
    def stays(self) -> bool:
        """Whether it names a namespace, not a thing of its own."""
        return self.head[0] == "namespace" or list(self.head[:2]) == ["using", "namespace"]


def without_host_code(texts: Mapping[str, str], wanted: Iterable[str] = ()) -> tuple[dict[str, str], frozenset[str]]:
    """Files in which blanks replace the declarations of the host, so that lines and columns stay, and the names of
    those: functions and variables without __device__ and the like, and types and constants that no code of the device
    uses. `wanted` are texts with names that are used besides. A file that cannot be divided so is left as it is: the
    compiler says where its fault is. So are variables where no function is for the host: nothing could use them, and
    what looks like one may be a slip of the keyboard."""
    macros: dict[str, set[str]] = defaultdict(set)
    found: dict[str, list[Declaration]] = {}
    whole = set[str]()  # the words of files that cannot be divided: any of them may be a kernel's
    for name, text in texts.items():
        parts = [*_tokens_of(text)]
        for macro, words in _macros(parts):
            macros[macro] |= words
        own = _declarations(parts)
        found[name] = own or []
        whole |= {part.text for part in parts} if own is None else set()
    everything = [d for own in found.values() for d in own]
    inner = [({word}, {m}) for m, words in macros.items() for word in words]
    marks = _reached(FOR_DEVICE, inner)
    kept = {id(d) for d in everything if d.stays or d.words & marks}
    used = whole.union(*(_WORD.findall(text) for text in wanted))
    used = used.union(*(d.words for d in everything if id(d) in kept))
    by_use = [d for d in everything if d.by_use]
    following = [(d.names, d.words) for d in by_use] + [({m}, words) for m, words in macros.items()]
    for _ in range(2):  # assertions of what is used, which may use more
        used = _reached(used, following)
        kept |= {id(d) for d in by_use if d.names & used}
        checks = _checks(everything, kept)
        kept |= {id(d) for d in checks}
        used = used.union(*(d.words for d in checks))
    if not any(_calls(d.head) and id(d) not in kept for d in everything):
        kept |= {id(d) for d in everything if not d.by_use and d.head[0] != "using"}
    dropped = {
        name: [part for d in own for part in (_host_members(d, marks) if id(d) in kept else [d])]
        for name, own in found.items()
    }
    names = frozenset[str]().union(*(d.names for d in everything if id(d) not in kept))
    return {name: _blanked(text, dropped[name]) for name, text in texts.items()}, names


def _checks(everything: Sequence[Declaration], kept: set[int]) -> list[Declaration]:
    """The assertions that the compiler can check: of constants, and of what stays."""
    there = set().union(*(d.names for d in everything if id(d) in kept))
    there = there.union(*(d.names for d in everything if CONSTANT.intersection(d.head)))
    missing = set().union(*(d.names for d in everything)) - there - {"static_assert"}
    return [d for d in everything if d.head[0] == "static_assert" and not d.words & missing]


def _host_members(declaration: Declaration, marks: set[str]) -> list[Declaration]:
    """The functions of a class that are for the host alone, constructors too."""
    parts = declaration.tokens
    begin = next((n for n, p in enumerate(parts) if p.text == "{" and not p.directive), 0)
    if not begin or not {"struct", "class", "union"}.intersection(declaration.head[:2]):
        return []
    members = _declarations(parts[begin + 1 : _closing(parts, begin)]) or []
    kept = marks | CONSTANT_CODE | {"typedef", "using", "static_assert"}
    host = [m for m in members if _calls(m.head) and "( (" not in " ".join(m.head) and not m.words & kept]
    return [m._replace(tokens=_after_access(m.tokens)) for m in host]


def _after_access(parts: Sequence[Token]) -> Sequence[Token]:
    """The tokens of a member without the "public:" and the like before it, which hold for the next members too."""
    while [p.text for p in parts[1:2]] == [":"] and parts[0].text in ("public", "private", "protected"):
        parts = parts[2:]
    return parts


def declarations(text: str) -> Sequence[Declaration]:
    """The declarations of a file outside of functions and classes; none where its brackets do not match."""
    return _declarations([*_tokens_of(text)]) or []


def _reached(first: Iterable[str], steps: Sequence[tuple[Iterable[str], Iterable[str]]]) -> set[str]:
    """All names that follow from the first ones: a step's second names follow from each of its first names."""
    following: dict[str, list[Iterable[str]]] = defaultdict(list)
    for names, words in steps:
        for name in names:
            following[name].append(words)
    reached, waiting = set[str](), [*first]
    while waiting:
        name = waiting.pop()
        if name not in reached:
            reached.add(name)
            waiting += [word for words in following.get(name, ()) for word in words]
    return reached


def _tokens_of(text: str) -> Iterator[Token]:
    """The tokens without blanks and comments."""
    first, directive, directives = True, 0, 0
    for token, blank, start in tokens(text):
        if token == "\n":
            first, directive = True, 0
        elif not blank:
            if first and token == "#":
                directives += 1
                directive = directives
            first = False
            yield Token(token.strip(), start, start + len(token), directive)


def _macros(parts: Sequence[Token]) -> Iterator[tuple[str, set[str]]]:
    """Each macro with the words of its replacement."""
    for number, line in groupby(parts, key=lambda p: p.directive):
        texts = [p.text for p in line] if number else []
        if texts[1:2] == ["define"] and len(texts) > 2:
            yield texts[2].rstrip("( "), {text for text in texts[3:] if _WORD.fullmatch(text)}


def _declarations(parts: Sequence[Token]) -> list[Declaration] | None:
    """The declarations of a file, those within namespaces too; None where brackets do not match, or one is very
    long."""
    found, head, begin, place, scopes = list[Declaration](), list[str](), 0, 0, 0
    while place < len(parts):
        text, ends = parts[place].text, False
        if parts[place].directive:
            place += 1
            continue
        if text == "{" and _opens_scope(head) or text == "}":
            scopes += 1 if text == "{" else -1
            head, begin = [], place + 1
        elif text in _PAIRS:
            ends = text == "{" and _is_function(head)
            place = _closing(parts, place)
            if place == len(parts):
                return None
            head.append(text)
        elif text in (")", "]"):
            return None
        else:
            ends = text == ";"
            head.append(text)
        place += 1
        if len(head) > LONGEST_HEAD:
            return None
        if ends:
            found.append(_declaration(parts[begin:place], head))
            head, begin = [], place
    return found if scopes == 0 else None


def _opens_scope(head: Sequence[str]) -> bool:
    """Whether a { after these tokens is that of a namespace, or of extern "C"."""
    return "namespace" in head[:2] and "=" not in head or (head[:1] == ["extern"] and len(head) == 2)


def _is_function(head: Sequence[str]) -> bool:
    """Whether a { after these tokens, which are outside of brackets, begins the body of a function: what it closes then
    ends the declaration."""
    calls = _calls(head)
    member = ":" in calls and _WORD.fullmatch(calls[-1]) and calls[-1] not in _AFTER  # A() : x{1} {…}
    return bool(calls) and not member


def _calls(head: Sequence[str]) -> Sequence[str]:
    """What follows the name of a function, from the bracket on; nothing where the declaration is none of a function."""
    plain = _untemplated(head)
    first = [
        n
        for n, text in enumerate(plain)
        if text == "(" and not (n and _TAGS.fullmatch(plain[n - 1])) and not _in_angles(plain, n)
    ]
    return plain[first[0] :] if first and ("=" not in plain or "operator" in plain) else ()


def _in_angles(head: Sequence[str], place: int) -> bool:
    """Whether a place is within the arguments of a template: Column<A + (B ? 1 : 2)> rows."""
    before = head[:place]
    if "<" not in before or "operator" in before:
        return False
    depth = sum({"<": 1, ">": -1, ">>": -2}.get(text, 0) for text in before)
    return depth > 0 and any(text in (">", ">>") for text in head[place:])


def _untemplated(head: Sequence[str]) -> Sequence[str]:
    """The tokens after template<…>."""
    while head[0:1] == ["template"] and head[1:2] == ["<"]:
        depth = 0
        for place, text in enumerate(head):
            depth += {"<": 1, ">": -1, ">>": -2}.get(text, 0)
            if place and depth <= 0:
                break
        head = head[place + 1 :]
    return head


def _closing(parts: Sequence[Token], place: int) -> int:
    """The place of the bracket that closes the one at a place; the number of tokens where none does."""
    opening, depth = parts[place].text, 0
    closing = _PAIRS[opening]
    for at in range(place, len(parts)):
        if not parts[at].directive:
            depth += (parts[at].text == opening) - (parts[at].text == closing)
            if depth == 0:
                return at
    return len(parts)


def _declaration(parts: Sequence[Token], head: Sequence[str]) -> Declaration:
    first = next(n for n, p in enumerate(parts) if not p.directive)
    words = frozenset(p.text for p in parts[first:] if _WORD.fullmatch(p.text))
    plain = _untemplated(head)
    inner = [p.text for p in parts[first:]] if {"enum", "typedef"}.intersection(plain[:2]) else []
    before = ("{", ",") if "enum" in plain[:2] else ("*",)  # an enumerator, or a pointer to a function
    names = {b for a, b in zip(inner, inner[1:], strict=False) if a in before and _WORD.fullmatch(b)}
    return Declaration(parts[first:], plain or head, frozenset({*_names(plain), *_specialised(plain), *names}), words)


def _names(head: Sequence[str]) -> Iterator[str]:
    """The names that a declaration declares: those before brackets, a value, a comma or the end."""
    if head[:1] == ["using"] and "=" not in head:
        yield head[-2]
    angles, value = 0, False
    for before, text, following in zip(["", *head], head, [*head[1:], ""], strict=False):
        if not value and text in ("<", ">", ">>") and before != "operator":
            angles += {"<": 1, ">": -1, ">>": -2}[text]
        elif text in ("=", ","):
            value = text == "=" or (value and angles > 0)
        elif value or angles > 0 or before == "::" or text in _AFTER or _TAGS.fullmatch(text):
            continue
        elif _WORD.fullmatch(text) and following in (ENDS[1:] + ("__attribute__",) if head[0] == "typedef" else ENDS):
            yield text


def _specialised(head: Sequence[str]) -> Iterator[str]:
    """The names of which a declaration gives a specialisation: Words of `struct Words<16> {`."""
    for place, (before, text) in enumerate(zip(["", *head], head, strict=False)):
        if head[place + 1 : place + 2] != ["<"] or before in _OF_BASES or not _WORD.fullmatch(text):
            continue
        depth, end = 0, place + 1
        while end < len(head):
            depth += {"<": 1, ">": -1, ">>": -2}.get(head[end], 0)
            end += 1
            if depth <= 0:
                break
        if head[end : end + 1] and head[end] in ("{", "=", ";", ":"):
            yield text


def _blanked(text: str, dropped: Sequence[Declaration]) -> str:
    """The text with blanks in place of declarations; line ends and directives stay."""
    pieces, at = list[str](), 0
    for declaration in dropped:
        own = declaration.tokens
        pieces.append(text[at : own[0].start])
        at = own[0].start
        for number, line in groupby(own, key=lambda p: p.directive):
            first, *_, last = [*line] * 2
            pieces.append(re.sub(r"[^\n]", " ", text[at : first.start]))
            whole = text[first.start : last.end]
            pieces.append(whole if number else re.sub(r"[^\n]", " ", whole))
            at = last.end
    return "".join((*pieces, text[at:]))
