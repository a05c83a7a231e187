"""The tuning lab as a picture and tables: what a reader sees where no kernel runs."""

from html import escape

from lab.language import _
from lab.tuning_model import TuningModel


def fallback(model: TuningModel) -> str:
    """HTML that needs no style sheet, no script and no SVG, which JupyterLab strips from untrusted notebooks."""
    parts = [
        f"<p><strong>{escape(_('The tuning lab, as it stood when this cell ran.'))}</strong> "
        f"{escape(_('Run the cell to get its sliders.'))}</p>",
    ]
    return f'<div class="lab-tuning-fallback">{"".join(parts)}</div>'
