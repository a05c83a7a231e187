"""Write a report for a learner: as plain text, and as HTML that says the same."""

from collections.abc import Iterator
from html import escape
from textwrap import wrap

from .compare import NO_DOCUMENT, Row
from .judge import Difference, Report, Verdict
from .language import N_
from .language import translate as _

# The states of a verdict, and the mark of an error that did not come, are shown through _().
_STATES = (N_("ok"), N_("partly"), N_("wrong"), N_("to do"))
_NO_ERROR = N_("no error")

_SIGNS = {"ok": "\u2713", "partly": "\u00bd", "wrong": "\u2717", "to do": "\u2026"}
_COLOURS = {
    "ok": "var(--jp-success-color1, #2e7d32)",
    "partly": "var(--jp-warn-color1, #b26a00)",
    "wrong": "var(--jp-error-color1, #c62828)",
    "to do": "var(--jp-ui-font-color2, #666)",
}


def headline(report: Report) -> str:
    """The exercise and its points; where the call itself was wrong, what to do about it."""
    if report.problem:
        return report.problem
    values = {
        "exercise": report.exercise.id,
        "points": number(report.points),
        "max_points": number(report.max_points),
    }
    if not report.attempted:
        return _("{exercise}: {state}, 0 of {max_points} points").format(
            **values, state=_("not attempted yet")
        )
    return _("{exercise}: {points} of {max_points} points").format(**values)


def diagnosis(report: Report, verdict: Verdict) -> str:
    """The sentence about the mistake behind a verdict, or an empty text."""
    if verdict.misconception:
        return _(report.exercise.misconceptions[verdict.misconception])
    difference = verdict.difference
    if difference is None:
        return ""
    if difference.none:
        return _("Your code gave None. Is a return missing?")
    if any(row.mark == NO_DOCUMENT for row in difference.rows):
        return _(
            "Your pair does not begin with a document. Return the document itself, the dict that was added."
        )
    if "'<' not supported between instances of 'dict'" in difference.raised:
        return _(
            "Where two values are equal, Python goes on and compares the documents, which it cannot. Tell sorted "
            "or sort what to compare: key=lambda pair: pair[1]."
        )
    if "unhashable type: 'dict'" in difference.raised:
        return _(
            "A dict cannot be the key of a dict or a member of a set. Use id(document) as the key, and keep the "
            "document itself beside it."
        )
    return ""


def hint_line(report: Report, seen: int | None) -> str:
    if seen is None or report.problem or report.points >= report.max_points:
        return ""
    return _('hint("{exercise}") has {steps} steps; you have seen {seen}.').format(
        exercise=report.exercise.id, steps=len(report.exercise.hints), seen=seen
    )


def as_text(report: Report, seen: int | None = 0) -> str:
    """The report as lines of text; ``seen`` hints were shown, or None where hints are no matter."""
    lines = [headline(report)]
    if report.attempted and not report.problem:
        width = max(len(_(verdict.title)) for verdict in report.verdicts)
        for verdict, difference, sentence in _told_once(report):
            lines.append(f"  {_(verdict.state):<7} {_(verdict.title):<{width}}  {_score(verdict)}")
            if difference:
                lines += [f"          {line}" for line in _difference_text(difference)]
            lines += [f"          {line}" for line in _wrap(sentence)]
    if tail := hint_line(report, seen):
        lines.append(f"  {tail}")
    return "\n".join(lines)


def _told_once(report: Report) -> Iterator[tuple[Verdict, Difference | None, str]]:
    """Each verdict with what to show below it: a mistake that was shown already is only named again."""
    told = set()
    for verdict in report.verdicts:
        sentence = diagnosis(report, verdict)
        mistake = sentence or (verdict.difference and verdict.difference.raised)
        if mistake and mistake in told:
            yield verdict, None, _("the same mistake")
        else:
            yield verdict, verdict.difference, sentence
        told.add(mistake)


def _difference_text(difference: Difference) -> list[str]:
    lines = _wrap(difference.question)
    if difference.raised:
        return lines + _wrap(_("Your code raised {error}").format(error=difference.raised))
    table = [(_heading(difference), _("expected"), _("yours"), "")] + [
        (_position(row), row.expected, row.yours, f"<- {_(row.mark)}" if row.mark else "")
        for row in difference.rows
    ]
    widths = [max(len(row[column]) for row in table) for column in range(3)]
    return lines + [
        f"{a:<{widths[0]}}  {b:<{widths[1]}}  {c:<{widths[2]}}   {mark}".rstrip() for a, b, c, mark in table
    ]


def _wrap(text: str, width: int = 72) -> list[str]:
    return [line for paragraph in text.splitlines() for line in wrap(paragraph, width) or [""]]


def as_html(report: Report, seen: int | None = 0) -> str:
    """The same as HTML. Styles are inline: JupyterLab removes style elements from untrusted output."""
    parts = [f'<div style="line-height:1.4"><p style="margin:0 0 4px"><b>{escape(headline(report))}</b></p>']
    if report.attempted and not report.problem:
        rows = "".join(_verdict_html(*shown) for shown in _told_once(report))
        parts.append(f'<table style="margin:0;border-collapse:collapse"><tbody>{rows}</tbody></table>')
    if tail := hint_line(report, seen):
        parts.append(f'<p style="margin:4px 0 0">{escape(tail)}</p>')
    return "".join(parts) + "</div>"


def _verdict_html(verdict: Verdict, difference: Difference | None, sentence: str) -> str:
    cell = "text-align:left;vertical-align:top;padding:2px 10px 2px 0"
    details = ""
    if difference:
        details += _difference_html(difference)
    if sentence:
        weight = "bold" if difference else "normal"
        details += f'<div style="margin:4px 0;font-weight:{weight}">{escape(sentence)}</div>'
    return (
        f'<tr style="background:none"><td style="{cell};color:{_COLOURS[verdict.state]};white-space:nowrap">'
        f"<b>{_SIGNS[verdict.state]} {escape(_(verdict.state))}</b></td>"
        f'<td style="{cell}">{escape(_(verdict.title))}{details}</td>'
        f'<td style="{cell};white-space:nowrap">{_score(verdict)}</td></tr>'
    )


def _difference_html(difference: Difference) -> str:
    lines = escape(difference.question).replace("\n", "<br>")
    question = f'<div style="margin:4px 0"><code style="white-space:normal">{lines}</code></div>'
    if difference.raised:
        error = escape(_("Your code raised {error}").format(error=difference.raised))
        return f'{question}<div style="margin:4px 0">{error}</div>'
    cell = (
        "text-align:left;padding:1px 12px 1px 0;white-space:pre-wrap;"
        "font-family:var(--jp-code-font-family, monospace)"
    )
    heading = "".join(
        f'<th scope="col" style="{cell}">{escape(text)}</th>'
        for text in (_heading(difference), _("expected"), _("yours"), "")
    )
    rows = "".join(
        f'<tr style="background:none"><td style="{cell}">{_position(row)}</td>'
        f'<td style="{cell}">{escape(row.expected)}</td><td style="{cell}">{escape(row.yours)}</td>'
        f'<td style="{cell};color:{_COLOURS["wrong"]};white-space:nowrap">'
        f"{'&larr; ' + escape(_(row.mark)) if row.mark else ''}</td></tr>"
        for row in difference.rows
    )
    return (
        f'{question}<table style="margin:0;border-collapse:collapse"><thead><tr>{heading}</tr></thead>'
        f"<tbody>{rows}</tbody></table>"
    )


def _heading(difference: Difference) -> str:
    return _(difference.heading) if difference.heading else ""


def _position(row: Row) -> str:
    return "" if row.position is None else str(row.position)


def _score(verdict: Verdict) -> str:
    return f"{number(verdict.points)}/{number(verdict.max_points)}"


def number(points: float) -> str:
    return f"{round(points, 2):g}"
