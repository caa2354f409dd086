"""Whether MLflow's server answers, before anything is sent: MLflow itself tries for minutes."""

from __future__ import annotations

import re
import time
from typing import Any

# In seconds. A server that is being started anew gets some time; a training that has ended should
# not be held up for longer.
_PAUSES_S = (0.0, 2.0, 3.0)
_CONNECT_S = 3.0
_ANSWER_S = 10.0


def without_password(uri: str) -> str:
    """An address as it may be printed."""
    return re.sub(r"//[^/@]*@", "//", uri)


def why_unreachable(uri: str) -> str | None:
    """None where it answers, whatever it says, and for stores that are no server."""
    if not re.match(r"https?://", uri):
        return None
    why = None
    for pause in _PAUSES_S:
        time.sleep(pause)
        why = _try(f"{uri.rstrip('/')}/health")
        if why is None or why == _SILENT:
            return why
    return why


_SILENT = f"it gives no answer within {_ANSWER_S:.0f} s"


def _try(address: str) -> str | None:
    # MLflow asks by this package: proxies and names are found in the same way.
    import requests

    try:
        answer: Any = requests.get(address, timeout=(_CONNECT_S, _ANSWER_S), stream=True)
    except requests.exceptions.SSLError:
        return None  # there is an answer: MLflow may know the certificate
    except requests.exceptions.ConnectTimeout:
        return f"no connection within {_CONNECT_S:.0f} s"
    except requests.exceptions.Timeout:
        return _SILENT
    except requests.exceptions.ConnectionError as error:
        return _reason(error)
    except requests.exceptions.RequestException:
        return None  # an address that MLflow has to judge
    answer.close()
    return None


def _reason(error: BaseException) -> str:
    """The system's words, which lie deep in those of the packages.

    >>> _reason(OSError("Max retries (Caused by X('<a.B>: [Errno 111] Connection refused'))"))
    'Connection refused'
    """
    found = re.search(r"\[Errno -?\d+\] ([^'\")]+)", str(error))
    return found[1].strip() if found else type(error).__name__
