"""The report's pictures as inline SVG: text is text, lines take the page's colour, every value is written out."""

from collections.abc import Sequence

from markupsafe import Markup

from .summary import CriterionSummary

LOW = 0.6  # a criterion with less than this share of its points is marked
_WIDTH = 720
# A share that is low is told by hatching and a sign, not by colour alone.
_HATCH = Markup(
    '<defs><pattern id="hatch" width="7" height="7" patternUnits="userSpaceOnUse" '
    'patternTransform="rotate(45)"><rect width="7" height="7" class="low"/>'
    '<path d="M0 0V7" class="line"/></pattern></defs>'
)


def histogram(counts: Sequence[int]) -> Markup:
    """A bar for each whole point, the number of learners above it."""
    top, height, left = 24, 150, 8
    step = min(64, (_WIDTH - 2 * left) / len(counts))
    base, most = top + height, max(*counts, 1)
    parts = []
    for points, count in enumerate(counts):
        x, tall = left + points * step, height * count / most
        middle = x + step / 2
        if count:
            parts.append(
                Markup('<rect x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}" class="bar"/>').format(
                    x + step * 0.12, base - tall, step * 0.76, tall
                )
            )
        parts.append(_text(middle, base - tall - 6, str(count), "count" if count else "none", "middle"))
        parts.append(_text(middle, base + 18, str(points), "", "middle"))
    width = left + step * len(counts)
    parts.append(Markup('<path d="M{} {}H{:.1f}" class="axis"/>').format(left, base, width))
    parts.append(_text(left, base + 40, "points (a bar at 0 counts the scores from 0 to under 1)", "quiet"))
    described = "; ".join(f"with {points}: {count}" for points, count in enumerate(counts) if count)
    return _picture(
        max(width + left, 420),
        base + 48,
        f"Histogram of the scores in whole points. Learners {described or 'with a score: 0'}.",
        parts,
    )


def criterion_bars(criteria: Sequence[CriterionSummary]) -> Markup:
    """A bar for each criterion, in the order given: the mean share of its points."""
    parts, y, exercise = [_HATCH], 0, ""
    full = _WIDTH - 230  # the length of a bar that stands for all points
    for criterion in criteria:
        if criterion.exercise != exercise:
            exercise = criterion.exercise
            y += 26
            parts.append(_text(0, y, exercise, "heading"))
        share, low = criterion.share, is_low(criterion)
        parts.append(_text(14, y + 22, ("\u25bc " if low else "") + criterion.title))
        y += 29
        parts.append(Markup('<rect x="14" y="{}" width="{}" height="14" class="track"/>').format(y, full))
        if share:
            parts.append(
                Markup('<rect x="14" y="{}" width="{:.1f}" height="14" class="{}"/>').format(
                    y, full * share, "hatched" if low else "bar"
                )
            )
        parts.append(_text(full + 66, y + 12, percent(share), "count", "end"))
        words = f"{criterion.all} all, {criterion.part} part, {criterion.none} none"
        parts.append(_text(full + 78, y + 12, words if criterion.points else "no answer to judge", "quiet"))
        y += 16
    spoken = "; ".join(
        f"{criterion.exercise}, {criterion.title}: {percent(criterion.share)}" for criterion in criteria
    )
    return _picture(_WIDTH, y + 8, f"Bar chart: the mean share of points by criterion. {spoken}.", parts)


def is_low(criterion: CriterionSummary) -> bool:
    return criterion.share is not None and criterion.share < LOW


def percent(share: float | None) -> str:
    """A share in whole percent. Only 0 is "0 %", and only everything is "100 %"."""
    if share is None:
        return "-"
    whole = round(100 * share)
    if whole == 0 and share > 1e-9:
        return "< 1 %"
    if whole == 100 and share < 1 - 1e-9:
        return "> 99 %"
    return f"{whole} %"


def _text(x: float, y: float, words: str, style: str = "", anchor: str = "start") -> Markup:
    return Markup('<text x="{:.1f}" y="{:.1f}" class="{}" text-anchor="{}">{}</text>').format(
        x, y, style, anchor, words
    )


def _picture(width: float, height: float, alt: str, parts: Sequence[Markup]) -> Markup:
    return Markup(
        '<svg role="img" aria-label="{}" viewBox="0 0 {:.0f} {:.0f}" width="{:.0f}">{}</svg>'
    ).format(alt, width, height, width, Markup("").join(parts))
