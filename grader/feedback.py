"""Write a report for a learner: as plain text, and as HTML that says the same."""

from collections.abc import Iterator
from html import escape
from textwrap import wrap

from .judge import Difference, Report, Verdict
from .language import N_
from .language import translate as _

# For the catalogue: the states and marks of a report, which are shown through _().
N_("ok"), N_("partly"), N_("wrong"), N_("to do")
N_("score"), N_("document"), N_("value"), N_("missing"), N_("extra"), N_("not a pair"), N_("no error")

_SIGNS = {"ok": "\u2713", "partly": "\u00bd", "wrong": "\u2717", "to do": "\u2026"}
_COLOURS = {
    "ok": "var(--jp-success-color1, #2e7d32)",
    "partly": "var(--jp-warn-color1, #b26a00)",
    "wrong": "var(--jp-error-color1, #c62828)",
    "to do": "var(--jp-ui-font-color2, #666)",
}


def headline(report: Report) -> str:
    values = {
        "exercise": report.exercise.id,
        "points": number(report.points),
        "max_points": number(report.max_points),
    }
    if not report.attempted:
        return _("{exercise}: not attempted yet, 0 of {max_points} points").format(**values)
    return _("{exercise}: {points} of {max_points} points").format(**values)


def diagnosis(report: Report, verdict: Verdict) -> str:
    if verdict.misconception:
        return _(report.exercise.misconceptions[verdict.misconception])
    difference = verdict.difference
    if difference and difference.rows and difference.rows[0].yours == "None":
        return _("Your code gave None. Is a return missing?")
    return ""


def hint_line(report: Report, seen: int) -> str:
    if report.points >= report.max_points:
        return ""
    return _('hint("{exercise}") has {steps} steps; you have seen {seen}.').format(
        exercise=report.exercise.id, steps=len(report.exercise.hints), seen=seen
    )


def as_text(report: Report, seen: int = 0) -> str:
    """The report as lines of text."""
    lines = [headline(report)]
    if report.attempted:
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
        if sentence and sentence in told:
            yield verdict, None, _("the same mistake")
        else:
            yield verdict, verdict.difference, sentence
        told.add(sentence)


def _difference_text(difference: Difference) -> list[str]:
    lines = _wrap(difference.question)
    if difference.raised:
        return lines + _wrap(_("Your code raised {error}").format(error=difference.raised))
    table = [("", _("expected"), _("yours"), "")] + [
        (str(row.position), row.expected, row.yours, f"<- {_(row.mark)}" if row.mark else "")
        for row in difference.rows
    ]
    widths = [max(len(row[column]) for row in table) for column in range(3)]
    return lines + [
        f"{a:<{widths[0]}}  {b:<{widths[1]}}  {c:<{widths[2]}}   {mark}".rstrip() for a, b, c, mark in table
    ]


def _wrap(text: str, width: int = 72) -> list[str]:
    return [line for paragraph in text.splitlines() for line in wrap(paragraph, width) or [""]]


def as_html(report: Report, seen: int = 0) -> str:
    """The same as HTML. Styles are inline: JupyterLab removes style elements from untrusted output."""
    parts = [f'<div style="line-height:1.4"><p style="margin:0 0 4px"><b>{escape(headline(report))}</b></p>']
    if report.attempted:
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
    question = f'<div style="margin:4px 0"><code>{escape(difference.question)}</code></div>'
    if difference.raised:
        error = escape(_("Your code raised {error}").format(error=difference.raised))
        return f'{question}<div style="margin:4px 0">{error}</div>'
    cell = "text-align:left;padding:1px 12px 1px 0;font-family:var(--jp-code-font-family, monospace)"
    heading = "".join(
        f'<th scope="col" style="{cell}">{escape(text)}</th>' for text in ("", _("expected"), _("yours"), "")
    )
    rows = "".join(
        f'<tr style="background:none"><td style="{cell}">{row.position}</td>'
        f'<td style="{cell}">{escape(row.expected)}</td><td style="{cell}">{escape(row.yours)}</td>'
        f'<td style="{cell};color:{_COLOURS["wrong"]}">'
        f"{'&larr; ' + escape(_(row.mark)) if row.mark else ''}</td></tr>"
        for row in difference.rows
    )
    return (
        f'{question}<table style="margin:0;border-collapse:collapse"><thead><tr>{heading}</tr></thead>'
        f"<tbody>{rows}</tbody></table>"
    )


def _score(verdict: Verdict) -> str:
    return f"{number(verdict.points)}/{number(verdict.max_points)}"


def number(points: float) -> str:
    return f"{round(points, 2):g}"
