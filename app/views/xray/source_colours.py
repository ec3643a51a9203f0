"""Syntax colours of CUDA C++, for light and dark backgrounds."""

from __future__ import annotations

import re

from pygments.lexers.c_like import CudaLexer
from pygments.token import Token
from PySide6.QtGui import QColor, QPalette, QSyntaxHighlighter, QTextCharFormat, QTextDocument

from app.base.theme import TEXT_CONTRAST, colours_of, readable

CUDA_NAME = re.compile(r"__\w+|atomic[A-Z]\w*")
"""Functions of CUDA that the lexer takes for any name."""
KINDS = (
    (Token.Comment.Preproc, "directive"),
    (Token.Comment, "comment"),
    (Token.Literal.Number, "number"),
    (Token.Literal, "text"),
    (Token.Keyword, "keyword"),
    (Token.Name.Builtin, "builtin"),
)
"""The kinds of tokens, the special ones first, and the names of their colours."""


class SourceColours(QSyntaxHighlighter):
    """Colours comments, texts, directives, keywords, CUDA's own names and numbers."""

    def __init__(self, document: QTextDocument) -> None:
        super().__init__(document)
        self._formats: dict[str, QTextCharFormat] = {}
        self._lexer = CudaLexer(stripnl=False)

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
        for place, kind, piece in self._lexer.get_tokens_unprocessed(text[start:] + "\n"):  # which ends a comment
            piece = piece.rstrip("\n")
            name = next((name for known, name in KINDS if kind in known), "")
            if not name and kind in Token.Name and CUDA_NAME.fullmatch(piece):
                name = "builtin"
            if name:
                self.setFormat(start + place, len(piece), self._formats.get(name, QTextCharFormat()))
            if name == "comment" and piece.startswith("/*") and not (piece.endswith("*/") and len(piece) >= 4):
                self.setCurrentBlockState(1)
