"""check() and hint() as a learner meets them: in a terminal, in a notebook, and when called the wrong way."""

import subprocess
import sys

import nbformat
import pytest
from nbclient import NotebookClient

from grader import check, checks, hint
from grader.checks import Points

RIGHT = """
class Retriever:
    def __init__(self, *indexes):
        if not indexes:
            raise ValueError("no index")
        self.indexes = indexes

    def add_document(self, document):
        for index in self.indexes:
            index.add_document(document)

    def search(self, query, k=1, k_rrf=60, candidates=20):
        scores, documents = {}, {}
        for index in self.indexes:
            for rank, (document, _) in enumerate(index.search(query, candidates), start=1):
                documents[id(document)] = document
                scores[id(document)] = scores.get(id(document), 0) + 1 / (k_rrf + rank)
        best = sorted(scores, key=scores.get, reverse=True)
        return [(documents[key], scores[key]) for key in best[:k]]
"""


def retriever(source: str = RIGHT) -> type:
    namespace = {}
    exec(source, namespace)
    return namespace["Retriever"]


@pytest.fixture(autouse=True)
def fresh_hints():
    checks._seen.clear()


def test_a_right_solution_gets_its_points_and_no_advice(capsys):
    points = check("retriever", retriever())
    printed = capsys.readouterr().out
    assert points == 8 and repr(points) == str(points) == "8"
    assert printed.startswith("retriever: 8 of 8 points\n")
    assert "hint(" not in printed and "wrong" not in printed


def test_a_wrong_solution_shows_the_criterion_the_difference_and_the_mistake(capsys):
    points = check("retriever", retriever(RIGHT.replace(", start=1", "")))
    printed = capsys.readouterr().out
    assert 0 < points < 8
    assert 'search("pump leak")' in printed
    assert "expected" in printed and "yours" in printed and "<- score" in printed
    assert "Your ranks start at 0." in printed
    assert printed.count("Your ranks start at 0.") == 1
    assert 'hint("retriever") has 4 steps; you have seen 0.' in printed


def test_a_stub_is_not_attempted_rather_than_wrong(capsys):
    class Retriever:
        def __init__(self, *indexes):
            raise NotImplementedError

    assert repr(check("retriever", Retriever)) == "0"
    printed = capsys.readouterr().out
    assert "not attempted yet" in printed
    assert "wrong" not in printed


def test_a_half_written_class_says_what_is_still_to_do(capsys):
    source = RIGHT.replace(
        "        for index in self.indexes:\n            index.add_document(document)",
        "        raise NotImplementedError",
    )
    check("retriever", retriever(source))
    printed = capsys.readouterr().out
    assert "7.67 of 8 points" in printed and "partly" in printed
    assert "NotImplementedError" not in printed


def test_an_error_in_the_learners_code_is_one_line_and_no_traceback(capsys):
    check("retriever", retriever(RIGHT.replace("enumerate(", "enumerat(")))
    printed = capsys.readouterr().out
    assert "Your code raised NameError: name 'enumerat' is not defined" in printed
    assert "Traceback" not in printed


def test_stopping_a_check_is_one_line_and_no_points(capsys):
    class Retriever:
        def __init__(self, *indexes):
            raise KeyboardInterrupt

    assert check("retriever", Retriever) == 0
    assert capsys.readouterr().out == "You stopped the check of retriever.\n"


def test_a_pair_without_its_document_is_said(capsys):
    check("retriever", retriever(RIGHT.replace("(documents[key], scores[key])", "(key, scores[key])")))
    assert "Your pair does not begin with a document." in capsys.readouterr().out


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (
            ("documents[id(document)] = document", "documents[document] = document"),
            "A dict cannot be the key",
        ),
        (
            (
                "sorted(scores, key=scores.get, reverse=True)",
                "[k for d, k in sorted((documents[k], k) for k in scores)]",
            ),
            "Tell sorted or sort what to compare",
        ),
    ],
)
def test_an_error_that_many_make_is_explained_once(change, sentence, capsys):
    check("retriever", retriever(RIGHT.replace(*change)))
    printed = " ".join(capsys.readouterr().out.split())
    assert printed.count(sentence) == 1


def test_a_missing_return_is_said(capsys):
    check("retriever", retriever(RIGHT.replace("return [(documents", "[(documents")))
    assert "Your code gave None. Is a return missing?" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: check("retreiver", object), "There is no exercise 'retreiver'. Did you mean 'retriever'?"),
        (lambda: check("zzz", object), "The exercises are: find_term,"),
        (lambda: check(["retriever"], object), "There is no exercise"),
        (lambda: check("retriever"), 'Call it as check("retriever", Retriever): you gave 0 objects.'),
        (lambda: check("retriever", retriever()(1)), "give the class Retriever itself"),
        (lambda: check("find_term", "text"), "give the function find_term itself"),
        (lambda: hint("retreiver"), "Did you mean 'retriever'?"),
    ],
)
def test_a_wrong_call_is_one_sentence(call, sentence, capsys):
    assert call() in (None, 0)
    assert sentence in capsys.readouterr().out


def test_hints_go_one_rung_further_each_time_and_the_check_counts_them(capsys):
    for step in (1, 2, 3, 4, 4):
        hint("retriever")
        assert capsys.readouterr().out.startswith(f"Hint {step} of 4: ")
    check("retriever", retriever(RIGHT.replace(", start=1", "")))
    assert "you have seen 4." in capsys.readouterr().out


@pytest.mark.parametrize(("value", "text"), [(8.0, "8"), (2.67, "2.67"), (0.0, "0"), (0.5, "0.5")])
def test_points_are_shown_as_the_bare_number(value, text):
    assert repr(Points(value)) == text
    assert float(repr(Points(value))) == pytest.approx(value)


def run_cells(*sources: str) -> list[nbformat.NotebookNode]:
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in sources])
    NotebookClient(notebook, timeout=60, allow_errors=True, kernel_name="python3").execute()
    return notebook.cells


def test_in_a_notebook_the_report_is_displayed_and_the_value_is_the_number():
    _, _, cell = run_cells(
        "from grader import check, hint", RIGHT.replace("start=1", "start=0"), 'check("retriever", Retriever)'
    )
    shown, value = cell.outputs
    assert shown.output_type == "display_data"
    assert "Your ranks start at 0." in shown.data["text/html"]
    assert "Your ranks start at 0." in " ".join(shown.data["text/plain"].split())
    assert "<style" not in shown.data["text/html"] and "<script" not in shown.data["text/html"]
    assert value.output_type == "execute_result"
    assert value.data["text/plain"] == "0.67"


def test_in_a_notebook_an_unfinished_exercise_or_name_is_one_plain_line():
    cells = run_cells(
        "from grader import check, hint",
        "def find_term(term, documents):\n    raise NotImplementedError",
        "find_term('a', [])",
        "Retriever(1)",
        "unknown_name",
        "1 / 0",
        "'still here'",
    )
    errors = [
        "\n".join(output.traceback) for cell in cells for output in cell.outputs if "traceback" in output
    ]
    assert errors[0].startswith("Not attempted yet: this cell needs an exercise above")
    assert errors[1] == "Retriever is not defined yet: run the cell above that defines it."
    assert "NameError" in errors[2] and "unknown_name" in errors[2]
    assert "ZeroDivisionError" in errors[3]
    assert len(errors) == 4
    assert cells[-1].outputs[0].data["text/plain"] == "'still here'"


def test_what_a_learner_wrote_is_escaped_in_the_report():
    _, _, cell = run_cells(
        "from grader import check",
        "def find_term(term, documents):\n    return '<img src=x onerror=alert(1)>'",
        'check("find_term", find_term)',
    )
    assert "<img" not in cell.outputs[0].data["text/html"]


def test_the_error_names_the_learners_own_line():
    _, _, cell = run_cells(
        "from grader import check",
        "def find_term(term, documents):\n    return documents[0]['contents']",
        'check("find_term", find_term)',
    )
    assert "line 2: return documents[0]['contents']" in " ".join(cell.outputs[0].data["text/plain"].split())


def test_importing_the_grader_loads_no_solution_and_nothing_heavy():
    code = (
        "import sys; import grader; from grader import check; "
        "heavy = {'numpy', 'pandas', 'hybrid_search', 'misconceptions', 'nbgrader', 'jupytext', 'IPython'}; "
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_checking_loads_no_solution():
    code = (
        "import sys; from grader import check\n"
        "def find_term(term, documents): return []\n"
        "check('find_term', find_term)\n"
        "print(sorted({'hybrid_search', 'misconceptions'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip().endswith("[]")


def test_a_translated_catalogue_changes_what_a_learner_reads(tmp_path, monkeypatch, capsys):
    import gettext

    from babel.messages.catalog import Catalog
    from babel.messages.mofile import write_mo

    catalogue = Catalog(locale="fr")
    catalogue.add(
        "Your code gave None. Is a return missing?", "Votre code a donn\u00e9 None. Manque-t-il un return ?"
    )
    folder = tmp_path / "fr" / "LC_MESSAGES"
    folder.mkdir(parents=True)
    with open(folder / "course.mo", "wb") as file:
        write_mo(file, catalogue)
    french = gettext.translation("course", tmp_path, languages=["fr"])
    monkeypatch.setattr("grader.feedback._", french.gettext)
    check("retriever", retriever(RIGHT.replace("return [(documents", "[(documents")))
    assert "Manque-t-il un return ?" in capsys.readouterr().out


def test_the_catalogue_holds_every_sentence_that_an_exercise_declares(root):
    from babel.messages.pofile import read_po

    from grader.exercises import EXERCISES

    with open(root / "assets" / "locale" / "course.pot", "rb") as file:
        known = {message.id for message in read_po(file)}
    for exercise in EXERCISES.values():
        sentences = [exercise.title, *exercise.hints, *exercise.misconceptions.values()]
        sentences += [criterion.title for criterion in exercise.criteria]
        assert set(sentences) <= known, exercise.id
