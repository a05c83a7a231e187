"""What the lab's pictures have in common: colours, fills, axes without a background, short labels."""

from collections.abc import Collection, Mapping, Sequence

from lab.language import _
from lab.picture import STAR

BLUE, ORANGE = "#0072B2", "#E69F00"
# A share of a bar: colour and hatching, so that neither has to be told from the other alone.
FILLS = (
    (BLUE, ""),
    (ORANGE, "//"),
    ("#56B4E9", ".."),
    ("#F0E442", "xx"),
    ("#CC79A7", "\\\\"),
    ("#999999", "--"),
)
WIDTH = 6.8  # inches, as are all heights below


def axes_of(ink: str, height: float):
    """Axes on a figure of its own, ``height`` inches high. Nothing of pyplot: a learner's plots are left alone."""
    from matplotlib.figure import Figure

    axes = Figure(figsize=(WIDTH, height), layout="constrained").subplots()
    axes.patch.set_alpha(0)
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color(ink)
    axes.tick_params(colors=ink)
    return axes


def name_rows(axes, labels: Sequence[str], stars: Collection[int] = (0,)) -> None:
    """One row a label, the first on top. Those whose numbers, from 0, are in ``stars`` are bold, with a star."""
    axes.set_yticks(
        range(len(labels)), [starred(clip(label), row in stars) for row, label in enumerate(labels)]
    )
    for row in stars:
        axes.get_yticklabels()[row].set_fontweight("bold")
    axes.tick_params(axis="y", length=0)
    axes.set_ylim(len(labels) - 0.4, -0.6)


def legend(axes, ink: str, fills: Mapping[str, tuple[str, str]]) -> None:
    """What each fill (colour, hatching) stands for, above the axes."""
    from matplotlib.patches import Patch

    patches = [
        Patch(facecolor=colour, hatch=hatch, edgecolor=ink, label=clip(term, 24))
        for term, (colour, hatch) in fills.items()
    ]
    axes.figure.legend(
        handles=patches, loc="outside upper center", ncols=3, frameon=False, labelcolor=ink, handleheight=1.2
    )


def label_of(document: object) -> str:
    """What a document is called in a picture: its title, its id, the beginning of its text.

    A part of a topic goes by its id, since several parts may stand under one title.
    """
    if not isinstance(document, Mapping):
        return str(document)
    for key in ("id", "title", "content") if document.get("topic") else ("title", "id", "content"):
        if text := " ".join(str(document.get(key, ""))[:200].split()):
            return clip(text, 60)
    return _("a document")


def starred(label: str, star: bool) -> str:
    return f"{STAR} {label}" if star else label


def clip(text: str, width: int = 30) -> str:
    return text if len(text) <= width else text[: width - 1].rstrip() + "\u2026"
