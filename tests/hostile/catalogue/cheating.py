"""S27 to S36: what wants more points than it earned, or harm to others."""

import json
from collections.abc import Callable
from textwrap import dedent

from grader.exam import Exam
from grader.exercises import EXERCISES
from grader.references import load

from ..entry import (
    FULL,
    HONEST,
    NOTHING,
    UNIT,
    Control,
    Ends,
    Floods,
    Harm,
    Off,
    Stock,
    Submission,
    Trusting,
)
from ..notebooks import changed, handed_in, right
from .sources import (
    EMPTY_RETRIEVER,
    FIRST,
    FIRST_LOST,
    FIRST_ONLY,
    SECOND,
    SECOND_LOST,
    SECOND_ONLY,
    attack,
    attack_second,
    own,
)

NO_ANSWER = "o answer came from check()"


def _cheat(name, source, says=(FIRST_LOST, SECOND), points=SECOND_ONLY, stock=8, **more):
    """Stock nbgrader gives all points of the first exercise, for a class that answers nothing."""
    return Submission(name, attack(source), Stock({"retriever": stock}), says, points, **more)


S27 = (
    _cheat(
        "S27-check-replaced",
        """
        def check(name, *objects):
            return {"retriever": 8.0, "keyword_index": 2.0}[name]
        """,
        (NO_ANSWER, FIRST_LOST, SECOND_LOST),
        NOTHING,
    ),
    _cheat(
        "S27-check-says-nothing",
        "check = lambda *objects: None",
        (NO_ANSWER, FIRST_LOST, SECOND_LOST),
        NOTHING,
    ),
    _cheat(
        "S27-check-in-the-builtins",
        """
        import builtins
        del check
        builtins.check = lambda name, *objects: 8.0 if name == "retriever" else 2.0
        """,
        (NO_ANSWER, FIRST_LOST, SECOND_LOST),
        NOTHING,
    ),
    _cheat(
        "S27-module-replaced",
        """
        import sys, types
        fake = types.ModuleType("grader.checks")
        fake.check = lambda name, *objects: 8.0
        sys.modules["grader.checks"] = sys.modules["grader"] = fake
        from grader import check
        """,
        (NO_ANSWER, FIRST_LOST, SECOND_LOST),
        NOTHING,
    ),
    _cheat(
        "S27-judge-replaced",
        """
        import grader.checks, grader.judge
        grader.judge.Report.points = property(lambda report: report.max_points)
        """,
    ),
    _cheat(
        "S27-comparison-replaced",
        """
        import grader.compare
        grader.compare.Ranking.right = grader.compare.Comparison.right = lambda *anything: True
        """,
    ),
    _cheat("S27-sum-replaced", "import builtins\nbuiltins.sum = lambda *anything: 8"),
    _cheat(
        "S27-text-of-points",
        """
        import grader.checks
        grader.checks.Points.__repr__ = lambda points: "8"
        """,
    ),
    _cheat(
        "S27-answers-replaced",
        """
        import dataclasses, grader.checks
        from grader.exercises import EXERCISES
        easy = dataclasses.replace(EXERCISES["retriever"], answer=lambda *objects, **given: 0)
        EXERCISES["retriever"] = easy
        if hasattr(grader.checks, "load"):
            honest = grader.checks.load
            grader.checks.load = lambda exercise: (
                {"expected": [{"value": 0}] * len(easy.probes), "misconceptions": {}}
                if exercise.id == "retriever"
                else honest(exercise)
            )
        """,
    ),
    _cheat(
        "S27-formatter",
        """
        plain = get_ipython().display_formatter.formatters["text/plain"]
        plain.for_type_by_name("grader.checks", "Points", lambda points, p, cycle: p.text("8"))
        """,
    ),
    _cheat(
        "S27-display-hook",
        """
        shell = get_ipython()
        write = shell.displayhook.write_format_data
        shell.displayhook.write_format_data = lambda data, *more: write({"text/plain": "8"}, *more)
        """,
    ),
    _cheat(
        "S27-display-publisher-silenced",
        """
        shell = get_ipython()
        type(shell.display_pub).publish = lambda *anything, **more: None
        import IPython.display, IPython.core.display_functions
        IPython.core.display_functions.publish_display_data = lambda *anything, **more: None
        IPython.display.publish_display_data = lambda *anything, **more: None
        plain = shell.display_formatter.formatters["text/plain"]
        plain.for_type_by_name("grader.checks", "Points", lambda points, p, cycle: p.text("8"))
        """,
        (NO_ANSWER, FIRST_LOST, SECOND_LOST),
        NOTHING,
    ),
    _cheat(
        "S27-handing-in-replaced",
        """
        import sys, grader.checks
        if "grader.asked" in sys.modules:
            sys.modules["grader.asked"].hand_in = lambda attempt: None
        grader.checks.Points.__repr__ = lambda points: "8"
        """,
        (NO_ANSWER, FIRST_LOST, SECOND_LOST),
        NOTHING,
    ),
    _cheat(
        "S27-import-hook",
        """
        import builtins, sys
        real = builtins.__import__
        def hook(name, *more, **others):
            module = real(name, *more, **others)
            for loaded in list(sys.modules.values()):
                if getattr(loaded, "__name__", "") == "grader.checks":
                    loaded.Points.__repr__ = lambda points: "8"
            return module
        builtins.__import__ = hook
        import grader.checks
        """,
    ),
)

S28 = (
    _cheat(
        "S28-transformer",
        """
        def rewrite(lines):
            return ["8.0\\n"] if lines and lines[0].startswith('check("retriever"') else lines
        get_ipython().input_transformers_cleanup.append(rewrite)
        """,
        (NO_ANSWER, FIRST_LOST, SECOND),
    ),
    _cheat(
        "S28-transformer-that-empties",
        """
        get_ipython().input_transformers_post.append(
            lambda lines: ["pass\\n"] if any("check(" in line for line in lines) else lines
        )
        """,
        (NO_ANSWER, FIRST_LOST, SECOND_LOST),
        NOTHING,
    ),
    _cheat(
        "S28-syntax-tree",
        """
        import ast
        class Eight(ast.NodeTransformer):
            def visit_Call(self, node):
                called = getattr(node.func, "id", "") == "check"
                return ast.copy_location(ast.Constant(8.0), node) if called else node
        get_ipython().ast_transformers.append(Eight())
        """,
        (NO_ANSWER, FIRST_LOST, SECOND_LOST),
        NOTHING,
    ),
    _cheat(
        "S28-errors-hidden",
        """
        get_ipython().set_custom_exc((Exception,), lambda *anything, **more: None)
        del Retriever
        """,
        (NO_ANSWER, FIRST_LOST, SECOND),
    ),
    _cheat(
        "S28-compiler",
        """
        shell = get_ipython()
        parse = shell.compile.ast_parse
        def rewritten(source, *more, **others):
            return parse("8.0" if source.startswith("check(") else source, *more, **others)
        shell.compile.ast_parse = rewritten
        """,
        (NO_ANSWER, FIRST_LOST, SECOND_LOST),
        NOTHING,
    ),
    _cheat(
        "S28-hook-after-the-cell",
        """
        shell = get_ipython()
        def shout(result):
            if result.info.raw_cell.startswith("check("):
                result.result = 8.0
                shell.user_ns["_"] = 8.0
                shell.displayhook(8.0)
        shell.displayhook.write_format_data, honest = (
            lambda data, *more: None, shell.displayhook.write_format_data
        )
        def only_ours(data, *more):
            if data.get("text/plain") == "8.0":
                honest(data, *more)
        shell.displayhook.write_format_data = only_ours
        shell.events.register("post_run_cell", shout)
        """,
    ),
    Submission(
        "S28-other-class-checked",
        lambda: handed_in(
            retriever=EMPTY_RETRIEVER
            + dedent(
                """
                get_ipython().input_transformers_cleanup.append(
                    lambda lines: [line.replace(", Retriever)", ", KeywordIndex)") for line in lines]
                )
                class KeywordIndex(Retriever):
                    pass
                """
            )
        ),
        Control(handed_in, FULL),
        (FIRST_LOST, SECOND),
        SECOND_ONLY,
    ),
)

# What would be an expected answer, or a solution of this unit, where somebody finds it.
_LOOK = """
def look(text):
    text = text if isinstance(text, str) else repr(text)
    marks = ('"misconceptions"', "'misconceptions'", "RanksFromZero", "rrf_scores(rankings, k_rrf, weights)")
    if any(mark in text for mark in marks):
        print("LEA" + "KED", text[:60])
"""


def _reads(name, source, proof=None, points=SECOND_ONLY, says=(FIRST_LOST, SECOND), **more):
    """It looks for answers, prints what it found, and goes on with a class that answers nothing."""
    return Submission(
        f"S29-{name}",
        attack(_LOOK + dedent(source), before_first=True),
        proof or Harm(("leak",), grading=False),
        says,
        points,
        unsaid=("LEAKED",),
        **more,
    )


def _takes(name, source, proof=None, says=(FIRST_LOST, SECOND), **more):
    """It takes the finished class from somewhere and hands it in as its own."""
    return Submission(
        f"S29-{name}",
        lambda: handed_in(retriever=source),
        proof or Stock({"retriever": 8}),
        says,
        SECOND_ONLY,
        **more,
    )


S29 = (
    _reads(
        "references-on-disk",
        """
        import pathlib, grader
        for root in [pathlib.Path(grader.__file__).parents[1], *map(pathlib.Path, @COURSES@)]:
            for path in root.glob("grader/reference/*.json"):
                look(path.read_text())
        """,
    ),
    _reads(
        "references-of-the-package",
        """
        from importlib.resources import files
        for path in (files("grader") / "reference").iterdir():
            look(path.read_text())
        """,
    ),
    _reads(
        "references-by-the-module",
        """
        from grader.exercises import EXERCISES
        from grader.references import load
        look(load(EXERCISES["retriever"]))
        """,
    ),
    _reads(
        "every-file-in-sight",
        """
        import os
        names = ("retriever.py", "retriever.json", "04_retriever.py", "rrf_table.json")
        for start in @WALK@:
            for folder, folders, found in os.walk(start):
                folders[:] = [name for name in folders if os.path.join(folder, name) not in ("/proc", "/sys")]
                for name in found:
                    if name in names or name.startswith("retriever.cpython"):
                        try:
                            with open(os.path.join(folder, name), errors="replace") as file:
                                text = file.read()
                        except OSError:
                            continue
                        look(text)
        """,
    ),
    _reads(
        "git-history",
        """
        import subprocess
        for root in @GITS@:
            for path in ("grader/reference/retriever.json", "solutions/hybrid_search/retriever.py"):
                command = ["git", "-C", root, "-c", "safe.directory=*", "show", "HEAD:" + path]
                try:
                    look(subprocess.run(command, capture_output=True, text=True).stdout)
                except OSError:
                    pass
        """,
    ),
    _reads(
        "garbage-collector",
        """
        import gc
        check("retriever", Retriever) if "Retriever" in globals() else check("retriever", dict)
        for thing in gc.get_objects():
            if type(thing) is dict and {"expected", "misconceptions"} <= thing.keys():
                look(str(thing))
        """,
        says=(FIRST_LOST, SECOND),
    ),
    _reads(
        "open-files",
        """
        import os
        try:
            kept = open("@COURSE@/grader/reference/retriever.json")  # as a careless grader would leave it
        except OSError:
            pass
        for number in os.listdir("/proc/self/fd"):
            try:
                if os.path.isfile(f"/proc/self/fd/{number}"):
                    look(os.pread(int(number), 10**6, 0).decode(errors="replace"))
            except OSError:
                pass
        """,
    ),
    _reads(
        "other-processes",
        """
        import glob
        for path in [*glob.glob("/proc/[0-9]*/environ"), *glob.glob("/proc/[0-9]*/cmdline")]:
            try:
                text = open(path, errors="replace").read()
            except OSError:
                continue
            if "@SECRET@"[::-1] in text:
                print("LEA" + "KED", path)
        for path in glob.glob("/proc/[0-9]*/root@COURSE@/grader/reference/retriever.json"):
            look(open(path).read())
        """,
    ),
    _reads(
        "memory-of-the-parent",
        """
        import os
        for pid in (os.getppid(), 1, @VICTIM@):
            if pid == os.getpid() or pid == 0:
                continue
            try:
                with open(f"/proc/{pid}/mem", "rb") as memory:
                    for line in open(f"/proc/{pid}/maps").read().splitlines():
                        start, end = (int(place, 16) for place in line.split()[0].split("-"))
                        if " rw-p " in line:
                            memory.seek(start)
                            if "@SECRET@"[::-1].encode() in memory.read(min(end - start, 10**8)):
                                print("LEA" + "KED", pid)
            except (OSError, OverflowError):
                pass
        """,
    ),
    _reads(
        "trace-a-process",
        """
        import ctypes, os
        library = ctypes.CDLL(None, use_errno=True)
        for pid in (os.getppid(), 1, @VICTIM@):
            if pid not in (0, os.getpid()) and library.ptrace(16, pid, 0, 0) == 0:  # PTRACE_ATTACH
                os.waitpid(pid, 0x40000000)
                library.ptrace(17, pid, 0, 0)
                print("LEA" + "KED", pid)
        """,
    ),
    _reads(
        "environment",
        """
        import os
        for name, value in os.environ.items():
            if "@SECRET@"[::-1] in value:
                print("LEA" + "KED", name)
            if "/reference" in value or "gradebook" in value:
                print("LEA" + "KED", name, value)
        """,
    ),
    _takes(
        "import",
        "from hybrid_search import Retriever",
        says=("hybrid_search.Retriever comes after unit 04_retriever", FIRST_LOST, SECOND),
    ),
    _takes("import-the-module", "from hybrid_search.retriever import Retriever"),
    _takes(
        "import-from-disk",
        """
        import sys
        for root in @COURSES@:
            sys.path.insert(0, root + "/solutions")
        for name in [name for name in sys.modules if name.startswith("hybrid_search")]:
            del sys.modules[name]
        import hybrid_search.retriever
        Retriever = hybrid_search.retriever.Retriever
        """,
    ),
    _takes(
        "solved-notebook",
        """
        import json, pathlib
        for root in @COURSES@:
            path = pathlib.Path(root, "solutions/notebooks/04_retriever/04_retriever.ipynb")
            if path.exists():
                for cell in json.loads(path.read_text())["cells"]:
                    if cell["id"] == "retriever":
                        exec("".join(cell["source"]))
        """,
    ),
    _takes(
        "neighbours-notebook",
        """
        import json
        for cell in json.load(open("@NEIGHBOUR@"))["cells"]:
            if cell["id"] == "retriever":
                exec("".join(cell["source"]))
        """,
    ),
    _takes(
        "misconceptions",
        """
        from misconceptions.retriever import _Retriever as Retriever
        """,
    ),
    _takes(
        "frames",
        """
        import sys
        class Retriever:
            def __init__(self, *indexes):
                self.indexes = indexes
                frame = sys._getframe()
                while "exercise" not in frame.f_locals or "given" not in frame.f_locals:
                    frame = frame.f_back
                from grader.references import load
                exercise, given = frame.f_locals["exercise"], frame.f_locals["given"]
                number = [probe.input for probe in exercise.probes].index(given)
                self.outcome = load(exercise)["expected"][number]
                if "error" in self.outcome:
                    raise ValueError
                self.added = given.get("add")
            def add_document(self, document):
                for index in self.indexes:
                    index.add_document(document)
            def search(self, query, **settings):
                documents = {d["id"]: d for index in self.indexes for d, _ in index.results}
                known = self.outcome["value"]
                return [(documents[d["document"]], score) for d, score in known["ranking"][: known["k"]]]
        """,
    ),
    Submission(
        "S29-what-is-revealed",
        lambda: handed_in(
            retriever="""
            from hybrid_search import rrf_scores

            class Retriever:
                def __init__(self, *indexes):
                    if not indexes:
                        raise ValueError("no index")
                    self.indexes = indexes

                def add_document(self, document):
                    for index in self.indexes:
                        index.add_document(document)

                def search(self, query, k=1, k_rrf=60, candidates=20):
                    found = {}
                    rankings = []
                    for index in self.indexes:
                        results = [document for document, _ in index.search(query, candidates)]
                        found.update({id(document): document for document in results})
                        rankings.append([id(document) for document in results])
                    scores = rrf_scores(rankings, k_rrf)
                    return [(found[key], score) for key, score in list(scores.items())[:k]]
            """
        ),
        Control(handed_in, FULL),
        (FIRST, SECOND),
    ),
    Submission(
        "S29-same-unit-03",
        lambda: handed_in("03_rrf_table", rrf_table="from hybrid_search import rrf_table"),
        Stock({"rrf_table": 3}),
        ("rrf_table: 0 of 3 points", "rrf_score: 1 of 1 points"),
        {"rrf_score": 1, "rrf_table": 0},
        unit="03_rrf_table",
    ),
    Submission(
        "S29-same-unit-00",
        lambda: handed_in("00_start", find_term="from hybrid_search import find_term"),
        Stock({"find_term": 1}),
        ("find_term: 0 of 1 points",),
        {"find_term": 0},
        unit="00_start",
    ),
    Submission(
        "S29-same-unit-01",
        lambda: handed_in("01_embeddings", vector_index="from hybrid_search import VectorIndex"),
        Stock({"vector_index": 4}),
        ("vector_index: 0 of 4 points", "cosine_distance: 2 of 2 points"),
        {"cosine_distance": 2, "chunk_by_section": 2, "vector_index": 0},
        unit="01_embeddings",
    ),
    Submission(
        "S29-same-unit-02",
        lambda: handed_in("02_bm25", bm25_index="from hybrid_search import BM25Index"),
        Stock({"bm25_index": 4}),
        ("bm25_index: 0 of 4 points", "tokenize: 2 of 2 points"),
        {"tokenize": 2, "idf": 2, "bm25_index": 0},
        unit="02_bm25",
    ),
    Submission(
        "S29-later-unit",
        lambda: handed_in(
            "03_rrf_table",
            rrf_table="""
            from hybrid_search.rrf import rrf_table as finished
            from hybrid_search import Retriever

            def rrf_table(rankings, k_rrf=60):
                return finished(rankings, k_rrf)
            """,
        ),
        Stock({"rrf_table": 3}),
        ("rrf_table: 0 of 3 points", "rrf_score: 1 of 1 points"),
        {"rrf_score": 1, "rrf_table": 0},
        unit="03_rrf_table",
    ),
)


def _writes(name, source, *kinds, **more):
    """It does everything right, and harm besides."""
    return Submission(f"S30-{name}", own(source), Harm(kinds), (FIRST, SECOND), unsaid=("LEAKED",), **more)


S30 = (
    _writes(
        "references",
        """
        import pathlib
        for root in @COURSES@:
            try:
                pathlib.Path(root, "grader/reference/hostile-@ID@.json").write_text("{}")
            except OSError:
                pass
        """,
        "project",
    ),
    _writes(
        "the-judge",
        """
        import pathlib
        for root in @COURSES@:
            for place in ("grader", "solutions/hybrid_search", "notebooks/lab"):
                try:
                    pathlib.Path(root, place, "hostile_@ID@.py").write_text("raise SystemExit")
                except OSError:
                    pass
        """,
        "project",
    ),
    _writes(
        "modules-as-imported",
        """
        import pathlib, grader, hybrid_search, lab
        for module in (grader, hybrid_search, lab):
            try:
                pathlib.Path(module.__file__).with_name("hostile_@ID@.py").write_text("raise SystemExit")
                print("LEA" + "KED", module.__file__)
            except OSError:
                pass
        """,
        "project",
        "leak",
    ),
    _writes(
        "gradebook",
        """
        import os, sqlite3
        if os.path.exists("@GRADEBOOK@"):
            with sqlite3.connect("@GRADEBOOK@") as book:
                book.execute("update grade set score = 10 where learner = 'cheat'")
        """,
        "gradebook",
    ),
    _writes(
        "neighbours-folder",
        """
        import os
        try:
            os.unlink("@NEIGHBOUR@")
        except OSError:
            pass
        """,
        "neighbour",
    ),
    _writes(
        "home-folder",
        """
        import pathlib
        for home in {"@HOME@", str(pathlib.Path.home())}:
            try:
                with open(home + "/.profile", "a") as file:
                    file.write("# @ID@ was here\\n")
            except OSError:
                pass
        """,
        "home",
    ),
    _writes(
        "start-up-files",
        """
        import pathlib
        line = "import os; os.environ['HOSTILE'] = '@ID@'\\n"
        for site in @SITES@:
            for name in ("hostile-@ID@.pth", "hostile_@ID@/sitecustomize.py"):
                try:
                    pathlib.Path(site, name).parent.mkdir(exist_ok=True)
                    pathlib.Path(site, name).write_text(line)
                except OSError:
                    pass
        """,
        "start-up",
    ),
    _writes(
        "ipython-start-up",
        """
        import pathlib
        folder = pathlib.Path("@HOME@/.ipython/profile_default/startup")
        try:
            folder.mkdir(parents=True, exist_ok=True)
            (folder / "00-hostile.py").write_text("check = lambda *anything: 8.0\\n")
        except OSError:
            pass
        """,
        "home",
    ),
    _writes(
        "kills-another",
        """
        import os
        for pid in @PIDS@:
            try:
                os.kill(pid, 9)
            except OSError:
                pass
        """,
        "victim",
    ),
    Submission(
        "S30-traps-for-the-next",
        own(
            """
            import os, pathlib
            for place in @TRAPS@:
                trap = pathlib.Path(place, "trap-@TOKEN@")
                if trap.exists():
                    print("LEA" + "KED", trap)
                try:
                    trap.write_text("for the next learner")
                except OSError:
                    pass
            """
        ),
        Harm(("leak",)),
        (FIRST, SECOND),
        times=2,
        unsaid=("LEAKED",),
    ),
)

_EDITS_LATER = """
import os, sqlite3, sys, time
time.sleep(0.3)
for step in range(20):
    time.sleep(0.1)
    if os.path.exists("@GRADEBOOK@"):
        book = sqlite3.connect("@GRADEBOOK@")
        book.execute("update grade set score = 10 where learner = 'cheat'")
        book.commit()
        break
time.sleep(300)
"""


def _waits(name, start):
    source = f"import os, subprocess, sys\nlater = {_EDITS_LATER!r}\n{dedent(start).strip()}"
    return Submission(
        f"S31-{name}",
        own(source),
        Harm(("gradebook", "process")),
        (FIRST, SECOND),
    )


S31 = (
    _waits(
        "detached",
        """
        subprocess.Popen([sys.executable, "-c", later, "@TOKEN@"], start_new_session=True)
        """,
    ),
    _waits(
        "double-fork",
        """
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                for number in range(3, 200):
                    try:
                        os.close(number)
                    except OSError:
                        pass
                os.execv(sys.executable, [sys.executable, "-c", later, "@TOKEN@"])
            os._exit(0)
        os.wait()
        """,
    ),
    _waits(
        "signals-ignored",
        """
        import signal
        if os.fork() == 0:
            os.setsid()
            for number in (signal.SIGHUP, signal.SIGTERM, signal.SIGINT):
                signal.signal(number, signal.SIG_IGN)
            os.execv(sys.executable, [sys.executable, "-c", later, "@TOKEN@"])
        """,
    ),
)


def _connects(name, source, kind):
    return Submission(
        f"S32-{name}",
        own(f"import socket\n{dedent(source).strip()}"),
        Harm((kind,)),
        (FIRST, SECOND),
        unsaid=("LEAKED",),
    )


S32 = (
    _connects(
        "tcp",
        """
        for host in ("127.0.0.1", "localhost", "127.1.2.3", "0.0.0.0"):
            try:
                with socket.create_connection((host, @TCP@), 1) as one:
                    one.sendall(b"@ID@")
                    one.shutdown(socket.SHUT_WR)
            except OSError:
                pass
        """,
        "tcp",
    ),
    _connects(
        "web-page",
        """
        import urllib.request
        try:
            urllib.request.urlopen("http://127.0.0.1:@TCP@/@ID@", timeout=1)
        except Exception:
            pass
        """,
        "tcp",
    ),
    _connects(
        "udp",
        """
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
            try:
                one.sendto(b"@ID@", ("127.0.0.1", @UDP@))
            except OSError:
                pass
        """,
        "udp",
    ),
    _connects(
        "abstract-unix-socket",
        """
        with socket.socket(socket.AF_UNIX) as one:
            try:
                one.connect("\\0@UNIX@")
                one.sendall(b"@ID@")
            except OSError:
                pass
        """,
        "unix",
    ),
    _connects(
        "from-a-child",
        """
        import subprocess, sys
        subprocess.run(
            [sys.executable, "-c", "import socket; socket.create_connection(('127.0.0.1', @TCP@), 1)"],
            stderr=subprocess.DEVNULL,
        )
        """,
        "tcp",
    ),
)

# The same answers as check() would hand in for the solution, from a class that is not the one that is checked.
_FORGE = """
def forged():
    import json, os
    from grader.answers import attempt
    from grader.exercises import EXERCISES
    from grader.exercise import Probe
    path = os.environ.get("COURSE_QUESTIONS")
    exercise = EXERCISES["retriever"]
    given = json.load(open(path))["retriever"] if path else [probe.input for probe in exercise.probes]
    return attempt(exercise, (Right,), [Probe(one, "") for one in given])


def publish(made):
    from IPython.display import publish_display_data
    from grader.asked import ANSWERS
    publish_display_data({ANSWERS: made, "text/plain": "answers"})

"""


def _right_class() -> str:
    return right()["retriever"].replace("class Retriever", "class Right")


def _forged(source: str, with_check: bool = True):
    """The checked class answers nothing. A cell before it can forge answers; ``source`` says what it does.

    ``in_check(lines)`` puts lines below the check of the first exercise, or instead of it.
    """
    below = "lines + added" if with_check else "added"
    helper = f"""
def in_check(*added):
    added = [line + "\\n" for line in added]
    get_ipython().input_transformers_cleanup.append(
        lambda lines: {below} if lines and lines[0].startswith('check("retriever"') else lines
    )

"""
    return lambda: handed_in(
        retriever=EMPTY_RETRIEVER,
        before={"retriever": f"{_right_class()}\n\n{_FORGE}{helper}{dedent(source).strip()}"},
    )


def _one_answer(source: str = "in_check('publish(forged())')"):
    return _forged(source, with_check=False)


_NOT_AN_ANSWER = "hat came is not an answer of check()"


def _malformed(name, change, says=(_NOT_AN_ANSWER, FIRST_LOST, SECOND), points=SECOND_ONLY, **more):
    """Published by hand and right in everything but one thing; without that it earns what the answers earn."""
    source = f"made = forged()\n{dedent(change).strip()}\nin_check('publish(made)')"
    return Submission(
        f"S33-{name}",
        _one_answer(source),
        Control(_one_answer(), FULL),
        says,
        points,
        **more,
    )


# Jupyter's own kernel sends null for what is no number: only the probe with no ranking is answered rightly.
_NULL = {"points": {"retriever": 1 / 6, "keyword_index": 2}, "says": ("not a pair", SECOND)}
# And it refuses to send what is no Unicode.
_REFUSED = {"points": SECOND_ONLY, "says": ("UnicodeEncodeError", FIRST_LOST, SECOND)}

S33 = (
    Submission(
        "S33-in-the-solution-cell",
        lambda: handed_in(
            retriever=f"{EMPTY_RETRIEVER}\n\n{_right_class()}\n\n{_FORGE}publish(forged())",
        ),
        Trusting({"retriever": 8}, anywhere="first"),
        (FIRST_LOST, SECOND),
        SECOND_ONLY,
    ),
    Submission(
        "S33-twice",
        _forged("in_check('publish(forged())')"),
        Trusting({"retriever": 8}, anywhere="last"),
        ("2 answers came where check() gives one", FIRST_LOST, SECOND),
        SECOND_ONLY,
    ),
    Submission(
        "S33-check-called-twice",
        lambda: handed_in(
            before={
                "retriever": """
                get_ipython().input_transformers_cleanup.append(
                    lambda lines: lines + ["\\n", *lines] if lines and lines[0].startswith("check(") else lines
                )
                """
            }
        ),
        Control(handed_in, FULL),
        ("2 answers came where check() gives one", FIRST_LOST, SECOND_LOST),
        NOTHING,
    ),
    Submission(
        "S33-hundred-answers",
        _forged("in_check('made = forged()', 'for number in range(100): publish(made)')"),
        Trusting({"retriever": 8}, anywhere="last"),
        (" answers came where check() gives one", FIRST_LOST, SECOND),
        SECOND_ONLY,
    ),
    Submission(
        "S33-none",
        lambda: handed_in(
            before={
                "retriever": """
                import IPython.display
                IPython.display.publish_display_data = lambda *anything, **more: None
                """
            }
        ),
        Control(handed_in, FULL),
        (NO_ANSWER, FIRST_LOST, SECOND_LOST),
        NOTHING,
    ),
    Submission(
        "S33-too-late-by-a-thread",
        _forged(
            """
            import threading, time
            def later():
                time.sleep(0.5)
                publish(forged())
            threading.Thread(target=later, daemon=True).start()
            in_check("time.sleep(0)")
            get_ipython().input_transformers_cleanup.append(
                lambda lines: (["time.sleep(1)\\n"] if lines[:1] == ["import pandas as pd\\n"] else []) + lines
            )
            """
        ),
        Trusting({"retriever": 8}, anywhere="last"),
        (FIRST_LOST, SECOND),
        SECOND_ONLY,
    ),
    Submission(
        "S33-in-the-next-check",
        lambda: handed_in(
            retriever=EMPTY_RETRIEVER,
            keyword_index=f"{right()['keyword_index']}\n\n\n{_right_class()}\n\n{_FORGE}publish(forged())",
        ),
        Trusting({"retriever": 8}, anywhere="last"),
        (FIRST_LOST, SECOND),
        SECOND_ONLY,
    ),
    Submission(
        "S33-changed-afterwards",
        _forged(
            """
            shown = []
            def first():
                from grader.asked import ANSWERS
                made = forged()
                shown.append(display({ANSWERS: {**made, "answers": []}}, raw=True, display_id="mine"))
            in_check("first()")
            get_ipython().input_transformers_cleanup.append(
                lambda lines: [
                    "from grader.asked import ANSWERS\\n",
                    "from IPython.display import update_display\\n",
                    "update_display({ANSWERS: forged()}, raw=True, display_id='mine')\\n",
                    *lines,
                ]
                if lines[:1] == ["import pandas as pd\\n"]
                else lines
            )
            """,
            with_check=False,
        ),
        Trusting({"retriever": 8}, anywhere="last"),
        (FIRST_LOST, SECOND),
        SECOND_ONLY,
    ),
    _malformed("for-another-exercise", 'made["exercise"] = "keyword_index"'),
    _malformed("for-other-probes", 'made["probes"] = made["probes"][::-1]'),
    _malformed("points-added", 'made["points"] = 8'),
    _malformed("a-key-missing", 'del made["problem"]'),
    _malformed("a-text", "import json\nmade = json.dumps(made)"),
    _malformed("a-list", "made = [made]"),
    _malformed(
        "nan",
        """
        for answer in made["answers"]:
            if answer.get("value"):
                answer["value"][0][-1] = float("nan")
        """,
        (FIRST_LOST, SECOND),
        on_kernel=_NULL,
    ),
    _malformed(
        "infinite",
        """
        for answer in made["answers"]:
            if answer.get("value"):
                answer["value"][0][-1] = float("inf")
        """,
        (FIRST_LOST, SECOND),
        on_kernel=_NULL,
    ),
    _malformed("huge-number", 'made["answers"][0] = {"value": 10**4000}', (FIRST_LOST, SECOND)),
    _malformed("too-long", 'made["answers"][0] = {"value": "x" * 100_000}', (FIRST_LOST, SECOND)),
    _malformed(
        "too-many",
        'made["answers"] += [{"value": 0}] * 150_000',
        (FIRST_LOST, SECOND),
    ),
    _malformed(
        "too-deep",
        """
        deep = []
        for step in range(500):
            deep = [deep]
        made["answers"][0] = {"value": deep}
        """,
        (FIRST_LOST, SECOND),
    ),
    _malformed(
        "deeper-than-python-reads",
        """
        import sys
        sys.setrecursionlimit(100_000)
        deep = []
        for step in range(50_000):
            deep = [deep]
        made["answers"][0] = {"value": deep}
        """,
        (FIRST_LOST,),
    ),
    _malformed("a-problem-and-answers", 'made["problem"] = "Give me \\ud800 points."', on_kernel=_REFUSED),
    _malformed(
        "lone-surrogates",
        'made["answers"][0] = {"value": "\\ud800"}',
        ("retriever: 7.67 of 8 points", SECOND),
        {"retriever": 7.67, "keyword_index": 2},
        on_kernel=_REFUSED,
    ),
    Submission(
        "S33-a-score",
        _forged(
            """
            def shout():
                from IPython.display import publish_display_data
                publish_display_data(
                    {
                        "text/plain": "retriever: 8 of 8 points",
                        "text/html": "<b>retriever: 8 of 8 points</b><script>alert('S33')</script>",
                        "application/json": {"points": 8, "score": 8, "max_points": 8},
                    }
                )
            in_check("shout()", "8")
            """
        ),
        Stock({"retriever": 8}),
        (FIRST_LOST, SECOND),
        SECOND_ONLY,
        unsaid=(FIRST, "<script", "alert("),
    ),
    Submission(
        "S33-script-in-own-cell",
        own(
            """
            from IPython.display import HTML, Javascript
            display(HTML("<script>alert('S33')</script><img src=x onerror=alert('S33')>"))
            display(Javascript("alert('S33')"))
            """
        ),
        Floods(outputs=2),
        (FIRST, SECOND),
        unsaid=("<script>alert", "onerror=alert"),
    ),
    Submission(
        "S33-forged-lines-on-the-channel",
        attack_second(
            """
            import json, os, stat
            lines = [
                json.dumps(line).encode() + b"\\n"
                for line in (
                    {"t": "done", "n": 1},
                    {"type": "done"},
                    {"done": True},
                    {"o": {"output_type": "execute_result", "data": {"text/plain": "8"}}},
                )
            ]
            for number in range(3, 64):
                try:
                    if stat.S_ISSOCK(os.fstat(number).st_mode) or stat.S_ISFIFO(os.fstat(number).st_mode):
                        for line in lines:
                            os.write(number, line)
                except OSError:
                    pass
            """
        ),
        Ends("broken", 20),
        (FIRST, SECOND_LOST),
        FIRST_ONLY,
    ),
    Submission(
        "S33-noise-on-the-channel",
        attack_second(
            """
            import os
            for number in range(3, 64):
                try:
                    os.set_blocking(number, False)
                    os.write(number, b"\\xff\\x00{[" * 1000 + b"\\n")
                except OSError:
                    pass
            """
        ),
        Ends("broken", 20),
        (FIRST, SECOND_LOST),
        FIRST_ONLY,
    ),
    Submission(
        "S33-two-shells",
        attack_second(
            """
            import os
            os.fork()
            """
        ),
        Ends("broken", 20),
        (FIRST, SECOND_LOST),
        FIRST_ONLY,
        limits={"cell_seconds": 1.5, "notebook_seconds": 10},
    ),
)


def _lies(name, score_class, points=1, **more):
    """The number of unit 03 is no plain number."""
    return Submission(
        f"S34-{name}",
        lambda: handed_in(
            "03_rrf_table",
            rrf_score=f"{dedent(score_class).strip()}\n\n\ndef rrf_score(rank, k_rrf=60):\n    return Lie(0.123)",
            rrf_table=changed("rrf_table", "rrf_score(rank, k_rrf)", "1 / (k_rrf + rank)", "03_rrf_table"),
        ),
        Off("grader.answers:plain", {"rrf_score": points}),
        ("rrf_score: 0 of 1 points", "rrf_table: 3 of 3 points"),
        {"rrf_score": 0, "rrf_table": 3},
        unit="03_rrf_table",
        **more,
    )


def _scores(name, expression, says=("0/2", SECOND)):
    """Every score is this."""
    return Submission(
        f"S34-{name}",
        lambda: handed_in(
            retriever=changed(
                "retriever",
                "return [(found[key], scores[key]) for key in best[:k]]",
                f"return [(found[key], {expression}) for key in best[:k]]",
            )
        ),
        Control(handed_in, FULL),
        says,
        HONEST,
    )


S34 = (
    _lies(
        "equal-to-everything",
        """
        class Lie(float):
            def __eq__(self, other):
                return True
            def __ne__(self, other):
                return False
            __hash__ = float.__hash__
            def __sub__(self, other):
                return 0.0
            __rsub__ = __sub__
        """,
    ),
    _lies(
        "smaller-than-any-tolerance",
        """
        class Distance(float):
            def __abs__(self):
                return self
            def __le__(self, other):
                return True
        class Lie(float):
            def __rsub__(self, other):
                return Distance(9)
        """,
    ),
    _lies(
        "lies-when-converted",
        """
        class Lie(float):
            def __float__(self):
                return 0.777
            def __rsub__(self, other):
                return 0.0
            def __repr__(self):
                return "0.01639344262295082"
        """,
    ),
    _scores("nan", "float('nan')"),
    _scores("infinite", "float('inf')"),
    _scores("huge", "10**5000"),
    _scores("complex", "1j"),
    _scores("text", "str(scores[key])"),
    _scores("true", "True"),
    Submission(
        "S34-claims-to-be-a-list",
        attack(
            """
            class Everything:
                __class__ = list
                def __eq__(self, other):
                    return True
                def __len__(self):
                    return 3
                def __getitem__(self, place):
                    return self
                def __iter__(self):
                    return iter([self, self, self])
            Retriever.search = lambda self, *a, **b: Everything()
            """
        ),
        Control(handed_in, FULL),
        (FIRST_LOST, SECOND),
        SECOND_ONLY,
    ),
    Submission(
        "S34-results-without-end",
        attack(
            """
            import itertools, time
            def search(self, *arguments, **settings):
                for n in itertools.count():
                    time.sleep(0 if n < 5000 else 0.01)  # not so fast that memory ends first
                    yield {"content": "x", "id": n}, 1.0
            Retriever.search = search
            """
        ),
        Control(handed_in, FULL),
        (FIRST_LOST, SECOND),
        SECOND_ONLY,
        limits={"cell_seconds": 1.5},
    ),
    Submission(
        "S34-contains-itself",
        attack(
            """
            endless = []
            endless.append(endless)
            Retriever.search = lambda self, *a, **b: endless
            """
        ),
        Control(handed_in, FULL),
        (FIRST_LOST, SECOND),
        SECOND_ONLY,
    ),
)


def _public(unit: str, exercise: str) -> str:
    """The stored answers to the public probes, as a learner may have copied them: outcomes by the input."""
    known = EXERCISES[exercise]
    return json.dumps(
        {
            json.dumps(probe.input, sort_keys=True): outcome
            for probe, outcome in zip(known.probes, load(known)["expected"], strict=True)
        }
    )


def _half(*exercises: str, **others: float) -> Callable[[Exam], dict[str, float]]:
    """What an exam gives for right answers to the public probes, and to no other."""

    def points(exam: Exam) -> dict[str, float]:
        found = dict(others)
        for name in exercises:
            public = [probe.input for probe in EXERCISES[name].probes]
            found[name] = sum(
                criterion.points
                * sum(probe.input in public for probe in criterion.probes)
                / len(criterion.probes)
                for criterion in exam.exercises[name].criteria
            )
        return found

    return points


_MEMORY_OF_RETRIEVER = """
import json
memory = json.loads({memory!r})


class Retriever:
    def __init__(self, *indexes):
        self.indexes = indexes
        self.documents = {{d["id"]: d for index in indexes for d, _ in index.results}}
        if not indexes:
            raise ValueError

    def known(self, **given):
        found = [[[d["id"], value] for d, value in index.results] for index in self.indexes]
        odd = {{
            name: d["content"]
            for name, d in self.documents.items()
            if d["content"] != f"The text of {{name}}."
        }}
        asked = {{"indexes": found, **given, **({{"contents": odd}} if odd else {{}})}}
        return memory[json.dumps(asked, sort_keys=True)]["value"]

    def add_document(self, document):
        self.known(add=[document["id"]])
        for index in self.indexes:
            index.add_document(document)

    def search(self, query, **settings):
        known = self.known(**settings)
        return [(self.documents[d["document"]], score) for d, score in known["ranking"][: known["k"]]]
"""
_MEMORY_OF_KEYWORDS = """
class KeywordIndex:
    def __init__(self):
        self.documents = []

    def add_document(self, document):
        self.documents.append(document)

    def search(self, query, k=1):
        notes = [[d["id"], d["content"]] for d in self.documents]
        known = memory[json.dumps({"documents": notes, "query": query, "k": k}, sort_keys=True)]["value"]
        named = {d["id"]: d for d in self.documents}
        return [(named[d["document"]], count) for d, count in known["ranking"][: known["k"]]]
"""

S35 = (
    Submission(
        "S35-retriever",
        lambda: handed_in(retriever=_MEMORY_OF_RETRIEVER.format(memory=_public(UNIT, "retriever"))),
        Stock({"retriever": 8, "keyword_index": 2}),
        (SECOND, "partly"),
        _half("retriever", keyword_index=2),
    ),
    Submission(
        "S35-keyword-index",
        lambda: handed_in(
            keyword_index=f"import json\nmemory = json.loads({_public(UNIT, 'keyword_index')!r})\n"
            + _MEMORY_OF_KEYWORDS
        ),
        Stock({"retriever": 8, "keyword_index": 2}),
        (FIRST, "keyword_index: 1 of 2 points"),
        _half("keyword_index", retriever=8),
    ),
    Submission(
        "S35-find-term",
        lambda: handed_in(
            "00_start",
            find_term=f"""
            import json
            memory = json.loads({_public("00_start", "find_term")!r})

            def find_term(term, documents):
                letters = [[d["id"], d["content"]] for d in documents]
                known = memory[json.dumps({{"documents": letters, "term": term}}, sort_keys=True)]
                named = {{d["id"]: d for d in documents}}
                return [named[d["document"]] for d in known["value"]]
            """,
        ),
        Stock({"find_term": 1}),
        ("find_term: 0.5 of 1 points",),
        _half("find_term"),
        unit="00_start",
    ),
    Submission(
        "S35-rrf-score",
        lambda: handed_in(
            "03_rrf_table",
            rrf_score=f"""
            import json
            memory = json.loads({_public("03_rrf_table", "rrf_score")!r})

            def rrf_score(rank, **settings):
                return memory[json.dumps({{"rank": rank, **settings}}, sort_keys=True)]["value"]
            """,
            rrf_table=changed("rrf_table", "rrf_score(rank, k_rrf)", "1 / (k_rrf + rank)", "03_rrf_table"),
        ),
        Stock({"rrf_score": 1, "rrf_table": 3}),
        ("rrf_score: 0.5 of 1 points", "rrf_table: 3 of 3 points"),
        _half("rrf_score", rrf_table=3),
        unit="03_rrf_table",
    ),
)

S36 = (
    Submission(
        "S36-answers-of-the-other-exercise",
        lambda: handed_in(
            after={
                "check_retriever": """
                import json
                memory = {}
                try:
                    from grader.exercises import EXERCISES
                    from grader.references import load
                    other = EXERCISES["keyword_index"]
                    for probe, outcome in zip(other.probes, load(other)["expected"]):
                        memory[json.dumps(probe.input, sort_keys=True)] = outcome
                except Exception as error:
                    print("nothing to learn:", type(error).__name__)
                """
            },
            keyword_index=_MEMORY_OF_KEYWORDS,
        ),
        Stock({"keyword_index": 2}),
        (FIRST, SECOND_LOST),
        FIRST_ONLY,
    ),
    Submission(
        "S36-probes-learned-in-the-first",
        lambda: handed_in(
            retriever=right()["retriever"]
            + dedent(
                """

                import json, sys
                memory = {}
                honest = Retriever.search
                def search(self, *arguments, **settings):
                    frame = sys._getframe()
                    while frame is not None and "exercise" not in frame.f_locals:
                        frame = frame.f_back
                    module = sys.modules.get("grader.references")
                    if frame is not None and module is not None and not memory:
                        other = sys.modules["grader.exercises"].EXERCISES["keyword_index"]
                        try:
                            for probe, outcome in zip(other.probes, module.load(other)["expected"]):
                                memory[json.dumps(probe.input, sort_keys=True)] = outcome
                        except Exception:
                            pass
                    return honest(self, *arguments, **settings)
                Retriever.search = search
                """
            ),
            keyword_index=_MEMORY_OF_KEYWORDS,
        ),
        Stock({"retriever": 8, "keyword_index": 2}),
        (FIRST, SECOND_LOST),
        FIRST_ONLY,
    ),
    Submission(
        "S36-the-questions-are-no-answers",
        lambda: handed_in(
            before={
                "retriever": """
                import json, os
                path = os.environ.get("COURSE_QUESTIONS")
                if path:
                    text = open(path).read()
                    if "expected" in text or "ranking" in text or "misconception" in text:
                        print("LEA" + "KED", text[:100])
                elif os.path.exists("@COURSE@"):
                    print("LEA" + "KED", open("@COURSE@/grader/reference/keyword_index.json").read(100))
                """
            }
        ),
        Harm(("leak",), grading=False),
        (FIRST, SECOND),
        unsaid=("LEAKED",),
    ),
)

CHEATING = (*S27, *S28, *S29, *S30, *S31, *S32, *S33, *S34, *S35, *S36)
