"""Syntax colours of CUDA C++, for light and dark backgrounds."""

from __future__ import annotations

import re

from PySide6.QtGui import QColor, QPalette, QSyntaxHighlighter, QTextCharFormat, QTextDocument

from app.base.theme import TEXT_CONTRAST, colours_of, readable

KEYWORDS = (
    "alignas auto bool break case char class const constexpr continue default do double else enum extern false float "
    "for if inline int long namespace nullptr return short signed sizeof static struct switch template true typedef "
    "typename union unsigned using void volatile while __constant__ __device__ __forceinline__ __global__ "
    "__launch_bounds__ __restrict__ __shared__ __align__"
)
BUILT_IN = r"\b(?:threadIdx|blockIdx|blockDim|gridDim|warpSize)\b(?:\.[xyz]\b)?|\b__\w+(?=\s*\()|\batomic[A-Z]\w*"
NUMBER = r"\b(?:0[xX][0-9a-fA-F]+|\d+\.?\d*(?:[eE][-+]?\d+)?)[fFuUlL]*\b"
TEXT = r'"(?:[^"\\]|\\.)*"'
PIECES = re.compile(
    rf"(?P<comment>//.*|/\*.*?(?:\*/|$))|(?P<text>{TEXT})|(?P<directive>^\s*#\s*\w+)"
    rf"|(?P<keyword>\b(?:{'|'.join(KEYWORDS.split())})\b)|(?P<builtin>{BUILT_IN})|(?P<number>{NUMBER})"
)


class SourceColours(QSyntaxHighlighter):
    """Colours comments, texts, directives, keywords, CUDA's own names and numbers."""

    def __init__(self, document: QTextDocument) -> None:
        super().__init__(document)
        self._formats: dict[str, QTextCharFormat] = {}

    def take(self, palette: QPalette) -> None:
        """Use colours that contrast with this palette's background."""
        grounds = (palette.color(QPalette.ColorRole.Base), palette.color(QPalette.ColorRole.AlternateBase))
        colours = colours_of(palette)
        inks = {
            "comment": colours.muted,
            "text": readable(QColor("#00795a"), grounds, TEXT_CONTRAST),
            "directive": readable(QColor("#9a5b00"), grounds, TEXT_CONTRAST),
            "keyword": readable(QColor("#0072b2"), grounds, TEXT_CONTRAST),
            "builtin": readable(QColor("#7a4f9e"), grounds, TEXT_CONTRAST),
            "number": readable(QColor("#a8326b"), grounds, TEXT_CONTRAST),
        }
        self._formats = {}
        for name, colour in inks.items():
            form = QTextCharFormat()
            form.setForeground(colour)
            form.setFontItalic(name == "comment")
            self._formats[name] = form
        self.rehighlight()

    def highlightBlock(self, text: str) -> None:  # noqa: N802
        start = 0
        if self.previousBlockState() == 1:  # inside a comment of several lines
            end = text.find("*/")
            start = len(text) if end < 0 else end + 2
            self.setFormat(0, start, self._formats.get("comment", QTextCharFormat()))
            self.setCurrentBlockState(1 if end < 0 else 0)
            if end < 0:
                return
        self.setCurrentBlockState(0)
        for piece in PIECES.finditer(text, start):
            name = str(piece.lastgroup)
            self.setFormat(piece.start(), len(piece[0]), self._formats.get(name, QTextCharFormat()))
            if piece[0].startswith("/*") and not (piece[0].endswith("*/") and len(piece[0]) >= 4):
                self.setCurrentBlockState(1)
