"""Make the reference answers from the finished system. Only the build and the tests come here."""

from typing import Any

from .answers import run_probe
from .exercise import Exercise, fingerprint
from .outcome import Outcome


def make(exercise: Exercise) -> dict[str, Any]:
    """The reference of an exercise, from hybrid_search and solutions/misconceptions."""
    import hybrid_search

    finished = tuple(getattr(hybrid_search, name) for name in exercise.objects)
    return _stable(
        {
            "exercise": exercise.id,
            "probes": fingerprint(exercise.probes),
            "expected": [
                exercise.compare.expected(lambda given: run_probe(exercise, finished, given), probe.input)
                for probe in exercise.probes
            ],
            "misconceptions": {
                name: [run_probe(exercise, objects, probe.input) for probe in exercise.probes]
                for name, objects in implementations(exercise).items()
            },
        }
    )


def implementations(exercise: Exercise) -> dict[str, tuple]:
    """The wrong implementations of an exercise, by name, in the order in which it declares them."""
    from misconceptions import IMPLEMENTATIONS

    written = IMPLEMENTATIONS[exercise.id]
    if set(written) != set(exercise.misconceptions):
        raise RuntimeError(
            f"{exercise.id}: declared and written misconceptions differ: "
            f"{sorted(set(written) ^ set(exercise.misconceptions))}"
        )
    return {name: written[name] for name in exercise.misconceptions}


def twins(exercise: Exercise, misconceptions: dict[str, list[Outcome]]) -> list[tuple[str, str]]:
    """Pairs of misconceptions that no probe tells apart."""
    names = list(misconceptions)
    return [
        (one, other)
        for i, one in enumerate(names)
        for other in names[i + 1 :]
        if all(map(exercise.compare.alike, misconceptions[one], misconceptions[other]))
    ]


def _stable(value: Any) -> Any:
    """The same on every machine: numbers without their last digits, errors without Python's own words."""
    if isinstance(value, float):
        return round(value, 12)
    if isinstance(value, list):
        return [_stable(item) for item in value]
    if isinstance(value, dict):
        kept = {"error": value["error"]} if "error" in value else value
        return {key: _stable(item) for key, item in kept.items()}
    return value
