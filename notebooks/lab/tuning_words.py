"""What the tuning lab says and shows: the model's numbers as sentences and as the plain data that the view draws."""

from lab.language import _
from lab.tuning_model import HYBRID, SHOWN, Settings, TuningModel

_MOST_LOSSES = 8
_MOST_FURTHER = 3


def fixed_words() -> dict[str, str]:
    """The sentences of the view that never change. Names in braces are filled in by the view."""
    return {
        "rank": _("rank"),
        "moved": _("moved"),
        "new": _("new"),
        "document": _("document"),
        "rank_in": _("rank in {name}"),
        "contributions": _("what each index adds"),
        "score": _("score"),
        "relevant": _("{label}: relevant to this query"),
        "current": _("current"),
        "best": _("best"),
        "reading": _("current {value}, best {best}"),
        "map_alt": _(
            "Heat map of {metric} for {name}: current {value}; best {best} at k_rrf = {k_rrf}, "
            "candidates = {candidates}."
        ),
        "queries": _("queries"),
        "search": _("search"),
        "interval": _("95 % interval"),
        "call": _("The call that gives this ranking"),
    }


def name_of(settings: str, index: str = "") -> str:
    """What a control is called."""
    return {
        "k_rrf": _("k_rrf"),
        "candidates": _("candidates"),
        "weights": _("weight of {index}").format(index=index),
        "metric": _("metric"),
        "query": _("query"),
        "own": _("your own query"),
    }[settings]


def table(model: TuningModel) -> dict:
    """The fused ranking of the query."""
    return {
        "title": _("Fused ranking for: {query}").format(query=_query(model)),
        "rows": [
            {
                "rank": row.rank,
                "move": row.move,
                "label": row.label,
                "ranks": row.ranks,
                "contributions": row.contributions,
                "score": row.score,
                "relevant": row.relevant,
            }
            for row in model.rows[:SHOWN]
        ],
        "note": _below(model),
    }


def _query(model: TuningModel) -> str:
    return model.text if isinstance(model.query, str) else f"{model.text} ({model.query.kind})"


def _below(model: TuningModel) -> str:
    if not model.relevant:
        return _("Nobody has judged what answers this query, so no document has a star.")
    if not any(row.relevant for row in model.rows):
        return _("No relevant document is among the candidates.")
    further = [row for row in model.rows[SHOWN:] if row.relevant]
    if not further:
        return ""
    listed = "; ".join(
        _("rank {rank}: {label}").format(rank=row.rank, label=row.label) for row in further[:_MOST_FURTHER]
    )
    rest = len(further) - _MOST_FURTHER
    more = _(" and {count} more").format(count=rest) if rest > 0 else ""
    return _("Relevant too, further down: {listed}{more}").format(listed=listed, more=more)


def maps(model: TuningModel) -> dict:
    """The metric at every pair of settings: of all queries, and of each kind."""
    sweep, panels = model.sweep, []
    for group, chosen in model.groups.items():
        means = sweep.values[chosen].mean(axis=0)
        best = sweep.best(None if group == "all" else group)
        panels.append(
            {
                "name": group_name(group, len(chosen)),
                "values": means.round(4).tolist(),
                "low": float(means.min()),
                "high": float(means.max()),
                "best": [model.k_rrfs.index(best.k_rrf), model.depths.index(best.candidates)],
            }
        )
    return {
        "title": _("{metric} of the hybrid, by k_rrf and candidates (brighter is better)").format(
            metric=sweep.metric
        ),
        "metric": sweep.metric,
        "k_rrfs": [f"{k_rrf:g}" for k_rrf in model.k_rrfs],
        "candidates": [str(depth) for depth in model.depths],
        "panels": panels,
    }


def group_name(group: str, queries: int) -> str:
    name = _("all queries") if group == "all" else group
    return f"{name} ({queries})"


def comparison(model: TuningModel) -> dict:
    """Each index alone against the hybrid, with intervals."""
    rows, groups = [], model.groups
    measured = model.comparison()
    for group, chosen in groups.items():
        of_group = [one for one in measured if one.group == group]
        best, worst = max(one.value for one in of_group), min(one.value for one in of_group)
        rows += [
            {
                "group": group_name(group, len(chosen)) if at == 0 else "",
                "name": one.name,
                "place": "hybrid" if one.name == HYBRID else at,
                "value": one.value,
                "low": one.low,
                "high": one.high,
                "leads": one.value == best > worst,
            }
            for at, one in enumerate(of_group)
        ]
    return {
        "title": _("{metric} of each index alone and of the hybrid, at the current settings").format(
            metric=model.sweep.metric
        ),
        "metric": model.sweep.metric,
        "rows": rows,
        "note": _lead(model) + _left_out(model),
    }


def _lead(model: TuningModel) -> str:
    mean, low, high = model.lead()
    if low > 0:
        verdict = _("the hybrid is better")
    elif high < 0:
        verdict = _("the hybrid is worse")
    else:
        verdict = _("these queries leave open which is better")
    return _("Hybrid minus {single}: {mean:+.3f}, interval {low:+.3f} to {high:+.3f}: {verdict}.").format(
        single=model.best_single(), mean=mean, low=low, high=high, verdict=verdict
    )


def _left_out(model: TuningModel) -> str:
    if not model.sweep.left_out:
        return ""
    return " " + _("Queries left out, as no document is relevant to them: {count}.").format(
        count=model.sweep.left_out
    )


def losses(model: TuningModel, all_of_them: bool = False) -> dict:
    """The queries on which the hybrid is below the best single index: the worst, or all."""
    lost, single = model.losses(), model.best_single()
    if not lost:
        title = _("The hybrid is below {single}, the best single index, on no query.").format(single=single)
    else:
        title = _(
            "Where the hybrid loses to {single}, the best single index: {lost} of {all} queries"
        ).format(single=single, lost=len(lost), all=len(model.sweep.judged))
    if len(lost) <= _MOST_LOSSES:
        more = ""
    else:
        more = _("show fewer") if all_of_them else _("show all {count}").format(count=len(lost))
    return {
        "title": title,
        "rows": [
            {
                "id": str(loss.query.id),
                "text": loss.query.text,
                "values": _(
                    "{kind}: {metric} {alone:.2f} with {single}, {hybrid:.2f} with the hybrid"
                ).format(
                    kind=loss.query.kind,
                    metric=model.sweep.metric,
                    single=single,
                    alone=loss.single,
                    hybrid=loss.hybrid,
                ),
            }
            for loss in (lost if all_of_them else lost[:_MOST_LOSSES])
        ],
        "more": more,
        "open": all_of_them,
    }


def status(model: TuningModel, before: Settings | None = None) -> str:
    """What changed, in words: the settings since ``before``, or the query, and what that did."""
    if before is None:
        said = [_ended(_("Query: {query}").format(query=_query(model)))]
    else:
        said = [_changed(model, before)]
        if before.metric == model.settings.metric:
            said.append(_moved(model))
    first = next((row.rank for row in model.rows if row.relevant), None)
    if first is not None:
        said.append(_("The first relevant document has rank {rank}.").format(rank=first))
    if not model.stale:
        said.append(score(model))
    return " ".join(said)


def _ended(sentence: str) -> str:
    """With a full stop, where it has no end of its own."""
    return sentence if sentence.endswith((".", "?", "!", "…")) else f"{sentence}."


def _moved(model: TuningModel) -> str:
    moved, shown = sum(row.move != 0 for row in model.rows[:SHOWN]), min(SHOWN, len(model.rows))
    if shown == 1:
        return _("The only document was not first before.") if moved else _("The only document stays first.")
    if not moved:
        return _("The first {shown} documents keep their places.").format(shown=shown)
    return _("{moved} of the first {shown} documents moved.").format(moved=moved, shown=shown)


def refused(model: TuningModel, reason: str) -> str:
    """Why the controls and the view do not agree, and what the view shows instead."""
    first = reason.split(maxsplit=1)[0] if reason.strip() else ""
    if "_" not in first:  # names of parameters stay as they are
        reason = reason[:1].upper() + reason[1:]
    settings = model.settings
    weights = [
        f"{name_of('weights', index)} {weight:g}"
        for index, weight in zip(model.rankings.names, settings.weights, strict=True)
    ]
    shown = ", ".join([f"k_rrf {settings.k_rrf:g}", f"candidates {settings.candidates}", *weights])
    return _("{reason} Below is still the last view that worked, with {settings}.").format(
        reason=_ended(reason), settings=shown
    )


def _changed(model: TuningModel, before: Settings) -> str:
    """ "k_rrf: 60 → 70." """
    now, changes = model.settings, []
    for name in ("k_rrf", "candidates"):
        old, new = getattr(before, name), getattr(now, name)
        if old != new:
            changes.append(f"{name_of(name)}: {old:g} → {new:g}.")
    for index, old, new in zip(model.rankings.names, before.weights, now.weights, strict=True):
        if old != new:
            changes.append(f"{name_of('weights', index)}: {old:g} → {new:g}.")
    if before.metric != now.metric:
        changes.append(f"{name_of('metric')}: {before.metric} → {now.metric}.")
    return " ".join(changes) or _("Back where it was.")


def score(model: TuningModel) -> str:
    """The metric over all queries at the settings."""
    row, column = model.point
    value, count = model.sweep.values[:, row, column].mean(), len(model.sweep.judged)
    if count == 1:
        return _("{metric} of the only query: {value:.3f}.").format(metric=model.sweep.metric, value=value)
    return _("{metric} over {count} queries: {value:.3f}.").format(
        metric=model.sweep.metric, count=count, value=value
    )
