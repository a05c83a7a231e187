"""S15 to S26: what goes wrong while the cells run, and what only looks wrong."""

from ..entry import (
    FULL,
    HONEST,
    NOTHING,
    Control,
    Ends,
    Floods,
    Harm,
    Off,
    Raised,
    Seeds,
    Stock,
    Submission,
)
from ..notebooks import handed_in, right
from .sources import (
    FIRST,
    FIRST_LOST,
    FIRST_ONLY,
    SECOND,
    SECOND_LOST,
    SECOND_ONLY,
    below_first,
    between,
    in_search,
    own,
    second,
    written,
)

SHORT = {"cell_seconds": 1.5, "notebook_seconds": 20}
SMALL = {"memory": 400_000_000}
STOPPED = "topped at the limit"
ENDED = "process that ran the notebook ended here"

_SLOW = "import time\ntime.sleep(min(@MANY@, 640) / 32)"


def _stopped(name, make, says=(FIRST, SECOND_LOST), points=FIRST_ONLY):
    return Submission(f"S15-{name}", make, Ends("time"), (STOPPED, *says), points, limits=SHORT)


S15 = (
    _stopped("endless-loop", second("while True:\n    pass")),
    _stopped("long-sleep", second("import time\ntime.sleep(600)")),
    _stopped(
        "loop-in-the-first",
        lambda: handed_in(retriever="while True:\n    pass"),
        (FIRST_LOST, SECOND),
        SECOND_ONLY,
    ),
    _stopped("loop-in-search", in_search("while True:\n    pass"), (FIRST_LOST, SECOND), SECOND_ONLY),
    _stopped(
        "ignores-interrupts",
        second(
            """
            import time
            while True:
                try:
                    while True:
                        time.sleep(0.01)
                except BaseException:
                    pass
            """
        ),
    ),
    _stopped(
        "search-ignores-interrupts",
        in_search(
            """
            while True:
                try:
                    while True:
                        pass
                except BaseException:
                    pass
            """,
            "keyword_index",
        ),
    ),
    _stopped(
        "ignores-signals",
        second(
            """
            import signal, time
            for number in set(signal.Signals) - {signal.SIGKILL, signal.SIGSTOP}:
                try:
                    signal.signal(number, signal.SIG_IGN)
                except (OSError, ValueError):
                    pass
            time.sleep(600)
            """
        ),
    ),
    _stopped("stuck-in-c", second('import re\nre.match(r"(a|a)*$", "a" * 40 + "b")')),
    _stopped("waits-for-nobody", second("import threading\nthreading.Event().wait()")),
    _stopped("awaits-nothing", second("import asyncio\nawait asyncio.Event().wait()")),
    _stopped("shell-command", second("import subprocess\nsubprocess.run(['sleep', '600'])")),
    # On the fork engine its process is the first of its world, which signals of its own do not stop.
    Submission(
        "S15-stops-itself",
        second("import os, signal\nos.kill(os.getpid(), signal.SIGSTOP)"),
        Ends("time"),
        (FIRST, SECOND),
        limits=SHORT,
        on_kernel={"points": FIRST_ONLY, "says": (STOPPED, FIRST, SECOND_LOST)},
    ),
    Submission(
        "S15-loop-in-own-cell",
        own("while True:\n    pass"),
        Ends("time"),
        (FIRST, SECOND),
        limits=SHORT,
    ),
    # @MANY@ is without end in the suite, and just beyond the limit where the limit is raised.
    Submission(
        "S15-too-slow",
        second("import time\ntime.sleep(min(@MANY@, 1000) / 20)"),
        Raised({"cell_seconds": 20}, FULL),
        (STOPPED, FIRST),
        FIRST_ONLY,
        limits=SHORT,
    ),
    Submission(
        "S15-many-slow-cells",
        lambda: handed_in(
            before={"keyword_index": _SLOW},
            after=dict.fromkeys(("check_retriever", "keyword_index"), _SLOW),
        ),
        Raised({"notebook_seconds": 60}, FULL),
        (FIRST, SECOND_LOST),
        FIRST_ONLY,
        limits={"cell_seconds": 60, "notebook_seconds": 4},
    ),
)

_MEMORY = """
held = []
for step in range(@MANY@):
    held.append(bytearray(b"x") * 12_000_000)
"""


def _too_much(name, make, limits, raised, says=()):
    return Submission(
        f"S16-{name}", make, Raised(raised, FULL), (FIRST, SECOND_LOST, *says), FIRST_ONLY, limits=limits
    )


S16 = (
    _too_much("memory", second(_MEMORY), SMALL, {"memory": 2_000_000_000}),
    _too_much(
        "memory-in-search",
        in_search(
            """
            held = globals().setdefault("held", [])
            while len(held) < @MANY@:
                held.append(bytearray(b"x") * 12_000_000)
            """,
            "keyword_index",
        ),
        SMALL,
        {"memory": 2_000_000_000},
    ),
    _too_much(
        "memory-at-once",
        second("import numpy\nheld = numpy.ones(80_000_000)"),
        SMALL,
        {"memory": 1_500_000_000},
    ),
    _too_much(
        "memory-of-children",
        second(
            """
            import os, time
            children = []
            for number in range(4):
                child = os.fork()
                if child == 0:
                    held = bytearray(b"x") * 150_000_000
                    time.sleep(1.5)
                    os._exit(0)
                children.append(child)
            assert not any(os.waitpid(child, 0)[1] for child in children)
            """
        ),
        SMALL,
        {"memory": 2_000_000_000},
    ),
    _too_much(
        "processes",
        second(
            """
            import subprocess
            for number in range(@MANY@):
                subprocess.Popen(["sleep", "20"])
            """
        ),
        {"processes": 30, **SHORT},
        {"processes": 120, "cell_seconds": 20},
    ),
    _too_much(
        "forks",
        second(
            """
            import os, time
            for number in range(@MANY@):
                if os.fork() == 0:
                    time.sleep(20)
                    os._exit(0)
            """
        ),
        {"processes": 30, **SHORT},
        {"processes": 120, "cell_seconds": 20},
    ),
    _too_much(
        "threads",
        second(
            """
            import threading, time
            for number in range(@MANY@):
                threading.Thread(target=time.sleep, args=(20,), daemon=True).start()
            """
        ),
        {"processes": 30, **SHORT},
        {"processes": 120, "cell_seconds": 20},
    ),
    _too_much(
        "big-file",
        second(
            """
            with open("big", "wb", buffering=0) as file:
                for step in range(@MANY@):
                    written = file.write(b"x" * 1_000_000)
                    assert written == 1_000_000
            """
        ),
        {"file_size": 5_000_000, **SHORT},
        {"file_size": 90_000_000, "disk": 100_000_000},
    ),
    _too_much(
        "full-disk",
        second(
            """
            import pathlib, tempfile
            for number in range(@MANY@):
                pathlib.Path(tempfile.gettempdir(), f"big-{number}").write_bytes(b"x" * 1_000_000)
            """
        ),
        {"disk": 20_000_000, **SHORT},
        {"disk": 100_000_000},
        ("No space left on device",),
    ),
    _too_much(
        "full-shared-memory",
        second(
            """
            for number in range(@MANY@):
                with open(f"/dev/shm/big-{number}", "wb") as file:
                    file.write(b"x" * 1_000_000)
            """
        ),
        {"disk": 20_000_000, **SHORT},
        {"disk": 100_000_000},
    ),
)


def _ended(name, make, says=(ENDED, FIRST, SECOND_LOST), points=FIRST_ONLY, **more):
    return Submission(f"S17-{name}", make, Ends("died"), says, points, limits=SHORT, **more)


# On the fork engine its process is the first of its world, which a signal of its own does not end.
_ONLY_A_SIGNAL = {
    "says": (FIRST, SECOND),
    "points": FULL,
    "on_kernel": {"points": FIRST_ONLY, "says": (ENDED, FIRST, SECOND_LOST)},
}


S17 = (
    _ended("os-exit", second("import os\nos._exit(0)")),
    _ended("abort", second("import os\nos.abort()")),
    _ended("segmentation-fault", second("import ctypes\nctypes.string_at(0)")),
    _ended("kills-itself", second("import os\nos.kill(os.getpid(), 9)"), **_ONLY_A_SIGNAL),
    _ended(
        "stack-overflow",
        second(
            """
            import ctypes
            kind = ctypes.CFUNCTYPE(None)
            def deeper():
                again()
            again = kind(deeper)
            import sys
            sys.setrecursionlimit(10**9)
            again()
            """
        ),
    ),
    _ended(
        "fault-in-a-thread",
        second(
            """
            import faulthandler, threading, time
            threading.Thread(target=faulthandler._sigsegv).start()
            time.sleep(1)
            """
        ),
        **_ONLY_A_SIGNAL,
    ),
    _ended("os-exit-in-search", in_search("import os\nos._exit(0)", "keyword_index")),
    _ended(
        "os-exit-in-the-first",
        lambda: handed_in(retriever="import os\nos._exit(0)"),
        (ENDED, FIRST_LOST, SECOND_LOST, "id not run"),
        NOTHING,
    ),
    Submission(
        "S17-os-exit-in-the-last",
        lambda: handed_in("01_embeddings", vector_index="import os\nos._exit(0)"),
        Ends("died"),
        (ENDED, "chunk_by_section: 2 of 2 points", "vector_index: 0 of 4 points"),
        {"cosine_distance": 2, "chunk_by_section": 2, "vector_index": 0},
        unit="01_embeddings",
    ),
    Submission(
        "S17-sys-exit",
        second("import sys\nsys.exit()"),
        Control(handed_in, FULL),
        (FIRST, SECOND_LOST),
        FIRST_ONLY,
    ),
    Submission(
        "S17-sys-exit-in-own-cell",
        own("import sys\nsys.exit(1)"),
        Stock({"retriever": None}, stops=True),
        (FIRST, SECOND),
    ),
    Submission(
        "S17-system-exit-in-search",
        in_search("raise SystemExit(3)", "keyword_index"),
        Control(handed_in, FULL),
        (FIRST, SECOND_LOST, "SystemExit"),
        FIRST_ONLY,
    ),
)


def _floods(name, make, **least):
    return Submission(f"S18-{name}", make, Floods(**least), (FIRST, SECOND))


S18 = (
    _floods("many-lines", own("for number in range(1_000_000):\n    print('x' * 49)"), size=50_000_000),
    _floods("one-line", own("print('x' * 50_000_000)"), size=50_000_000),
    _floods(
        "on-stderr",
        own("import sys\nfor number in range(200_000):\n    print('x' * 49, file=sys.stderr)"),
        size=10_000_000,
    ),
    _floods("ten-thousand-outputs", own("for number in range(10_000):\n    display(number)"), outputs=10_000),
    _floods(
        "three-thousand-widgets",
        own("import ipywidgets\nfor number in range(3000):\n    display(ipywidgets.IntSlider())"),
        outputs=3000,
    ),
    _floods("huge-value", own("'x' * 5_000_000"), size=5_000_000),
    _floods("huge-page", own("from IPython.display import HTML\nHTML('<b>x</b>' * 600_000)"), size=4_800_000),
    _floods("huge-error", own("raise ValueError('x' * 5_000_000)"), size=5_000_000),
    _floods("below-the-solution", below_first("print('x' * 5_000_000)"), size=5_000_000),
    _floods("lines-in-search", in_search("for number in range(8_000):\n    print('x' * 49)"), size=3_000_000),
    _floods("outputs-in-search", in_search("for number in range(200):\n    display(number)"), outputs=1800),
    _floods("one-line-in-search", in_search("print('x' * 700_000)"), size=6_000_000),
)


def _on_stderr(name, make):
    return Submission(f"S19-{name}", make, Stock({"retriever": 0}), (FIRST, SECOND))


S19 = (
    _on_stderr(
        "keeps-the-stream",
        lambda: handed_in(
            before={"retriever": "import sys\nloud = sys.stderr"},
            retriever=right()["retriever"]
            + "\n\n\nquiet = Retriever.search\n"
            + "Retriever.search = lambda *a, **b: (print('searching', file=loud), quiet(*a, **b))[1]",
        ),
    ),
    _on_stderr(
        "logs",
        below_first(
            """
            import logging
            log = logging.getLogger("mine")
            log.addHandler(logging.StreamHandler())
            quiet = Retriever.search
            def search(self, *arguments, **settings):
                log.warning("searching")
                return quiet(self, *arguments, **settings)
            Retriever.search = search
            """
        ),
    ),
    _on_stderr(
        "a-thread-warns",
        below_first(
            """
            import sys, threading
            quiet = Retriever.search
            def search(self, *arguments, **settings):
                warning = threading.Thread(target=loud.write, args=("searching\\n",))
                warning.start()
                warning.join()
                return quiet(self, *arguments, **settings)
            loud = sys.stderr
            Retriever.search = search
            """
        ),
    ),
    _on_stderr(
        "the-check-warns",
        below_first(
            """
            import sys
            shell = get_ipython()
            shell.events.register("pre_run_cell", lambda info: print("done", file=sys.stderr))
            """
        ),
    ),
)

S20 = (
    Submission(
        "S20-in-own-cell", own("name = input('Your name? ')"), Ends("time"), (FIRST, SECOND), limits=SHORT
    ),
    Submission(
        "S20-above-the-class",
        second("name = input()"),
        Ends("time"),
        (FIRST, SECOND_LOST, "nput() cannot be answered here"),
        FIRST_ONLY,
        limits=SHORT,
    ),
    Submission(
        "S20-in-search",
        in_search("input()", "keyword_index"),
        Ends("time"),
        (FIRST, SECOND_LOST),
        FIRST_ONLY,
        limits=SHORT,
    ),
)


def _goes_on(name, source):
    return Submission(f"S21-{name}", own(source), Stock({"retriever": None}, stops=True), (FIRST, SECOND))


S21 = (
    _goes_on("name-error", "print(undefined_name)"),
    _goes_on("syntax-error", "for i in range(3) print(i)"),
    _goes_on("interrupts-itself", "raise KeyboardInterrupt"),
    _goes_on(
        "error-without-words",
        """
        class Mute(Exception):
            def __str__(self):
                raise RuntimeError("nothing to say")
        raise Mute
        """,
    ),
    _goes_on(
        "many-errors", "raise ExceptionGroup('all', [ValueError(1), ExceptionGroup('b', [KeyError(2)])])"
    ),
    _goes_on("base-exception", "class End(BaseException):\n    pass\nraise End"),
    _goes_on("too-deep", "def deeper():\n    deeper()\ndeeper()"),
    _goes_on("not-attempted-by-hand", "raise NotImplementedError('later')"),
)


def _left(name, make):
    return Submission(f"S22-{name}", make, Harm(("process",)), (FIRST, SECOND))


_SLEEPER = "[sys.executable, '-c', 'import time; time.sleep(300)', '@TOKEN@']"
S22 = (
    _left("child", own(f"import subprocess, sys\nsubprocess.Popen({_SLEEPER})")),
    _left(
        "session-of-its-own",
        own(f"import subprocess, sys\nsubprocess.Popen({_SLEEPER}, start_new_session=True)"),
    ),
    _left(
        "shell-job",
        own(
            """
            import sys
            !nohup {sys.executable} -c "import time; time.sleep(300)" @TOKEN@ >/dev/null 2>&1 &
            """
        ),
    ),
    _left(
        "daemon",
        between(
            f"""
            import os, sys
            if os.fork() == 0:
                os.setsid()
                if os.fork() == 0:
                    os.execv(sys.executable, {_SLEEPER})
                os._exit(0)
            os.wait()
            """
        ),
    ),
    _left(
        "in-search",
        in_search(f"import subprocess, sys\nself.child = subprocess.Popen({_SLEEPER})", "keyword_index"),
    ),
    Submission(
        "S22-thread-without-end",
        own("import threading, time\nthreading.Thread(target=time.sleep, args=(300,)).start()"),
        Raised({"processes": 100}, FULL),
        (FIRST, SECOND),
    ),
)

S23 = (
    Submission(
        "S23-above-the-class",
        second("import a_package_that_is_not_there"),
        Control(handed_in, FULL),
        (FIRST, SECOND_LOST, "No module named 'a_package_that_is_not_there'"),
        FIRST_ONLY,
    ),
    Submission(
        "S23-in-search",
        in_search("import torch_geometric_nowhere", "keyword_index"),
        Control(handed_in, FULL),
        (FIRST, SECOND_LOST, "torch_geometric_nowhere"),
        FIRST_ONLY,
    ),
    Submission(
        "S23-in-own-cell",
        own("import a_package_that_is_not_there"),
        Stock({"retriever": None}, stops=True),
        (FIRST, SECOND),
    ),
)

_RETURN = "[(found[key], scores[key]) for key in best[:k]]"
_COUNT = 'len(wanted & set(tokenize(document["content"])))'


def _shaped(name, make, exercise="retriever", points=FULL, **more):
    says = (f"{exercise}: {points[exercise]:g} of {points[exercise]:g} points",)
    off = Off("grader.answers:plain", {exercise: None})
    return Submission(f"S24-{name}", make, off, says, points, **more)


S24 = (
    _shaped(
        "numpy-scores",
        written(
            "retriever",
            _RETURN,
            "[(found[key], np.float32(2) * 0 + np.float64(scores[key])) for key in best[:k]]",
            above="import numpy as np",
        ),
    ),
    _shaped(
        "numpy-counts",
        written("keyword_index", _COUNT, f"np.int64({_COUNT})", above="import numpy as np"),
        "keyword_index",
    ),
    _shaped("generator", written("retriever", _RETURN, f"({_RETURN[1:-1]})")),
    _shaped("iterator", written("retriever", _RETURN, f"iter({_RETURN})")),
    _shaped("mapped", written("retriever", _RETURN, "map(lambda key: (found[key], scores[key]), best[:k])")),
    _shaped(
        "deque",
        written("retriever", _RETURN, f"deque({_RETURN})", above="from collections import deque"),
    ),
    _shaped(
        "fractions",
        written(
            "retriever",
            "1 / (k_rrf + rank)",
            "Fraction(1, k_rrf + rank)",
            above="from fractions import Fraction",
        ),
    ),
    _shaped("tuple", written("retriever", _RETURN, f"tuple({_RETURN})")),
    _shaped(
        "pairs-as-lists", written("retriever", _RETURN, _RETURN.replace("(f", "[f").replace("]) f", "]] f"))
    ),
    _shaped(
        "array-of-pairs",
        written("retriever", _RETURN, f"np.array({_RETURN} or [], dtype=object)", above="import numpy as np"),
    ),
    _shaped(
        "numpy-value",
        written(
            "rrf_score",
            "1 / (k_rrf + rank)",
            "np.array(1 / (k_rrf + rank))",
            "03_rrf_table",
            above="import numpy as np",
        ),
        "rrf_score",
        {"rrf_score": 1, "rrf_table": 3},
        unit="03_rrf_table",
    ),
    _shaped(
        "filter",
        lambda: handed_in(
            "00_start",
            find_term="""
            def find_term(term, documents):
                return filter(lambda document: term.lower() in document["content"].lower(), documents)
            """,
        ),
        "find_term",
        {"find_term": 1},
        unit="00_start",
    ),
)


S25 = (
    Submission(
        "S25-empties-rankings",
        lambda: handed_in(
            "03_rrf_table",
            before={"check_rrf_table": 'check("rrf_table", rrf_table)'},
            rrf_table=right("03_rrf_table")["rrf_table"]
            + """

_honest = rrf_table
def rrf_table(rankings, **settings):
    table = _honest(rankings, **settings)
    for ranking in rankings.values():
        ranking.clear()
    rankings.clear()
    return table
""",
        ),
        Off("copy:deepcopy", {"rrf_table": None}),
        ("rrf_score: 1 of 1 points", "rrf_table: 3 of 3 points"),
        {"rrf_score": 1, "rrf_table": 3},
        unit="03_rrf_table",
    ),
    Submission(
        "S25-empties-documents",
        lambda: handed_in(
            "02_bm25",
            before={"check_idf": 'check("idf", idf)'},
            idf=right("02_bm25")["idf"]
            + """

_honest = idf
def idf(term, documents):
    value = _honest(term, list(documents))
    if check_in_progress():
        documents.clear()
    return value


def check_in_progress():
    import sys
    frame = sys._getframe()
    while frame is not None:
        if frame.f_code.co_name == "run_probe" and "given" in frame.f_locals:
            return frame.f_locals["given"].keys() == {"term", "documents"}
        frame = frame.f_back
    return False
""",
        ),
        Off("copy:deepcopy", {"idf": None}),
        ("tokenize: 2 of 2 points", "idf: 2 of 2 points", "bm25_index: 4 of 4 points"),
        {"tokenize": 2, "idf": 2, "bm25_index": 4},
        unit="02_bm25",
    ),
    Submission(
        "S25-spoils-index-and-documents",
        lambda: handed_in(
            retriever=right()["retriever"]
            + """

_honest = Retriever.search
def _spoil(self, *arguments, **settings):
    results = _honest(self, *arguments, **settings)
    for index in self.indexes:
        if hasattr(index, "results"):
            for document, _ in index.results:
                document["content"] = "spoiled"
            index.results.reverse()
    return results
Retriever.search = _spoil
""",
            before={"check_retriever": 'check("retriever", Retriever)'},
        ),
        Control(handed_in, FULL),
        (FIRST, SECOND),
    ),
)

MAY_DIFFER = "may differ from run to run"
S26 = (
    Submission(
        "S26-order-of-a-set",
        lambda: handed_in(
            "02_bm25",
            tokenize=right("02_bm25")["tokenize"].replace(
                "return [token for token in tokens if token not in stop_words()]",
                "return list({token for token in tokens if token not in stop_words()})",
            ),
        ),
        Seeds(),
        (MAY_DIFFER, "idf: 2 of 2 points"),
        HONEST,
        unit="02_bm25",
    ),
    Submission(
        "S26-random-scores",
        written("retriever", "1 / (k_rrf + rank)", "random.random()", above="import random"),
        Seeds(),
        (MAY_DIFFER, SECOND),
        HONEST,
    ),
    Submission(
        "S26-numpy-random",
        written("keyword_index", _COUNT, "np.random.rand()", above="import numpy as np"),
        Seeds(),
        (MAY_DIFFER, FIRST),
        HONEST,
    ),
)

RUNNING = (*S15, *S16, *S17, *S18, *S19, *S20, *S21, *S22, *S23, *S24, *S25, *S26)
