"""How a plain JSON value is shown to a learner: short, and as the learner would write it."""

from typing import Any

_WIDTH = 60


def show(value: Any, digits: int = 4) -> str:
    """A value as text; ``digits`` are those behind the point."""
    if isinstance(value, float):
        plain = 10**-digits <= abs(value) < 1e6 or value == 0
        return f"{value:.{digits}f}" if plain else f"{value:.{digits - 1}g}"
    if isinstance(value, dict) and value.keys() == {"document"}:
        return value["document"] if isinstance(value["document"], str) else show(value["document"], digits)
    if isinstance(value, dict) and value.keys() == {"unreadable"}:
        return f"({value['unreadable']})"
    if isinstance(value, dict):
        return ", ".join(f"{key} {show(item, digits)}" for key, item in value.items())
    if isinstance(value, list):
        return "[" + ", ".join(show(item, digits) for item in value) + "]"
    return repr(value)


def show_item(answer: list, i: int, digits: int = 4) -> str:
    """The i-th item of an answer, "-" behind its end; a pair without brackets."""
    if i >= len(answer):
        return "-"
    item = answer[i]
    if isinstance(item, list) and len(item) == 2:
        return clip(f"{show(item[0], digits)}  {show(item[1], digits)}")
    return clip(show(item, digits))


def clip(text: str, width: int = _WIDTH) -> str:
    return text if len(text) <= width else text[: width - 3] + "..."


def around_difference(a: str, b: str) -> tuple[str, str]:
    """Both texts cut to the part where they begin to differ."""
    first = next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))
    start = max(0, first - _WIDTH // 2) if max(len(a), len(b)) > _WIDTH else 0
    lead = "..." if start else ""
    return clip(lead + a[start:], _WIDTH + 3), clip(lead + b[start:], _WIDTH + 3)
