"""What the tuning lab knows: the settings, one query's fused ranking, and how good a setting is on all queries.

No widget is in here: the settings can be changed, and all that is shown can be read, in plain Python.
"""

import inspect
import json
from collections.abc import Callable, Iterable, Sequence
from functools import cache, cached_property, lru_cache
from typing import TYPE_CHECKING, NamedTuple

from lab.corpora import Query
from lab.errors import PlainError
from lab.evaluation import judged_ids
from lab.fusion_view import FusedRow, fused_rows
from lab.language import _
from lab.progress import progress
from lab.rankings import Rankings
from lab.sweeps import K_RRFS, Sweep, candidate_depths, metric_named, sweep

if TYPE_CHECKING:
    import numpy as np

METRICS = ("MRR", "nDCG@10", "recall@10")
PRESETS = (1, 60)
HYBRID = "hybrid"
# Documents that the table shows, and that the reproducing call asks for.
SHOWN = 15


class TuningError(PlainError, ValueError):
    """The tuning lab cannot work with what it was given."""


class Settings(NamedTuple):
    """What a learner can move; ``weights`` has one entry an index."""

    k_rrf: float
    candidates: int
    weights: tuple[float, ...]
    metric: str

    @property
    def of_map(self) -> tuple:
        """What the map of a metric over k_rrf and candidates depends on."""
        return self.weights, self.metric


class Measured(NamedTuple):
    """One search on a group of queries: the mean of the metric, and the ends of its bootstrap interval."""

    group: str
    name: str
    value: float
    low: float
    high: float


class Loss(NamedTuple):
    """A query, and the metric's value of the hybrid and of the best single index on it."""

    query: Query
    hybrid: float
    single: float


class TuningModel:
    """The settings and the query of a tuning lab, and what follows from them.

    Each index is searched once a query; a setting only fuses. ``rows`` is the fused ranking of the query.
    ``since`` are the settings that the rows are compared with, where they say how far a document moved.
    ``sweep`` holds the metric at every pair of settings, for the weights and the metric in ``swept``; where these
    have changed since, ``stale`` is true until the next ``measure()``. What is refused leaves everything as it was.

    Raises TuningError for what cannot be tuned, and SearchError where an index fails.
    """

    def __init__(
        self,
        retriever: object,
        judged: Sequence[Query],
        indexes: Iterable | None = None,
        k_rrf: float = 60,
        candidates: int = 20,
        metric: str = METRICS[0],
    ) -> None:
        try:
            self.rankings = Rankings.from_retriever(retriever, indexes)
            self.judged = _checked(judged)
            metric_named(metric)
            self._search_all()
            self._set_out(k_rrf, candidates, metric)
            self.measure()
        except (TypeError, ValueError) as error:
            raise error if isinstance(error, PlainError) else TuningError(str(error)) from None
        self.retriever = retriever
        self.rows = self._rows_since = self._fused(self.query, self.settings)

    def _search_all(self) -> None:
        for query in progress(self.judged, _("Searching")):
            self.rankings.of(query.text)
        answered = (query for query in self.judged if any(self.rankings.of(query.text)))
        self.query: Query | str | None = next(answered, None)
        if self.query is None:
            raise TuningError(
                _("No index finds a document for any of the judged queries: add the documents to them first.")
            )
        self.size = self.rankings.size

    def _set_out(self, k_rrf: float, candidates: int, metric: str) -> None:
        from hybrid_search.rrf import check_k_rrf
        from lab.metrics import check_count

        depth = min(check_count(candidates, "candidates"), self.size)
        self.metrics = tuple(dict.fromkeys([*METRICS, metric]))
        self.k_rrfs = sorted({*K_RRFS, *PRESETS, check_k_rrf(k_rrf)})
        self.depths = sorted({*candidate_depths(self.size), depth})
        self.start = self.settings = self.since = Settings(k_rrf, depth, tuple(self.rankings.weights), metric)
        self._sweeps: dict[tuple, dict[str, Sweep]] = {}
        self._of_single: dict[str, dict[str, np.ndarray]] = {}

    # ---- one query

    @property
    def text(self) -> str:
        return self.query if isinstance(self.query, str) else self.query.text

    @property
    def relevant(self) -> frozenset:
        """The judged ids of what answers the query; empty for a query that is not judged."""
        return frozenset() if isinstance(self.query, str) else self.query.relevant

    def ask(self, query: Query | str) -> None:
        """Show another query. A text that is one of the judged queries is taken for it.

        Raises ValueError for an empty query and TuningError for one that nobody answers; SearchError where an
        index fails.
        """
        if isinstance(query, str):
            query = next((known for known in self.judged if known.text == query.strip()), query.strip())
        text = query if isinstance(query, str) else query.text
        if not any(self.rankings.of(text)):
            raise TuningError(
                _("No index finds a document for the query {query!r}. Ask with other words.").format(
                    query=text
                )
            )
        self.rows = self._rows_since = self._fused(query, self.settings)
        self.query, self.since = query, self.settings

    def change(self, continued: bool = False, **settings) -> None:
        """Move to other settings, by name; the rows then say how each document moved since the settings ``since``.

        These are the settings before this change; before the first of several where each but that is ``continued``.

        Raises ValueError for a setting that RRF refuses.
        """
        after = self.settings._replace(**settings)
        if after == self.settings:
            return
        metric_named(after.metric)
        since, rows = (self.since, self._rows_since) if continued else (self.settings, self.rows)
        self.rows = self._fused(self.query, after, rows)
        self.settings, self.since, self._rows_since = after, since, rows

    def _fused(
        self, query: Query | str, settings: Settings, previous: list[FusedRow] | None = None
    ) -> list[FusedRow]:
        text, relevant = (query, ()) if isinstance(query, str) else (query.text, query.relevant)
        return fused_rows(
            self.rankings.of(text),
            settings.k_rrf,
            settings.candidates,
            settings.weights,
            relevant,
            previous,
        )

    def call(self) -> str:
        """The Python that gives the ranking shown, from a variable ``retriever``."""
        settings = self.settings
        arguments = (
            f"{json.dumps(self.text, ensure_ascii=False)}, k={SHOWN}, k_rrf={settings.k_rrf:g}, "
            f"candidates={settings.candidates}"
        )
        if settings.weights == self.start.weights:
            return f"retriever.search({arguments})"
        weights = ", ".join(f"{weight:g}" for weight in settings.weights)
        kind = type(self.retriever)
        name, first = kind.__name__, ""
        if "weights" not in _parameters(kind):
            name, first = "Retriever", "from hybrid_search import Retriever\n\n"
        indexes = "retriever.indexes" if hasattr(self.retriever, "indexes") else "indexes"
        return f"{first}weighted = {name}(*{indexes}, weights=[{weights}])\nweighted.search({arguments})"

    # ---- all queries

    @property
    def stale(self) -> bool:
        return self.swept.of_map != self.settings.of_map

    @property
    def point(self) -> tuple[int, int]:
        """Where the settings stand on the map: the row and the column."""
        return self.k_rrfs.index(self.settings.k_rrf), self.depths.index(self.settings.candidates)

    def measure(self) -> None:
        """Measure the metric at every pair of settings, for the weights and the metric as they are now."""
        self.accept(self.settings, self.sweep_for(self.settings))

    def known(self, settings: Settings) -> Sweep | None:
        """The sweep for these weights and this metric, where it was made before."""
        return self._sweeps.get(settings.weights, {}).get(settings.metric)

    def sweep_for(self, settings: Settings, progress: Callable = progress) -> Sweep:
        """The sweep for these weights and this metric. Changes nothing, so that it may run in another thread."""
        by_metric = self._sweeps.get(settings.weights)
        if by_metric:
            return by_metric.get(settings.metric) or next(iter(by_metric.values())).by(settings.metric)
        return sweep(
            self.rankings,
            self.judged,
            self.k_rrfs,
            self.depths,
            settings.weights,
            settings.metric,
            progress=progress,
        )

    def accept(self, settings: Settings, made: Sweep) -> None:
        """Show a sweep that was made for these settings."""
        self._sweeps.setdefault(settings.weights, {})[settings.metric] = made
        self.swept, self.sweep = settings, made

    @property
    def searches(self) -> list[str]:
        return [*self.rankings.names, HYBRID]

    def values(self) -> dict[str, "np.ndarray"]:
        """The metric of each measured query: of each index alone, whatever the settings, and of the hybrid."""
        row, column = self.point
        return self._alone(self.sweep.metric) | {HYBRID: self.sweep.values[:, row, column]}

    def _alone(self, metric: str) -> dict[str, "np.ndarray"]:
        import numpy as np

        if metric not in self._of_single:
            measure, judged = metric_named(metric), self.sweep.judged
            self._of_single[metric] = {
                name: np.array([measure(self._found(at, query), query.relevant) for query in judged])
                for at, name in enumerate(self.rankings.names)
            }
        return self._of_single[metric]

    def _found(self, index: int, query: Query) -> list:
        return judged_ids((document, None) for document in self.rankings.of(query.text)[index])

    @cached_property
    def groups(self) -> dict[str, list[int]]:
        """The positions of the measured queries: all of them, then each kind where there are several."""
        kinds: dict[str, list[int]] = {}
        for position, query in enumerate(self.sweep.judged):
            kinds.setdefault(query.kind, []).append(position)
        return {"all": list(range(len(self.sweep.judged)))} | (kinds if len(kinds) > 1 else {})

    def comparison(self) -> list[Measured]:
        """Each index alone and the hybrid, on all queries and on each kind."""
        values = self.values()
        return [
            Measured(group, name, float(of[chosen].mean()), *interval(of[chosen]))
            for group, chosen in self.groups.items()
            for name, of in values.items()
        ]

    def best_single(self) -> str:
        """The index that is best alone; the first of equals."""
        return max(self.rankings.names, key=lambda name: self._alone(self.sweep.metric)[name].mean())

    def lead(self) -> tuple[float, float, float]:
        """How far the hybrid is above the best single index: the mean difference and its interval."""
        values = self.values()
        difference = values[HYBRID] - values[self.best_single()]
        return float(difference.mean()), *interval(difference)

    def losses(self) -> list[Loss]:
        """The queries on which the hybrid is below the best single index, the largest loss first."""
        values, single = self.values(), self.best_single()
        pairs = zip(self.sweep.judged, values[HYBRID].tolist(), values[single].tolist(), strict=True)
        lost = [Loss(query, hybrid, alone) for query, hybrid, alone in pairs if hybrid < alone]
        return sorted(lost, key=lambda loss: loss.hybrid - loss.single)


def interval(values: "np.ndarray") -> tuple[float, float]:
    """What lab.metrics.bootstrap_interval gives, fast enough for a slider: the draws are made once."""
    return _interval(values.tobytes())


@lru_cache(maxsize=1024)
def _interval(data: bytes) -> tuple[float, float]:
    import numpy as np

    values = np.frombuffer(data, dtype=np.float64)
    low, high = np.quantile(_draws(len(values)) @ values / len(values), [0.025, 0.975])
    return float(low), float(high)


@cache
def _draws(queries: int) -> "np.ndarray":
    """How often each query is drawn in each sample: shape (samples, queries)."""
    import numpy as np

    samples = 2000
    drawn = np.random.default_rng(0).integers(0, queries, size=(samples, queries))
    counts = np.zeros((samples, queries))
    np.add.at(counts, (np.arange(samples)[:, None], drawn), 1)
    return counts


def _checked(judged: Sequence[Query]) -> list[Query]:
    judged = list(judged)
    if not judged:
        raise ValueError(_("There is nothing to tune on: the list of judged queries is empty."))
    if not all(hasattr(query, "text") and hasattr(query, "relevant") for query in judged):
        raise TypeError(_('The judged queries are a list such as lab.judged_queries("report") gives.'))
    return judged


def _parameters(kind: type) -> set[str]:
    try:
        return set(inspect.signature(kind).parameters)
    except (TypeError, ValueError):
        return set()
