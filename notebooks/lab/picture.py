"""A picture that a notebook shows: drawn for light and dark pages, described in words, its numbers below."""

import hashlib
import re
import warnings
from base64 import b64encode
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from io import BytesIO, StringIO
from pathlib import Path

from lab.language import _

STAR = "\u2605"
_INK = "#010203"  # stands for the colour of the page's text while the SVG is made
_SETTINGS = {
    "font.family": "DejaVu Sans",  # comes with matplotlib, so the picture is the same on every machine
    "font.size": 10.0,
    "text.parse_math": False,  # a "$" in a label is a "$"
    "text.usetex": False,
    "svg.fonttype": "path",
    "svg.hashsalt": "lab",
    "hatch.linewidth": 1.0,
    "path.simplify": False,
}


@dataclass(frozen=True)
class Picture:
    """A drawing, a sentence that says what is seen in it, and its numbers.

    ``draw(ink)`` makes the matplotlib figure on a transparent ground; ``ink`` is the colour of lines and
    text. The numbers are given as text, a row a list with one cell for each of ``columns``.
    """

    title: str
    alt: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    draw: Callable

    def __repr__(self) -> str:
        # A console may lack the star.
        table = [[cell.replace(STAR, "*") for cell in row] for row in (self.columns, *self.rows)]
        widths = [max(len(row[i]) for row in table) for i in range(len(self.columns))]
        lines = [
            "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
            for row in table
        ]
        return "\n".join([self.title, *lines])

    def _repr_mimebundle_(self, include=None, exclude=None) -> dict[str, str]:
        return {"text/plain": repr(self), "text/html": self._repr_html_()}

    def _repr_html_(self) -> str:
        return f"<div>{self._inline_svg()}{self._table()}</div>"

    def png_html(self) -> str:
        """The same with a PNG, black on white: JupyterLab strips SVG from a notebook that it does not trust."""
        file = BytesIO()
        self._render(file, "png", ink="black", facecolor="white", dpi=100, metadata={"Software": None})
        data = b64encode(file.getvalue()).decode("ascii")
        image = f'<img alt="{escape(self.alt)}" src="data:image/png;base64,{data}" style="max-width:100%">'
        return f"<div>{image}{self._table()}</div>"

    def save(self, path: str | Path) -> Path:
        """Write the picture, black on white, as a .png or .svg file; the path written.

        Raises ValueError for any other ending.
        """
        path = Path(path)
        if path.suffix.lower() not in (".png", ".svg"):
            raise ValueError(
                _("{path} is no .png or .svg file: end the name with one of these.").format(path=path)
            )
        kind = path.suffix.lower()[1:]
        metadata = {"Date": None} if kind == "svg" else {"Software": None}
        self._render(path, kind, ink="black", facecolor="white", dpi=160, metadata=metadata)
        return path

    def _render(self, target, kind: str, ink: str, **settings) -> None:
        import matplotlib

        with matplotlib.rc_context(_SETTINGS), warnings.catch_warnings():
            # A letter that the font lacks is drawn as a box; the table below has it.
            warnings.filterwarnings("ignore", message="Glyph")
            self.draw(ink).savefig(target, format=kind, **settings)

    def _inline_svg(self) -> str:
        """The picture as SVG that takes the page's text colour and cannot touch anything else on the page."""
        file = StringIO()
        nothing = dict.fromkeys(("Date", "Creator", "Format", "Type"))
        self._render(file, "svg", _INK, transparent=True, metadata=nothing)
        svg = file.getvalue()
        svg = svg[svg.index("<svg") :]
        svg = re.sub(r"<!--.*?-->|<style.*?</style>|<metadata.*?</metadata>", "", svg, flags=re.DOTALL)
        svg = re.sub(r">\s+<", "><", svg).replace(_INK, "currentColor")
        # Ids hold for a whole page, on which other pictures have ids of their own.
        mark = hashlib.sha256(svg.encode()).hexdigest()[:8]
        svg = re.sub(r'(\bid="|href="#|url\(#)', rf"\g<1>{mark}-", svg)
        box = re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', svg)
        opening = (
            f'<svg role="img" aria-label="{escape(self.alt)}" viewBox="0 0 {box[1]} {box[2]}" '
            f'width="{float(box[1]) * 4 / 3:.0f}" style="max-width:100%;height:auto" '
            'fill="currentColor" stroke-linejoin="round" xmlns:xlink="http://www.w3.org/1999/xlink">'
        )
        return re.sub(r"<svg\b[^>]*>", lambda _: opening, svg, count=1).strip()

    def _table(self) -> str:
        return table_html(self.title, self.columns, self.rows)


def table_html(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Plain HTML with inline styles: JupyterLab keeps it where it strips SVG from untrusted output."""
    cell = "text-align:left;padding:1px 14px 1px 0"
    heading = "".join(f'<th scope="col" style="{cell}">{escape(name)}</th>' for name in columns)
    body = "".join(
        '<tr style="background:none">'
        + "".join(f'<td style="{cell}">{escape(text)}</td>' for text in row)
        + "</tr>"
        for row in rows
    )
    return (
        '<table style="margin:4px 0;border-collapse:collapse">'
        f'<caption style="text-align:left;caption-side:top;white-space:nowrap">{escape(title)}</caption>'
        f"<thead><tr>{heading}</tr></thead><tbody>{body}</tbody></table>"
    )
