"""A throwaway notebook with the tuning lab in JupyterLab, and the controls that a learner finds in it."""

import re
from pathlib import Path

import nbformat
from browser import Notebook

PATH = "notebooks/99_tuning/99_tuning.ipynb"
REPORT = """import lab
from hybrid_search import BM25Index, Retriever, VectorIndex

vector_index, bm25_index = VectorIndex(lab.embedder()), BM25Index()
retriever = Retriever(vector_index, bm25_index)
retriever.add_documents(lab.sections())"""
TUNING = """tuning = lab.TuningLab(retriever, lab.judged_queries("report"))
tuning"""
SETUP, LAB, CALL = 0, 1, 2


def write_notebook(course: Path, *cells: str, path: str = PATH) -> None:
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    (course / path).parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(notebook, course / path)


class TuningPage:
    """The tuning lab on a page, found by what a learner reads or hears."""

    def __init__(self, notebook: Notebook):
        self.notebook, self.page = notebook, notebook.page
        self.start = self.shown()

    @classmethod
    def open(cls, page, lab, seconds: float = 120) -> "TuningPage":
        """Open the notebook, run it, and wait for the lab."""
        notebook = Notebook.open(page, lab, PATH)
        notebook.run_all(seconds)
        notebook.locate(LAB)
        page.locator(".lt-fused tbody tr").first.wait_for()
        return cls(notebook)

    @property
    def lab(self):
        return self.page.locator(".lab-tuning")

    def slider(self, name: str):
        return self.page.get_by_role("slider", name=name, exact=True)

    def value(self, name: str) -> str:
        """What the slider says it stands at."""
        return self.slider(name).get_attribute("aria-valuetext")

    def button(self, name: str):
        return self.lab.get_by_role("button", name=name, exact=True)

    def readout(self, name: str):
        """The number beside the slider."""
        return self.lab.locator(".widget-slider", has=self.slider(name)).locator(".widget-readout")

    def drag(self, name: str, pixels: float) -> None:
        box = self.slider(name).bounding_box()
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        self.page.mouse.move(x, y)
        self.page.mouse.down()
        self.page.mouse.move(x + pixels, y, steps=4)
        self.page.mouse.up()

    def rows(self) -> list[list[str]]:
        """The cells of the fused ranking, as text."""
        return self.page.eval_on_selector_all(
            ".lt-fused tbody tr", "rows => rows.map(row => [...row.cells].map(cell => cell.textContent))"
        )

    def ranking(self) -> list[tuple[str, str]]:
        """Document and score of each row."""
        return [(row[2].removeprefix("★ "), row[-1]) for row in self.rows()]

    def marker(self) -> str:
        return self.page.locator(".lt-large .lt-marker").get_attribute("transform")

    def shown(self) -> tuple:
        """What the kernel has drawn last: the fused ranking and the place on the map."""
        return self.ranking(), self.marker()

    def status(self) -> str:
        return self.lab.get_by_role("status").inner_text()

    def problem(self) -> str:
        """What is wrong, in words; empty where nothing is."""
        return self.lab.locator("[role=alert]").text_content()

    def cells(self) -> list[list[str]]:
        """The notebook's cells: kind, id and source."""
        return self.page.evaluate(
            """() => jupyterapp.shell.currentWidget.content.widgets.map(
              cell => [cell.model.type, cell.model.id, cell.model.sharedModel.getSource()])"""
        )

    def settled(self, what, seconds: float = 10):
        """Wait until the page has changed: ``what`` is called until it is true."""
        for _attempt in range(int(seconds * 50)):
            if result := what():
                return result
            self.page.wait_for_timeout(20)
        raise AssertionError(f"after {seconds} seconds still: {self.status()} {self.problem()}")

    def reset(self) -> None:
        """Back to the settings at the start, of the query at the start, with nothing under way."""
        self.button("reset").click()
        start = {"k_rrf": "60", "candidates": "10", "weight of vector": "1.00", "weight of BM25": "1.00"}
        self.settled(lambda: {name: self.value(name) for name in start} == start)
        self.settled(lambda: self.lab.locator(".lt-stale").count() == 0 and self.shown() == self.start)

    def ask(self, text: str) -> None:
        box = self.page.get_by_label("your own query")
        box.fill(text)
        box.press("Enter")

    def numbers(self, text: str) -> list[float]:
        return [float(number) for number in re.findall(r"\d+\.\d+", text)]
