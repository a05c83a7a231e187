"""What an index in Qdrant asks for, the order of what it gets, and plain errors where it gets nothing."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from qdrant_client.models import Filter, ScoredPoint

# Of a score in float32. Two that are nearer than this are equal.
ROUNDING = 1e-6


def where(
    ids: Sequence[int] | None = None, ids_not: Sequence[int] | None = None, **fields: str | int
) -> "Filter":
    """The points that have one of the ids, or none of ``ids_not``, and these values in their payload."""
    from qdrant_client import models

    must: list = [
        models.FieldCondition(key=name, match=models.MatchValue(value=value))
        for name, value in fields.items()
    ]
    if ids is not None:
        must.append(models.HasIdCondition(has_id=list(ids)))
    must_not = None if ids_not is None else [models.HasIdCondition(has_id=list(ids_not))]
    return models.Filter(must=must, must_not=must_not)


def in_order(points: "Sequence[ScoredPoint]") -> list[int]:
    """The ids of the points, best score first; equal ones by id, since Qdrant leaves their order open."""
    groups: list[list] = []
    for point in sorted(points, key=lambda point: -point.score):
        if groups and equal(groups[-1][0], point):
            groups[-1].append(point)
        else:
            groups.append([point])
    return [point_id for group in groups for point_id in sorted(point.id for point in group)]


def equal(one: "ScoredPoint", other: "ScoredPoint") -> bool:
    """Are the scores equal, but for the rounding of float32?"""
    return abs(one.score - other.score) <= ROUNDING * max(1.0, abs(one.score))


@contextmanager
def asking() -> Iterator[None]:
    """Around a request: ConnectionError where no server answers, RuntimeError where it refuses, in plain words."""
    from qdrant_client.http.exceptions import ResponseHandlingException, UnexpectedResponse

    try:
        yield
    except ResponseHandlingException as error:
        said = f"the Qdrant server does not answer ({type(error.source).__name__}): check that it runs, and try again"
        failure: Exception = ConnectionError(said)
    except UnexpectedResponse as error:
        reason = (error.content or b"").decode("utf-8", "replace")[:200] or error.reason_phrase
        failure = RuntimeError(f"the Qdrant server refuses (status {error.status_code}): {reason}")
    else:
        return
    raise failure
