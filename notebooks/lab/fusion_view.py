"""One query's fusion, document by document: the rows that the picture and the widget both draw."""

from collections.abc import Collection, Hashable, Iterable, Sequence
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING, NamedTuple

from lab.corpora import Query
from lab.drawing import FILLS, axes_of, clip, label_of, legend, name_rows, starred
from lab.evaluation import judged_id
from lab.language import _
from lab.metrics import check_count
from lab.picture import STAR, Picture
from lab.rankings import Rankings

if TYPE_CHECKING:
    from pandas import DataFrame


class FusedRow(NamedTuple):
    """A document in a fused ranking.

    ``ranks`` and ``contributions`` have one entry an index: the document's rank there (from 1), None where it is
    not among the candidates, and what that adds to the score, 0.0 for nothing. ``score`` is the RRF score, higher
    is better; ``rank`` the fused rank, from 1. ``move`` says how many places the document has gained since the
    previous setting, below 0 where it lost, None where it was not there; 0 for all without a previous setting.
    ``label`` is what a table calls it.
    """

    document: dict
    ranks: tuple[int | None, ...]
    contributions: tuple[float, ...]
    score: float
    rank: int
    move: int | None
    relevant: bool

    @property
    def label(self) -> str:
        return label_of(self.document)


def fused_rows(
    rankings: Sequence[Sequence[dict]],
    k_rrf: float = 60,
    candidates: int = 20,
    weights: Sequence[float] | None = None,
    relevant: Collection[Hashable] = (),
    previous: Sequence[FusedRow] | None = None,
) -> list[FusedRow]:
    """The fused ranking of one query, best first: every document, with its ranks and what each one adds.

    ``rankings`` has a list of documents an index, best first, as Rankings.of gives them; the first ``candidates``
    of each take part. The order and the scores are those of hybrid_search.Retriever.search with the same settings.
    ``relevant`` holds the judged ids of the right documents, ``previous`` the rows before a setting changed.

    Raises ValueError for a setting that RRF refuses, and for a document without an id where ``relevant`` is given.
    """
    from hybrid_search.documents import identity
    from hybrid_search.rrf import check_weights, rrf_scores

    candidates = check_count(candidates, "candidates")
    weights = check_weights(weights, len(rankings))
    documents, keys = {}, []
    for ranking, weight in zip(rankings, weights, strict=True):
        found = ranking[:candidates]
        known_as = list(map(identity, found))
        keys.append(list(dict.fromkeys(known_as)))
        if weight:  # of documents with one id, the first counts
            documents = dict(zip(reversed(known_as), reversed(found), strict=True)) | documents
    scores = rrf_scores(keys, k_rrf, weights)
    # A column an index, a line a document in fused order.
    ranks_in = [dict(zip(ranking, count(1), strict=False)) for ranking in keys]
    ranks = [[of.get(key) for key in scores] for of in ranks_in]
    contributions = [
        [0.0 if rank is None else weight / (k_rrf + rank) for rank in column]
        for column, weight in zip(ranks, weights, strict=True)
    ]
    fused = [documents[key] for key in scores]
    places = range(1, len(scores) + 1)
    if previous is None:
        moves = [0] * len(scores)
    else:
        before = {identity(row.document): row.rank for row in previous}
        moves = [
            before[key] - rank if key in before else None for key, rank in zip(scores, places, strict=True)
        ]
    answers = [judged_id(document) in relevant if relevant else False for document in fused]
    columns = (
        fused,
        zip(*ranks, strict=True),
        zip(*contributions, strict=True),
        scores.values(),
        places,
        moves,
        answers,
    )
    return list(map(FusedRow, *columns))


@dataclass(frozen=True, repr=False)
class FusionView:
    """One query's fusion, to look at and to reckon with: ``table``, ``figure``, and the rows of both.

    ``names`` are those of the indexes, ``weights`` theirs; ``found`` is the number of documents found in all.
    """

    query: str
    rows: list[FusedRow]
    found: int
    names: Sequence[str]
    k_rrf: float
    candidates: int
    weights: Sequence[float]

    @property
    def table(self) -> "DataFrame":
        """A row a document, by fused rank: what it is, its rank in each index (missing where it is not among the
        candidates), what that adds, the score (higher is better), and whether it is relevant."""
        from pandas import DataFrame, Index, array

        columns: dict = {"document": [row.label for row in self.rows]}
        for at, name in enumerate(self.names):
            columns[f"rank in {name}"] = array([row.ranks[at] for row in self.rows], dtype="Int64")
            columns[f"from {name}"] = array([row.contributions[at] for row in self.rows], dtype="float64")
        columns["score"] = array([row.score for row in self.rows], dtype="float64")
        columns["relevant"] = array([row.relevant for row in self.rows], dtype="bool")
        return DataFrame(columns, index=Index([row.rank for row in self.rows], name="rank", dtype="int64"))

    @property
    def figure(self) -> Picture:
        """Each document's score as a bar, stacked from what each index adds; relevant documents have a star."""
        return _bars(self) if self.rows else _nothing(self.query)

    def __repr__(self) -> str:
        return repr(self.figure)

    def _repr_mimebundle_(self, include=None, exclude=None) -> dict[str, str]:
        return self.figure._repr_mimebundle_()


def rrf_view(
    retriever: object,
    query: str | Query,
    k_rrf: float = 60,
    candidates: int = 20,
    weights: Sequence[float] | None = None,
    relevant: Collection[Hashable] = (),
    k: int = 15,
    indexes: Iterable | None = None,
) -> FusionView:
    """How one query's ranking comes about: for each of the first k documents its ranks and what each one adds.

    ``retriever`` is asked for its ``.indexes`` and ``.weights``, or is Rankings, whose searches are then used;
    ``indexes`` are needed where it has none. ``query`` is a text, or a judged query, whose relevant documents are
    then marked; for a text ``relevant`` may hold their ids. A query that no index answers gives an empty view.

    Raises ValueError for settings that RRF refuses, and SearchError where an index fails.
    """
    from hybrid_search.rrf import check_weights

    k = check_count(k)
    rankings = Rankings.from_retriever(retriever, indexes)
    if not isinstance(query, str):
        query, relevant = getattr(query, "text", query), relevant or getattr(query, "relevant", ())
    weights = rankings.weights if weights is None else check_weights(weights, len(rankings.names))
    rows = fused_rows(rankings.of(query), k_rrf, candidates, weights, relevant)
    return FusionView(query, rows[:k], len(rows), rankings.names, k_rrf, candidates, weights)


def _bars(view: FusionView) -> Picture:
    rows, names = view.rows, view.names
    fills = {name: FILLS[at % len(FILLS)] for at, name in enumerate(names)}
    relevant = [at for at, row in enumerate(rows) if row.relevant]

    def draw(ink):
        axes = axes_of(ink, height=1.1 + 0.3 * len(rows))
        for at, row in enumerate(rows):
            start = 0.0
            for name, part in zip(names, row.contributions, strict=True):
                if part:
                    colour, hatch = fills[name]
                    axes.barh(
                        at,
                        part,
                        left=start,
                        color=colour,
                        hatch=hatch,
                        edgecolor=ink,
                        linewidth=0.8,
                        height=0.7,
                    )
                start += part
            weight = "bold" if row.relevant else "normal"
            axes.text(row.score, at, f" {row.score:.4f}", va="center", color=ink, fontweight=weight)
        name_rows(axes, [f"{row.rank}. {clip(row.label, 26)}" for row in rows], relevant)
        axes.set_xlim(0, 1.14 * rows[0].score)
        axes.set_xlabel(_("RRF score: a longer bar comes first"), color=ink)
        legend(axes, ink, fills)
        return axes.figure

    return Picture(
        title=_title(view),
        alt=_alt(view),
        columns=(
            _("rank"),
            _("document"),
            *(_("rank in {name}").format(name=name) for name in names),
            *(_("from {name}").format(name=name) for name in names),
            _("score"),
        ),
        rows=[
            (
                str(row.rank),
                starred(row.label, row.relevant),
                *("-" if rank is None else str(rank) for rank in row.ranks),
                *(f"{part:.4f}" if part else "-" for part in row.contributions),
                f"{row.score:.4f}",
            )
            for row in rows
        ],
        draw=draw,
    )


def _title(view: FusionView) -> str:
    title = _('"{query}", k_rrf = {k_rrf:g}, candidates = {candidates}, weights {weights}').format(
        query=clip(view.query, 40),
        k_rrf=view.k_rrf,
        candidates=view.candidates,
        weights=" : ".join(f"{weight:g}" for weight in view.weights),
    )
    if not any(row.relevant for row in view.rows):
        return title
    return _("{title} ({star} relevant)").format(title=title, star=STAR)


def _alt(view: FusionView) -> str:
    first, marked = view.rows[0], [row for row in view.rows if row.relevant]
    places = ", ".join(
        _("not found by {name}").format(name=name)
        if rank is None
        else _("rank {rank} in {name}").format(rank=rank, name=name)
        for name, rank in zip(view.names, first.ranks, strict=True)
    )
    alt = _(
        "Bar chart of the scores of {count} of {found} documents found, each bar cut into what each index adds. "
        "{label} comes first with {score:.4f} ({places})."
    ).format(count=len(view.rows), found=view.found, label=first.label, score=first.score, places=places)
    if not marked:
        return alt
    stars = ", ".join(_("{label} at rank {rank}").format(label=row.label, rank=row.rank) for row in marked)
    return _("{sentences} Relevant: {stars}.").format(sentences=alt, stars=stars)


def _nothing(query: str) -> Picture:
    """The picture of an empty ranking: a sentence."""
    sentence = _("No index finds a document for the query {query!r}. Ask it in other words.").format(
        query=clip(query, 60)
    )

    def draw(ink):
        axes = axes_of(ink, height=0.5)
        axes.set_axis_off()
        axes.text(0, 0.5, _("no document found"), va="center", color=ink, fontstyle="italic")
        return axes.figure

    return Picture(title=sentence, alt=sentence, columns=(), rows=(), draw=draw)
