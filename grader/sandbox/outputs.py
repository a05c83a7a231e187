"""What a sandbox sent, made into outputs of the notebook format 4, and what of them a browser may show.

A submission's code can send anything on the channel of its sandbox. So nothing is taken over as it came: an
output is built anew from the parts that have the right type, and whatever is too deep or too large is refused.
"""

import base64
import binascii
import json
import math
import re
from typing import Any

from ..asked import ANSWERS

MOST_CHARACTERS = 2_000_000  # of one output
_MOST_VALUES = 200_000
_MOST_DEPTH = 16
_MOST_LINES = 200  # of a traceback
_LARGEST_COUNT = 1_000_000
_MIME_TYPE = re.compile(r"[a-zA-Z0-9.+_-]{1,80}/[a-zA-Z0-9.+_-]{1,120}")


class BadOutput(ValueError):
    """What came is no output, or more than one may hold."""


def parse(line: bytes) -> dict[str, Any]:
    """One message of a sandbox: a JSON object without NaN or Infinity. Raises BadOutput."""
    try:
        message = json.loads(line, parse_constant=_refuse)
    except (ValueError, RecursionError) as problem:
        raise BadOutput("not JSON") from problem
    if not isinstance(message, dict):
        raise BadOutput("not an object")
    return message


def clean_output(raw: Any) -> dict[str, Any]:
    """One output of the notebook format 4, built from untrusted JSON. Raises BadOutput."""
    if not isinstance(raw, dict):
        raise BadOutput("not an object")
    _check_size(raw)
    kind = raw.get("output_type")
    if kind == "stream":
        name = "stderr" if raw.get("name") == "stderr" else "stdout"
        return {"output_type": "stream", "name": name, "text": _text(raw.get("text"))}
    if kind == "error":
        traceback = raw.get("traceback")
        return {
            "output_type": "error",
            "ename": _text(raw.get("ename")),
            "evalue": _text(raw.get("evalue")),
            "traceback": [_text(line) for line in _list(traceback)[:_MOST_LINES]],
        }
    if kind == "display_data":
        return {"output_type": kind, "data": _bundle(raw.get("data")), "metadata": {}}
    if kind == "execute_result":
        return {
            "output_type": kind,
            "data": _bundle(raw.get("data")),
            "metadata": {},
            "execution_count": clean_count(raw.get("execution_count")),
        }
    raise BadOutput("no kind of output")


def clean_count(raw: Any) -> int | None:
    """A cell's number, where it is one."""
    return raw if type(raw) is int and 0 <= raw < _LARGEST_COUNT else None


def _bundle(raw: Any) -> dict[str, Any]:
    """A MIME bundle: texts, and JSON under the types that say so."""
    if not isinstance(raw, dict):
        raise BadOutput("no MIME bundle")
    bundle: dict[str, Any] = {}
    for mime_type, value in raw.items():
        if not _MIME_TYPE.fullmatch(mime_type):
            raise BadOutput("no MIME type")
        if mime_type.endswith("json"):
            bundle[mime_type] = _sendable(value)
        elif isinstance(value, str):
            bundle[mime_type] = _text(value)
        elif isinstance(value, list) and all(isinstance(line, str) for line in value):
            bundle[mime_type] = _text("".join(value))
    return bundle


def _list(value: Any) -> list:
    if not isinstance(value, list):
        raise BadOutput("not a list")
    return value


def _text(value: Any) -> str:
    """A text that can be stored as UTF-8."""
    if not isinstance(value, str):
        raise BadOutput("not a text")
    return value.encode("utf-8", "replace").decode()


def _sendable(value: Any) -> Any:
    """The same JSON, with texts that can be stored as UTF-8. Its depth has been checked."""
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, list):
        return [_sendable(item) for item in value]
    if isinstance(value, dict):
        return {_text(key): _sendable(item) for key, item in value.items()}
    return value


def _check_size(value: Any) -> None:
    """Refuse what is too deep or too large, or holds a number that JSON has not."""
    todo, values, characters = [(value, 0)], 0, 0
    while todo:
        value, depth = todo.pop()
        values += 1
        if depth > _MOST_DEPTH:
            raise BadOutput("nested too deeply")
        if isinstance(value, str):
            characters += len(value)
        elif isinstance(value, dict):
            todo += [(part, depth + 1) for item in value.items() for part in item]
        elif isinstance(value, list):
            todo += [(item, depth + 1) for item in value]
        elif isinstance(value, float):
            if not math.isfinite(value):
                raise BadOutput("not a number of JSON")
        elif value is not None and not isinstance(value, int):
            raise BadOutput("not JSON")
        if values + len(todo) > _MOST_VALUES or characters > MOST_CHARACTERS:
            raise BadOutput("too large")


def _refuse(constant: str) -> None:
    raise BadOutput(f"{constant} is not JSON")


# What a browser may show ----------------------------------------------------------------------------------

_TAGS = {
    *("p", "div", "span", "br", "hr", "b", "strong", "i", "em", "u", "s", "small", "sub", "sup", "mark"),
    *("h1", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "li", "dl", "dt", "dd", "blockquote", "pre", "code"),
    *("kbd", "samp", "details", "summary", "figure", "figcaption", "img", "table", "caption", "colgroup"),
    *("col", "thead", "tbody", "tfoot", "tr", "th", "td"),
}
_ATTRIBUTES = {
    "*": {"title", "style"},
    "img": {"src", "alt", "width", "height"},
    "th": {"colspan", "rowspan", "scope"},
    "td": {"colspan", "rowspan"},
    "ol": {"start"},
    "details": {"open"},
}
# Text and cells may be set off. Nothing here moves, covers or loads anything.
_STYLES = {
    *("color", "background-color", "font-weight", "font-style", "font-family", "font-size"),
    *("text-align", "vertical-align", "text-decoration", "white-space"),
    *("border", "border-top", "border-bottom", "border-left", "border-right", "border-collapse", "padding"),
}
_PICTURE = re.compile(r"data:image/(?:png|jpeg);base64,[A-Za-z0-9+/=\s]+")
_PICTURES = ("image/png", "image/jpeg")


def safe_to_show(output: dict[str, Any]) -> dict[str, Any] | None:
    """What of a cleaned output an instructor's browser may show, or None where nothing is left.

    That is text, pictures, and HTML without scripts, handlers, links, forms, frames, SVG, and styles that
    move or load anything.
    """
    if output["output_type"] in ("stream", "error"):
        return output
    shown = {mime_type: _shown(mime_type, value) for mime_type, value in output["data"].items()}
    if ANSWERS in shown:  # its text says no more than that there are answers
        return None
    shown = {mime_type: value for mime_type, value in shown.items() if value}
    return {**output, "data": shown, "metadata": {}} if shown else None


def _shown(mime_type: str, value: Any) -> str:
    if mime_type == "text/plain":
        return value
    if mime_type == "text/html":
        return _safe_html(value)
    return _picture(value) if mime_type in _PICTURES else ""


def _picture(value: str) -> str:
    """The picture in base64, or nothing where it is something else."""
    try:
        return base64.b64encode(base64.b64decode("".join(value.split()), validate=True)).decode("ascii")
    except (binascii.Error, ValueError):
        return ""


def _safe_html(html: str) -> str:
    import nh3

    return nh3.clean(
        html,
        tags=_TAGS,
        attributes=_ATTRIBUTES,
        attribute_filter=_safe_attribute,
        clean_content_tags={"script", "style", "svg", "math", "template", "noscript", "iframe", "object"},
        url_schemes={"data"},
        filter_style_properties=_STYLES,
        link_rel=None,
    )


def _safe_attribute(tag: str, name: str, value: str) -> str | None:
    if name == "src":
        return value if _PICTURE.fullmatch(value) else None
    if name in ("width", "height", "colspan", "rowspan", "start"):
        return value if re.fullmatch(r"[0-9]{1,4}", value) else None
    return value
