"""Every benchmark runs at tiny size. What it measures is looked at where it is run in earnest, never in a test."""

import json
import sys
import zipfile

import pytest
from bench.__main__ import BENCHMARKS, main
from bench.keywords import GROWS_FROM
from bench.results import Bound, Table
from conftest import need
from sample_class import sandbox

# Those that tests/test_bench.py runs are left out.
TINY: dict[str, list[str]] = {
    "vectors": ["--sizes", "300", "--added", "300", "--kept", "300", "--seconds", "0.1", "--others"],
    "keywords": ["--documents", "300", "--growth", "100", "200", "--seconds", "0.1"],
    "fusion": ["--documents", "200", "--depths", "5", "--seconds", "0.2"],
    "grading": ["--learners", "2", "--stock", "1", "--otter", "1", "--rounds", "1"],
    "growth": ["--sizes", "1", "2", "--workers", "1", "--learners", "2"],
    "startup": ["--rounds", "1", "--checks", "find_term", "--no-lab"],
}
ELSEWHERE = {"install", "retrieval", "postgres", "reranking", "trees", "class", "tuning"}
IN_A_SANDBOX = {"grading", "growth"}


def test_each_benchmark_has_a_tiny_run():
    assert set(BENCHMARKS) == TINY.keys() | ELSEWHERE


@pytest.mark.parametrize("name", TINY)
def test_a_benchmark_runs_at_tiny_size(name, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("bench.keywords.GROWS_FROM", dict.fromkeys(GROWS_FROM, 100))
    if name in IN_A_SANDBOX:
        need(sys.platform == "linux" and sandbox(), "a sandbox")
    assert main(["--json", str(tmp_path / "out.json"), name, *TINY[name]]) == 0
    said = capsys.readouterr()
    assert "| " in said.out and said.err == ""
    found = json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))
    assert {"processor", "cores", "python"} <= found["machine"].keys()
    results = found["benchmarks"][name]["results"]
    assert [one for one in results if one.get("rows")]


def test_an_install_is_measured_without_a_package_index(tmp_path, capsys):
    wheels = {"large": (3_000_000, "Requires-Dist: small\n"), "small": (1_000_000, "")}
    for name, (size, needs) in wheels.items():
        with zipfile.ZipFile(tmp_path / f"{name}-1.0-py3-none-any.whl", "w") as wheel:
            metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n{needs}"
            wheel.writestr(f"{name}.py", "#" * size)
            wheel.writestr(f"{name}-1.0.dist-info/METADATA", metadata)
            wheel.writestr(f"{name}-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
            wheel.writestr(f"{name}-1.0.dist-info/RECORD", "")
    requirements = tmp_path / "requirements.txt"
    requirements.write_text(f"--no-index\n--find-links {tmp_path.as_uri()}\nlarge\n", encoding="utf-8")
    out = tmp_path / "out.json"
    assert main(["--json", str(out), "install", "--requirements", str(requirements)]) == 0, (
        capsys.readouterr()
    )
    found = json.loads(out.read_text(encoding="utf-8"))["benchmarks"]["install"]["results"]
    (packages, seconds, megabytes), largest = found[0]["rows"][0], found[1]["rows"]
    assert packages == 2 and seconds > 0 and 4.0 < megabytes < 4.1
    assert [(name, asked) for name, _, asked in largest] == [("large", "requirements"), ("small", "large")]


def test_the_tuning_lab_is_measured_in_the_kernel(capsys):
    assert main(["tuning", "--kernel-only", "--steps", "3"]) == 0
    rows = [line for line in capsys.readouterr().out.splitlines() if line.startswith("| ")]
    assert rows[0] == "| slider | median | 95th |" and len(rows) == 5


def test_a_bound_says_whether_it_is_met():
    assert str(Bound("a search", 1.2, "at most", 1.25)) == "ok      a search: 1.20 (at most 1.25 times)"
    assert str(Bound("a search", 1.26, "at most", 1.25)).startswith("MISSED  a search: 1.26")
    assert Bound("grading", 25, "at least", 25).met
    assert not Bound("grading", 24.9, "at least", 25).met


def test_a_table_is_markdown_with_three_digits():
    lines = str(Table("Times", ("what", "s"), [("one", 0.01234), ("two", 12.34), (None, 12345)])).splitlines()
    assert lines == [
        "Times",
        "",
        "| what | s |",
        "|---|---|",
        "| one | 0.012 |",
        "| two | 12.3 |",
        "|  | 12,345 |",
    ]


def test_what_fails_is_said_and_the_others_still_run(monkeypatch, tmp_path, capsys):
    def fails(_options):
        raise ValueError("there is no such thing")
        yield

    def runs(_options):
        yield Table("Times", ("s",), [(1,)])
        yield Bound("one", 2.0, "at most", 1.0)

    monkeypatch.setattr("bench.__main__.BENCHMARKS", {"retrieval": "retrieval", "trees": "trees"})
    monkeypatch.setattr("bench.retrieval.run", fails)
    monkeypatch.setattr("bench.trees.run", runs)
    assert main(["--json", str(tmp_path / "out.json")]) == 2
    said = capsys.readouterr()
    assert "retrieval: there is no such thing" in said.err
    assert "MISSED  one: 2.00" in said.out
    found = json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))["benchmarks"]
    assert [one["met"] for one in found["trees"]["results"] if "bound" in one] == [False]
