"""Feedback pages, as nbgrader makes them, but with one converter for a whole class."""

import re
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar

from .gradebook import Scores

# A page shows what a learner wrote, to people who are logged in elsewhere: it runs no script and loads nothing.
_POLICY = (
    '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; '
    "style-src 'unsafe-inline'; img-src data:; font-src data:\">"
)


_MOST_KEPT = 500  # texts that pages may share
_PICTURE_WITHOUT_TEXT = re.compile(r"<img(?![^>]*\balt=)")


@lru_cache(maxsize=1)
def feedback_pages(root: Path) -> "FeedbackPages":
    """The pages of the course below ``root``, their template compiled, which takes as long as ten pages."""
    import nbformat

    from ..nbgrader_course import course_config

    made = FeedbackPages(course_config(root))
    made.page("", nbformat.v4.new_notebook(), Scores(""))
    return made


class FeedbackPages:
    """Makes the page of a graded notebook with nbgrader's own template."""

    def __init__(self, config: Any) -> None:
        from nbconvert.preprocessors import CSSHTMLHeaderPreprocessor
        from nbgrader.converters import GenerateFeedback
        from nbgrader.coursedir import CourseDirectory

        made = GenerateFeedback(coursedir=CourseDirectory(config=config), config=config)
        self._exporter = _exporter(made.config)
        self._exporter.register_preprocessor(CSSHTMLHeaderPreprocessor, enabled=True)

    def page(self, unit: str, notebook: Any, scores: Scores) -> str:
        """The page as HTML. Points and comments come from the gradebook, as in ``nbgrader generate_feedback``."""
        for cell in notebook.cells:
            marks = cell.metadata.get("nbgrader")
            if marks and marks.get("solution"):
                marks["comment"] = scores.comments.get(marks["grade_id"])
            if marks and marks.get("grade"):
                points, most, _ = scores.cells[marks["grade_id"]]
                marks["score"], marks["points"] = points or 0.0, most
        page, _ = self._exporter.from_notebook_node(notebook, self._resources(unit, scores))
        return page.replace("<head>", f"<head>\n{_POLICY}", 1)

    @staticmethod
    def _resources(unit: str, scores: Scores) -> Mapping[str, Any]:
        return {
            "unique_key": unit,
            "nbgrader": {
                "student": scores.learner,
                "assignment": unit,
                "notebook": unit,
                "score": scores.points,
                "max_score": scores.max_points,
                "late_penalty": scores.penalty,
            },
        }


def _exporter(config: Any) -> Any:
    """nbconvert's exporter of HTML. It reads each page once more for pictures without a text, which takes half
    of its time; ours does so where there is such a picture.
    """
    from jinja2 import pass_context
    from nbconvert.exporters import HTMLExporter, TemplateExporter
    from nbconvert.filters import Highlight2HTML
    from nbconvert.filters.widgetsdatatypefilter import WidgetsDataTypeFilter

    highlight = Highlight2HTML(pygments_lexer="ipython3", config=config)

    @lru_cache(maxsize=_MOST_KEPT)  # most cells are the release's, and the same in every page
    def highlighted_once(source: str) -> str:
        return highlight(source)

    def highlighted(source: str, metadata: Any = None) -> str:
        return highlighted_once(source)

    class Exporter(HTMLExporter):
        rendered: ClassVar[dict[str, str]] = {}  # Markdown, most of it the release's

        @pass_context
        def markdown2html(self, context: Any, source: str) -> str:
            if context.get("cell", {}).get("attachments"):
                return HTMLExporter.markdown2html(self, context, source)
            if source not in self.rendered:
                if len(self.rendered) >= _MOST_KEPT:
                    self.rendered.clear()
                self.rendered[source] = HTMLExporter.markdown2html(self, context, source)
            return self.rendered[source]

        def from_notebook_node(self, nb: Any, resources: Any = None, **options: Any) -> tuple[str, Any]:
            ready = self._init_resources(resources)
            self.register_filter("highlight_code", highlighted)
            self.register_filter(
                "filter_data_type", WidgetsDataTypeFilter(notebook_metadata={}, parent=self, resources=ready)
            )
            page, ready = TemplateExporter.from_notebook_node(self, nb, ready, **options)
            if _PICTURE_WITHOUT_TEXT.search(page):
                return super().from_notebook_node(nb, resources, **options)
            return page, ready

    return Exporter(config=config)
