"""``python -m tests.bench``: run all benchmarks, or one by its name; print tables, and write them as JSON."""

import argparse
import importlib
import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from .results import Bound, Result, as_data, machine

# In this order; a module's docstring says what it measures. Those that people wait longest for come last.
BENCHMARKS = {
    "retrieval": "retrieval",
    "postgres": "postgres",
    "reranking": "reranking",
    "trees": "trees",
    "tuning": "tuning",
    "vectors": "vectors",
    "keywords": "keywords",
    "fusion": "fusion",
    "startup": "startup",
    "install": "install",
    "grading": "grading",
    "growth": "growth",
    "class": "class_run",
}
# What the run of all gives a benchmark, where its own defaults take too long there.
SHORTER = {"class": ("--learners", "40"), "tuning": ("--kernel-only",)}


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__.partition(": ")[2])
    parser.add_argument(
        "--json", dest="all_json", type=Path, metavar="FILE", help="where to write the figures (bench.json)"
    )
    chosen = parser.add_subparsers(dest="benchmark", metavar="NAME")
    modules = {
        name: importlib.import_module(f".{module}", __package__) for name, module in BENCHMARKS.items()
    }
    for name, module in modules.items():
        options = chosen.add_parser(
            name,
            help=module.__doc__.partition("\n")[0],
            description=module.__doc__,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        module.add_options(options)
    options = parser.parse_args(arguments)
    names = [options.benchmark] if options.benchmark else list(BENCHMARKS)
    print(", ".join(f"{name} {value}" for name, value in machine().items()), flush=True)
    found, failed = {}, False
    for name in names:
        settings = options if options.benchmark else parser.parse_args([name, *SHORTER.get(name, ())])
        if not options.benchmark:
            print(f"\n== {name}", flush=True)
        began = time.monotonic()
        results: list[Result] = []
        try:
            for result in modules[name].run(settings):
                results.append(result)
                print(("" if isinstance(result, Bound) else "\n") + str(result), flush=True)
        except (ImportError, OSError, ValueError) as error:
            print(f"{parser.prog} {name}: {error}", file=sys.stderr)
            failed = True
        found[name] = {"seconds": time.monotonic() - began, "results": as_data(results)}
    if path := options.all_json or (None if options.benchmark else Path("bench.json")):
        path.write_text(
            json.dumps({"machine": machine(), "benchmarks": found}, indent=2) + "\n", encoding="utf-8"
        )
        print(f"\nAll figures: {path}")
    if failed:
        return 2
    return _summary(found) if not options.benchmark else 0


def _summary(found: dict) -> int:
    bounds = [one for part in found.values() for one in part["results"] if "bound" in one]
    missed = [one["bound"] for one in bounds if not one["met"]]
    seconds = sum(part["seconds"] for part in found.values())
    print(f"\n{len(bounds) - len(missed)} of {len(bounds)} bounds met in {seconds / 60:.1f} min", end="")
    print(f"; missed: {', '.join(missed)}" if missed else "")
    return 0


if __name__ == "__main__":
    sys.exit(main())
