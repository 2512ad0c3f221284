"""Errors as exceptions."""


class TrivanceError(Exception):
    """An operation failed; the text is one sentence, which states what is allowed.

    Attributes
    ----------
    code : int
        The library's code of such errors, one of the negative ``TRV_ERR_*``; 0 if there is none.
    """

    code = 0


class ArgumentError(TrivanceError, ValueError):
    """An argument has a value that is never valid."""

    code = -1


class UnsupportedError(TrivanceError):
    """A request is valid but not supported: a torus that an algorithm does not take, a package that is not
    installed."""

    code = -2


class OutOfMemoryError(TrivanceError, MemoryError):
    """There is not enough memory."""

    code = -3


class InvalidScheduleError(TrivanceError):
    """A schedule or a file is not what it claims to be."""

    code = -5


class CancelledError(TrivanceError):
    """A progress function ended the work."""

    code = -7


class LibraryError(TrivanceError, ImportError):
    """The C library is missing, or of another version than this package."""
