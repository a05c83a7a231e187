"""Python in a copy of the course, in a network namespace that has no way out."""

import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

from browser import course_environment

KEYS = ("VOYAGE_API_KEY", "ANTHROPIC_API_KEY", "COHERE_API_KEY", "CO_API_KEY")

# Loopback starts down; Jupyter's kernels talk over it.
LOOPBACK_UP = """
import fcntl, os, socket, struct, sys
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
    request = struct.pack("16sh", b"lo", 0x1 | 0x40)
    fcntl.ioctl(one, 0x8914, request)
os.execv(sys.executable, [sys.executable, *sys.argv[1:]])
"""


@cache
def without_network() -> list[str]:
    """The words that start Python in a network namespace of its own, with loopback alone; none where it cannot be."""
    for start in (
        ["unshare", "--net", "--"],
        ["unshare", "--map-root-user", "--net", "--"],
        ["bwrap", "--unshare-net", "--dev-bind", "/", "/", "--"],
    ):
        if shutil.which(start[0]) and subprocess.run([*start, "true"], capture_output=True).returncode == 0:
            return [*start, sys.executable, "-c", LOOPBACK_UP]
    return []


def run_python(course: Path, home: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run Python in a course: without a network where that can be, and without anybody's keys."""
    environment = course_environment(course, home) | {"HYBRID_SEARCH_CACHE": str(home / "cache")}
    for key in KEYS:
        environment.pop(key, None)
    done = subprocess.run(
        [*(without_network() or [sys.executable]), *arguments],
        cwd=course,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done
