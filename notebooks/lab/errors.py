"""The errors that learners meet: one plain sentence, and no traceback in a notebook."""


class PlainError(Exception):
    """An error whose message says what is wrong and what to do; IPython shows the message alone."""

    def _render_traceback_(self) -> list[str]:
        return [str(self)]


class ServiceError(PlainError, RuntimeError):
    """A service on the network did not give what was asked."""


class ModelError(PlainError, RuntimeError):
    """No model on this computer can embed or rerank the text."""


class DocumentError(PlainError, ValueError):
    """A file cannot be read as a document."""
