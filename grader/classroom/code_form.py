"""What is left of a cell's code when formatting, comments, docstrings, annotations and chosen names are gone."""

import ast
import keyword
import re
import warnings
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

_FUNCTION = (ast.FunctionDef, ast.AsyncFunctionDef)
_COMPREHENSION = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_IMPORT = (ast.Import, ast.ImportFrom)
_DROPPED_FIELDS = {"ctx", "annotation", "returns", "type_comment", "type_params", "kind", "simple"}
_TOKEN = re.compile(
    r"""(?P<comment>\#[^\n]*)|\"{3}.*?\"{3}|'{3}.*?'{3}|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'"""
    r"""|(?P<name>[^\W\d]\w*)|\w+|[^\w\s]""",
    re.DOTALL,
)


class Form(NamedTuple):
    """Two cells with equal ``text`` are the same code. ``size`` counts its names, values, calls, statements.

    Where Python cannot parse the cell, ``parsed`` is False and the size counts words and signs.
    """

    text: str
    size: int
    parsed: bool = True


def form_of(source: str) -> Form:
    """The form of a cell. What Python cannot parse is taken word by word. Nothing is run."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about the learner's code, such as "\d" in a string
            module = ast.parse(source)
        writer = _Writer(_names_of_attributes(module))
        writer.module(module)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return form_by_words(source)
    return Form(" ".join(writer.parts), writer.size)


def form_by_words(source: str) -> Form:
    """Words and signs without spaces and comments; a name is replaced by the number of its first place."""
    numbers: dict[str, str] = {}
    words = []
    for match in _TOKEN.finditer(source):
        if match["comment"]:
            continue
        word = match[0]
        if match["name"] and not keyword.iskeyword(word):
            word = numbers.setdefault(word, f"${len(numbers)}")
        words.append(word)
    return Form(" ".join(words), len(words), parsed=False)


class _Scope(NamedTuple):
    """Where names live: each with the label it is written as, or None until it is first met."""

    names: dict[str, str | None]
    is_class: bool = False


class _Writer:
    """Writes a tree down. A name that the cell itself binds becomes the number of its first place.

    Two trees that differ in such names alone are written alike: each scope's names are its own, as in Python.
    """

    def __init__(self, attributes: set[str]) -> None:
        self.parts: list[str] = []
        self.size = 0
        self._scopes: list[_Scope] = []
        self._attributes: dict[str, str | None] = dict.fromkeys(attributes)
        self._labels = 0

    def module(self, module: ast.Module) -> None:
        self._scopes.append(_Scope(_bound(module.body)))
        self._write(module.body)

    def _write(self, value: Any) -> None:
        if isinstance(value, list):
            self.parts.append("[")
            for item in _meaningful(value, in_class=self._scopes[-1].is_class):
                self._write(item)
            self.parts.append("]")
        elif isinstance(value, ast.AST):
            self._write_node(value)
        else:
            self.parts.append(repr(value))

    def _write_node(self, node: ast.AST) -> None:
        if not isinstance(node, ast.operator | ast.unaryop | ast.boolop | ast.cmpop | ast.arguments):
            self.size += 1
        self.parts.append(f"({type(node).__name__}")
        if isinstance(node, _FUNCTION):
            self._write_function(node)
        elif isinstance(node, ast.Lambda):
            self._write_defaults(node.args)
            self._within(_Scope(_bound_arguments(node.args)), node.args, node.body)
        elif isinstance(node, ast.ClassDef):
            self.parts.append(self._name(node.name))
            for outside in (node.decorator_list, node.bases, node.keywords):
                self._write(outside)
            self._within(_Scope(_bound(node.body), is_class=True), node.body)
        elif isinstance(node, _COMPREHENSION):
            self._write_comprehension(node)
        elif isinstance(node, ast.AnnAssign) and node.value is not None:
            self.parts[-1] = "(Assign"
            self._write([node.target])
            self._write(node.value)
        elif isinstance(node, ast.arguments):
            for name in ("posonlyargs", "args", "vararg", "kwonlyargs", "kwarg"):
                self._write(getattr(node, name))
        else:
            self._write_fields(node)
        self.parts.append(")")

    def _write_fields(self, node: ast.AST) -> None:
        for field, value in ast.iter_fields(node):
            if field in _DROPPED_FIELDS:
                continue
            if field == "attr":
                self.parts.append(self._attribute(value))
            elif isinstance(value, str) and (type(node), field) in _NAME_FIELDS:
                self.parts.append(self._name(value))
            else:
                self._write(value)

    def _write_function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        self.parts.append(self._name(node.name))
        self._write(node.decorator_list)
        self._write_defaults(node.args)
        self._within(_Scope(_bound_arguments(node.args) | _bound(node.body)), node.args, node.body)

    def _write_defaults(self, arguments: ast.arguments) -> None:
        """The values of arguments, which belong to the scope around the function."""
        self._write(arguments.defaults)
        self._write(arguments.kw_defaults)

    def _write_comprehension(self, node: ast.AST) -> None:
        first, *others = node.generators
        self._write(first.iter)  # in the scope around it
        targets = {
            name.id: None
            for generator in node.generators
            for name in ast.walk(generator.target)
            if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Store)
        }
        parts = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
        self._within(_Scope(targets), first.target, first.ifs, first.is_async, *others, *parts)

    def _within(self, scope: _Scope, *values: Any) -> None:
        self._scopes.append(scope)
        for value in values:
            self._write(value)
        self._scopes.pop()

    def _name(self, name: str) -> str:
        for scope in reversed(self._scopes):
            if name not in scope.names or (scope.is_class and scope is not self._scopes[-1]):
                continue
            if scope.is_class:
                return self._attribute(name)
            if scope.names[name] is None:
                scope.names[name] = self._new_label()
            return scope.names[name]
        return name

    def _attribute(self, name: str) -> str:
        if name not in self._attributes:
            return name
        if self._attributes[name] is None:
            self._attributes[name] = self._new_label()
        return self._attributes[name]

    def _new_label(self) -> str:
        self._labels += 1
        return f"${self._labels}"


_NAME_FIELDS = {
    (ast.Name, "id"),
    (ast.arg, "arg"),
    (ast.ExceptHandler, "name"),
    (ast.MatchAs, "name"),
    (ast.MatchStar, "name"),
    (ast.MatchMapping, "rest"),
}


def _meaningful(items: list, in_class: bool) -> Iterator:
    """The items of a list; of statements, those that do something."""
    for item in items:
        if isinstance(item, (*_IMPORT, ast.Pass, ast.Global, ast.Nonlocal)):
            continue
        if isinstance(item, ast.Expr) and isinstance(item.value, ast.Constant):
            continue
        if isinstance(item, ast.AnnAssign) and item.value is None and not in_class:
            continue
        yield item


def _names_of_attributes(module: ast.Module) -> set[str]:
    """What the cell's classes define and what it sets on objects, but for names that Python itself reads."""
    names = set()
    for node in ast.walk(module):
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            names.add(node.attr)
        elif isinstance(node, ast.ClassDef):
            names |= _bound(node.body).keys()
    return {name for name in names if not (name.startswith("__") and name.endswith("__"))}


def _bound_arguments(arguments: ast.arguments) -> dict[str, str | None]:
    every = [
        *arguments.posonlyargs,
        *arguments.args,
        *arguments.kwonlyargs,
        arguments.vararg,
        arguments.kwarg,
    ]
    return {argument.arg: None for argument in every if argument}


def _bound(statements: Iterable[ast.AST]) -> dict[str, str | None]:
    """The names that these statements bind in their own scope. An imported one is written as what it is."""
    names: dict[str, str | None] = {}
    elsewhere: set[str] = set()  # declared global or nonlocal
    todo = list(statements)
    while todo:
        node = todo.pop()
        if isinstance(node, (*_FUNCTION, ast.ClassDef)):
            names[node.name] = None
        elif isinstance(node, _IMPORT):
            names |= _imported(node)
        elif isinstance(node, ast.Global | ast.Nonlocal):
            elsewhere |= set(node.names)
        elif isinstance(node, _COMPREHENSION):
            assigned = (child.target.id for child in ast.walk(node) if isinstance(child, ast.NamedExpr))
            names |= dict.fromkeys(assigned)
        elif not isinstance(node, ast.Lambda):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                names[node.id] = None
            for field in ("name", "rest"):  # of an exception handler or a pattern
                if isinstance(name := getattr(node, field, None), str):
                    names[name] = None
            todo += ast.iter_child_nodes(node)
    return {name: label for name, label in names.items() if name not in elsewhere}


def _imported(node: ast.Import | ast.ImportFrom) -> dict[str, str]:
    module = f"{node.module}." if isinstance(node, ast.ImportFrom) else ""
    return {
        alias.asname or alias.name.split(".")[0]: module
        + (alias.name if alias.asname or module else alias.name.split(".")[0])
        for alias in node.names
    }
