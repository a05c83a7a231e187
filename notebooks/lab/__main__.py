"""``python -m lab`` opens the course in JupyterLab."""

import argparse
import signal
import sys

from lab.language import _
from lab.launcher import LaunchError, launch


def port_number(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= 65535:
        raise argparse.ArgumentTypeError(_("a port is a whole number from 1 to 65535"))
    return int(text)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m lab", description=_("Open the course in JupyterLab."))
    parser.add_argument(
        "--unit", metavar="NAME", help=_("the unit to open, such as 04_retriever; else the first")
    )
    parser.add_argument("--instructor", action="store_true", help=_("add nbgrader's formgrader"))
    parser.add_argument(
        "--port", type=port_number, help=_("the port to use; else the first free one from 8888")
    )
    parser.add_argument("--no-browser", action="store_true", help=_("only print the address"))
    chosen = parser.parse_args(arguments)
    try:
        launch(chosen.unit, chosen.instructor, chosen.port, browser=not chosen.no_browser)
    except LaunchError as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print(_("Stopped before JupyterLab was ready."), file=sys.stderr)
        return 128 + signal.SIGINT
    return 0


if __name__ == "__main__":
    sys.exit(main())
