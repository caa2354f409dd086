"""Run by every Python that `stepscope run` started, before anything else.

Its folder is first on PYTHONPATH. It makes itself invisible, tells that this process began, waits
for torch, and lets the sitecustomize that it hides do its work. Old Pythons must be able to parse
it, and nothing here may stop a program.
"""
# mypy: ignore-errors

import os
import sys


def _begin(here):
    sys.path[:] = [entry for entry in sys.path if not entry or os.path.abspath(entry) != here]
    notes = os.environ.get("STEPSCOPE_RUN_NOTES")
    if not notes:
        return  # started later, by something that kept PYTHONPATH alone
    version = "%d.%d.%d" % sys.version_info[:3]
    if sys.version_info < (3, 10):
        with open(os.path.join(notes, str(os.getpid())), "a") as file:
            file.write(
                "failed\tPython %s is too old: 3.10 is the first that can be recorded\n" % version
            )
        return
    import importlib.util

    file = os.path.join(os.path.dirname(here), "launched", "waiting.py")
    spec = importlib.util.spec_from_file_location("_stepscope_waiting", file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.begin(os.path.dirname(here))


def _hand_on():
    """To the sitecustomize that would have run without us; where there is none, as if so."""
    from importlib.machinery import PathFinder
    from importlib.util import module_from_spec

    spec = PathFinder.find_spec("sitecustomize")
    if spec is None or spec.loader is None:
        raise ImportError("No module named 'sitecustomize'", name="sitecustomize")
    module = module_from_spec(spec)
    sys.modules["sitecustomize"] = module
    spec.loader.exec_module(module)


try:
    _begin(os.path.dirname(os.path.abspath(__file__)))
except Exception:  # the program is worth more than its recording
    pass
_hand_on()
