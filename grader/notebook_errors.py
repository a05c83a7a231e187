"""In a notebook, an unfinished exercise is one plain line, not a traceback."""

from .language import translate as _


def install(shell) -> None:
    """Show NotImplementedError, and a missing name that an exercise defines, as one sentence."""
    shell.set_custom_exc((NotImplementedError, NameError), _show)


def _show(shell, kind, error, trace, tb_offset=None):
    sentence = _sentence(error)
    if sentence is None:
        shell.showtraceback((kind, error, trace), tb_offset=tb_offset)
        return None
    # An error all the same, so that "Run All" stops here and nbgrader gives no points.
    shell._showtraceback(kind, error, [sentence])
    return [sentence]


def _sentence(error: BaseException) -> str | None:
    from .exercises import EXERCISES

    if isinstance(error, NotImplementedError):
        return str(error) or _(
            "Not attempted yet: this cell needs an exercise above that you have not finished."
        )
    name = getattr(error, "name", None)
    if any(name in exercise.objects for exercise in EXERCISES.values()):
        return _("{name} is not defined yet: run the cell above that defines it.").format(name=name)
    return None
