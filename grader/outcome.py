"""What one probe gave, as plain JSON: {"value": ...}, or {"error": [names], "message": ..., "where": ...}.

The names of an error are its own and those of the exceptions it derives from.
"""

from typing import Any

Outcome = dict[str, Any]

# What did not run, or came back in another shape, is an outcome too: a wrong one.
NOTHING: Outcome = {"error": ["NoAnswer"]}
NOT_ATTEMPTED = "NotImplementedError"


def error_names(outcome: Outcome) -> list[str]:
    """The names of the error that was raised, its own first; empty for a value."""
    return outcome.get("error", [])


def error_name(outcome: Outcome) -> str | None:
    """The name of the error that was raised, or None for a value."""
    return next(iter(error_names(outcome)), None)


def checked(raw: Any) -> Outcome:
    """An outcome that came from elsewhere: as it is where it has the shape of one, otherwise NOTHING."""
    if isinstance(raw, dict) and raw.keys() == {"value"}:
        return raw
    names = raw.get("error") if isinstance(raw, dict) else None
    if isinstance(names, list) and names and all(isinstance(name, str) for name in names):
        texts = {key: raw[key] for key in ("message", "where") if isinstance(raw.get(key), str)}
        return {"error": names, **texts}
    return NOTHING
