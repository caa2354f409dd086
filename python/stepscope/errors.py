"""What can go wrong, as exceptions that say where and what was expected."""


class Error(Exception):
    """The base of all errors of this package.

    Attributes:
        message: the whole message.
        file: the file it is about, or None.
        position: the byte in that file's uncompressed text, or None.
        expectation: what was wrong or expected there, in words.
    """

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message
        self.file: str | None = None
        self.position: int | None = None
        self.expectation = message


class ReadError(Error, OSError):
    """The system could not read or write a file."""

    def __str__(self) -> str:
        return self.message


class FormatError(Error, ValueError):
    """A file is not what it should be."""


class NotFoundError(Error, LookupError):
    """A file, rank, step or name that is not there."""


class UsageError(Error, ValueError, TypeError):
    """An argument that has no meaning: the message says what it takes."""


class LimitError(Error, MemoryError):
    """It would take more memory than allowed."""


class RecordingError(Error, OSError):
    """A run cannot be recorded: its folder cannot be written."""

    def __str__(self) -> str:
        return self.message


class RecordingWarning(UserWarning):
    """The training goes on, but less is recorded than was asked for."""


class CancelledError(Error):
    """Reading was asked to stop."""


# In the order of base::Code.
_BY_CODE: tuple[type[Error], ...] = (
    ReadError,
    FormatError,
    FormatError,
    NotFoundError,
    UsageError,
    LimitError,
    CancelledError,
)


def exception_from(code: int, message: str) -> Error:
    """The exception for an error of the core; called by the extension."""
    error = _BY_CODE[code](message)
    if not isinstance(error, UsageError):
        # "rank3.json:81920: event has no 'ts'", "trace.json: No such file or directory"
        place, separator, what = message.partition(": ")
        if separator:
            file, _, number = place.rpartition(":")
            if file and number.isdigit():
                error.file, error.position = file, int(number)
            else:
                error.file = place
            error.expectation = what
    return error
