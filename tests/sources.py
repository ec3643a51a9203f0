"""The modules of the product as Python reads them, for all tests of a process."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

from gpu_ops.processes import importing


@cache
def tree(path: Path) -> ast.Module:
    """The syntax of a module. No garbage is collected meanwhile: visiting the nodes there are takes longer than making
    new ones."""
    with importing():
        return ast.parse(path.read_text(encoding="utf-8"))


@cache
def nodes(path: Path) -> tuple[ast.AST, ...]:
    """All nodes of that, as ast.walk finds them."""
    with importing():
        return tuple(ast.walk(tree(path)))
