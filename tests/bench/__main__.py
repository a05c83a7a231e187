"""``python -m tests.bench NAME``: run a benchmark, print its table."""

import argparse
import sys

from . import class_run, postgres, reranking, retrieval, trees, tuning

BENCHMARKS = {
    "class": class_run,
    "postgres": postgres,
    "reranking": reranking,
    "retrieval": retrieval,
    "trees": trees,
    "tuning": tuning,
}


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__.partition(": ")[2])
    chosen = parser.add_subparsers(dest="benchmark", required=True, metavar="NAME")
    for name, module in BENCHMARKS.items():
        summary = module.__doc__.partition("\n")[0]
        options = chosen.add_parser(
            name,
            help=summary,
            description=module.__doc__,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        module.add_options(options)
    options = parser.parse_args(arguments)
    try:
        BENCHMARKS[options.benchmark].run(options)
    except (OSError, ValueError) as error:
        print(f"{parser.prog} {options.benchmark}: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
