"""How Markdown looks in a document of Qt, whose own reader knows neither a palette nor borders of tables."""

from __future__ import annotations

from collections.abc import Iterator

from PySide6.QtCore import QUrl
from PySide6.QtGui import (
    QBrush,
    QFont,
    QFontMetricsF,
    QImage,
    QPalette,
    QTextBlock,
    QTextBlockFormat,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
    QTextFormat,
    QTextFragment,
    QTextFrame,
    QTextFrameFormat,
    QTextList,
    QTextListFormat,
    QTextTable,
)

from app.base.theme import colours_of, fixed_font
from app.models.guide import anchors

HEADINGS = {1: 1.6, 2: 1.3, 3: 1.12}
"""The font size of headings, relative to the text."""
INDENT = 4
"""The indentation of lists, in letters: as much as two digits and a point need."""
LINE_HEIGHT = 115.0
"""Per cent of the height of the letters."""


def blocks(document: QTextDocument) -> Iterator[QTextBlock]:
    """All blocks of text, from the first one on."""
    block = document.begin()
    while block.isValid():
        yield block
        block = block.next()


def heading_block(document: QTextDocument, anchor: str) -> QTextBlock:
    """The block of the heading with this anchor; an invalid one where there is none."""
    headings = [block for block in blocks(document) if block.blockFormat().headingLevel()]
    found = dict(zip(anchors([block.text() for block in headings]), headings, strict=True))
    return found.get(anchor, QTextBlock())


def style_document(document: QTextDocument, palette: QPalette, font: QFont) -> None:
    """Give headings, links, code and tables their look; undo does not include it."""
    document.setUndoRedoEnabled(False)
    document.setIndentWidth(INDENT * QFontMetricsF(font).averageCharWidth())
    whole = QTextCursor(document)
    whole.beginEditBlock()  # otherwise everything is laid out after every change
    for block in blocks(document):
        _dress_block(document, block, palette, font)
    for items in dict.fromkeys(block.textList() for block in blocks(document)):
        if items is not None:
            _dress_list(items)
    for table in _tables(document.rootFrame()):
        _dress_table(table, palette)
    whole.endEditBlock()


def _dress_block(document: QTextDocument, block: QTextBlock, palette: QPalette, font: QFont) -> None:
    level = block.blockFormat().headingLevel()
    shape = block.blockFormat()
    line = font.pointSizeF()
    if level:
        shape.setTopMargin(line * (0.5 if level == 1 else 2.0))
        shape.setBottomMargin(line * 0.8)
    elif block.textList() is None and not QTextCursor(block).currentTable():
        shape.setBottomMargin(0.0 if _in_code(block) else line)
    if not _in_code(block):
        shape.setLineHeight(LINE_HEIGHT, QTextBlockFormat.LineHeightTypes.ProportionalHeight.value)
    if _in_code(block):
        shape.setBackground(palette.color(QPalette.ColorRole.AlternateBase))
    QTextCursor(block).setBlockFormat(shape)
    for fragment in _fragments(block):
        look, given = QTextCharFormat(), fragment.charFormat()
        if level:
            look.setFontPointSize(line * HEADINGS.get(level, 1.0))
            look.clearProperty(QTextFormat.Property.FontSizeAdjustment)
        if given.isAnchor():
            look.setForeground(palette.color(QPalette.ColorRole.Link))
        if given.fontFixedPitch() or _in_code(block):
            look.setFontFamilies([fixed_font()])
        cursor = QTextCursor(document)
        cursor.setPosition(fragment.position())
        cursor.setPosition(fragment.position() + fragment.length(), QTextCursor.MoveMode.KeepAnchor)
        cursor.mergeCharFormat(look)


def _dress_list(items: QTextList) -> None:
    """Qt draws a rim for `*` and a disc for `-`; both are bullets."""
    shape = items.format()
    if shape.style() == QTextListFormat.Style.ListCircle and shape.indent() == 1:
        shape.setStyle(QTextListFormat.Style.ListDisc)
        items.setFormat(shape)


def _in_code(block: QTextBlock) -> bool:
    return block.blockFormat().hasProperty(QTextFormat.Property.BlockCodeFence)


def _dress_table(table: QTextTable, palette: QPalette) -> None:
    shape = table.format()
    shape.setBorder(1)
    shape.setBorderStyle(QTextFrameFormat.BorderStyle.BorderStyle_Solid)
    shape.setBorderBrush(QBrush(colours_of(palette).grid))
    shape.setBorderCollapse(True)
    shape.setCellPadding(4)
    shape.setCellSpacing(0)
    shape.setTopMargin(8)
    shape.setBottomMargin(12)
    table.setFormat(shape)
    for column in range(table.columns()):
        cell = table.cellAt(0, column)
        look = cell.format()
        look.setBackground(palette.color(QPalette.ColorRole.AlternateBase))
        cell.setFormat(look)


def _tables(frame: QTextFrame) -> Iterator[QTextTable]:
    for inner in frame.childFrames():
        if isinstance(inner, QTextTable):
            yield inner
        yield from _tables(inner)


def _fragments(block: QTextBlock) -> list[QTextFragment]:
    found = []
    place = block.begin()
    while not place.atEnd():
        found.append(place.fragment())
        place += 1
    return found


def fit_pictures(document: QTextDocument, width: float) -> None:
    """Scale pictures down to this width in pixels, never up."""
    for block in blocks(document):
        for fragment in _fragments(block):
            shape = fragment.charFormat()
            if not shape.isImageFormat():
                continue
            shape = shape.toImageFormat()
            image = document.resource(QTextDocument.ResourceType.ImageResource.value, QUrl(shape.name()))
            natural = image if isinstance(image, QImage) else image.toImage() if image is not None else QImage()
            if natural.isNull():
                continue
            wanted = min(width, natural.width())
            if wanted > 0 and shape.width() != wanted:
                shape.setWidth(wanted)
                shape.setHeight(wanted * natural.height() / natural.width())
                cursor = QTextCursor(document)
                cursor.setPosition(fragment.position())
                cursor.setPosition(fragment.position() + fragment.length(), QTextCursor.MoveMode.KeepAnchor)
                cursor.setCharFormat(shape)
