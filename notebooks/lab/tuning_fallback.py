"""The tuning lab as pictures and tables: what a reader sees where no kernel runs."""

from dataclasses import replace
from html import escape

from lab import tuning_words as words
from lab.fusion_view import FusionView
from lab.language import _
from lab.picture import STAR, table_html
from lab.tuning_model import SHOWN, TuningModel


def fallback(model: TuningModel) -> str:
    """HTML that needs no script, no style sheet and no SVG: JupyterLab strips them from untrusted notebooks."""
    settings = model.settings
    ranking = FusionView(
        query=model.text,
        rows=model.rows[:SHOWN],
        found=len(model.rows),
        names=model.rankings.names,
        k_rrf=settings.k_rrf,
        candidates=settings.candidates,
        weights=settings.weights,
    )
    sweep = replace(model.sweep, current=(model.swept.k_rrf, model.swept.candidates))
    head = _("The tuning lab, as it was when this cell ran.")
    rest = _('Run the cell for its sliders. Until then JupyterLab may say "Loading widget" below.')
    parts = [
        f"<p><strong>{escape(head)}</strong> {escape(rest)}</p>",
        ranking.figure.png_html(),
        sweep.figure.png_html(),
        _comparison(model),
    ]
    return f'<div class="lab-tuning-fallback">{"".join(parts)}</div>'


def _comparison(model: TuningModel) -> str:
    compared = words.comparison(model)
    rows = [
        (
            row["group"],
            f"{STAR} {row['name']}" if row["leads"] else row["name"],
            f"{row['value']:.3f}",
            f"{row['low']:.3f} \u2013 {row['high']:.3f}",
        )
        for row in compared["rows"]
    ]
    columns = (_("queries"), _("search"), compared["metric"], _("95 % interval"))
    note = f"<p>{escape(compared['note'])}</p>"
    return table_html(compared["title"], columns, rows) + note
