"""Syntax trees compared without the names, docstrings, annotations and layout of their code."""

import ast
import warnings
from collections.abc import Iterable, Iterator, Sequence

# A piece of fewer nodes, such as the line `return 1 / (k_rrf + rank)`, is like much other code.
FEWEST_NODES = 12

Statements = Sequence[ast.stmt]


def parse(source: str) -> ast.Module:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(source)


def bodies(tree: ast.AST) -> Iterator[Statements]:
    """Every list of statements in a tree, without docstrings and other constants that do nothing."""
    for node in ast.walk(tree):
        for field in ("body", "orelse", "finalbody"):
            statements = getattr(node, field, None)
            if isinstance(statements, list) and (kept := _meaningful(statements)):
                yield kept


def functions(tree: ast.AST) -> Iterator[tuple[str, Statements]]:
    """The name and the statements of each function and method in a tree."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name, _meaningful(node.body)


def between(source: str, begin: str, end: str) -> Iterator[Statements]:
    """The statements that stand between two marks in a cell."""
    inside, on = set(), False
    for number, line in enumerate(source.splitlines(), start=1):
        on = (on or begin in line) and end not in line
        if on:
            inside.add(number)
    tree = parse(source)
    found = set()
    for statements in bodies(tree):  # the outer ones come first
        marked = [statement for statement in statements if statement.lineno in inside]
        if marked and marked[0].lineno not in found:
            yield marked
        found |= {line for one in marked for line in range(one.lineno, one.end_lineno + 1)}


def form(statements: Statements) -> str:
    """The same for code that differs in names, docstrings, annotations and layout alone."""
    return " ".join(_written(statements, {}))


def size(statements: Statements) -> int:
    """The number of nodes: statements, expressions, names, values, operators."""
    return sum(not isinstance(node, ast.expr_context) for one in statements for node in ast.walk(one))


class Forbidden:
    """Pieces of code that must not be anywhere in another tree."""

    def __init__(self, pieces: Iterable[tuple[str, Statements]]) -> None:
        self.names: dict[str, str] = {}  # form -> name of the piece
        self._kinds: set[tuple[str, ...]] = set()  # of the statements at the top of each
        for name, statements in pieces:
            if size(statements) >= FEWEST_NODES:
                self.names.setdefault(form(statements), name)
                self._kinds.add(_kinds(statements))

    def found_in(self, tree: ast.AST) -> set[str]:
        """The names of the pieces that occur in a tree, as neighbouring statements anywhere."""
        lengths = {len(kinds) for kinds in self._kinds}
        found = set()
        for statements in bodies(tree):
            for length in lengths:
                for start in range(len(statements) - length + 1):
                    window = statements[start : start + length]
                    if _kinds(window) in self._kinds and (name := self.names.get(form(window))):
                        found.add(name)
        return found


def _kinds(statements: Statements) -> tuple[str, ...]:
    return tuple(type(one).__name__ for one in statements)


def _meaningful(statements: Statements) -> Statements:
    return [
        one for one in statements if not (isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant))
    ]


_LEFT_OUT = {"ctx", "annotation", "returns", "type_comment", "type_params", "kind"}
_CHOSEN_NAMES = {
    (ast.Name, "id"),
    (ast.arg, "arg"),
    (ast.FunctionDef, "name"),
    (ast.ClassDef, "name"),
    (ast.ExceptHandler, "name"),
}


def _written(value: object, numbers: dict[str, int]) -> Iterator[str]:
    """The nodes in order; a name of the code's own choosing is the number of its first place."""
    if isinstance(value, list | tuple):
        yield "["
        for item in _meaningful(value):
            yield from _written(item, numbers)
        yield "]"
    elif isinstance(value, ast.AST):
        yield type(value).__name__
        for field, part in ast.iter_fields(value):
            if field in _LEFT_OUT:
                continue
            if isinstance(part, str) and (type(value), field) in _CHOSEN_NAMES:
                yield str(numbers.setdefault(part, len(numbers)))
            else:
                yield from _written(part, numbers)
    else:
        yield repr(value)
