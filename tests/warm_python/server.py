"""Runs programs in forks of a Python that has loaded torch, which alone takes seconds.

    server.py SOCKET PID

A program finds what it would find in a Python of its own: its words, variables, streams and
folder, and no module of torch. `import torch` brings back what was loaded here, through the same
finders, so that hooks on imports see it. Programs that name a framework are forked from a second
server, which has loaded that too. Ends with the process PID.
"""
# mypy: ignore-errors

import array
import atexit
import builtins
import contextlib
import importlib.util
import io
import json
import os
import re
import runpy
import select
import signal
import socket
import sys
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import ModuleType

# By a word in the text of a program: what it will import.
FRAMEWORKS = {
    "lightning": ("lightning.pytorch",),
    "pytorch_lightning": ("pytorch_lightning",),
    "transformers": (
        "accelerate",
        "transformers.trainer",
        "transformers.models.gpt2.modeling_gpt2",
    ),
    "mlflow": ("mlflow", "mlflow.store.tracking.sqlalchemy_store"),
}
KEPT = {}  # by name: the module, out of sys.modules
IMPORTS = {}  # by module: what it imported, in this order
STATUS = [0]  # of the program; negative: the signal that ends it


class ImportsSeen:
    """While something is loaded: which module imports which."""

    def __enter__(self):
        self._before, self._sought = set(sys.modules), set()
        self._import = builtins.__import__
        builtins.__import__ = self._called
        sys.meta_path.insert(0, self)
        return self

    def __exit__(self, *error):
        builtins.__import__ = self._import
        sys.meta_path.remove(self)
        installed = {name.partition(".")[0] for name in self._new() if _is_installed(name)}
        for name in self._new():
            if name.partition(".")[0] in installed:
                KEPT[name] = sys.modules[name]
                if name not in self._sought:  # put into sys.modules by its package
                    IMPORTS.setdefault(name.rpartition(".")[0], {})[name] = None

    def _new(self):
        return [name for name in sys.modules if name not in self._before]

    def _called(self, name, globals=None, locals=None, fromlist=(), level=0):
        module = self._import(name, globals, locals, fromlist, level)
        if importer := _being_loaded(sys._getframe(1)):
            full = importlib.util.resolve_name(
                "." * level + name, (globals or {}).get("__package__")
            )
            for imported in (full, *(f"{full}.{part}" for part in fromlist or ())):
                if imported in sys.modules:
                    IMPORTS.setdefault(importer, {})[imported] = None
        return module

    def find_spec(self, name, path=None, target=None):
        self._sought.add(name)
        if importer := _being_loaded(sys._getframe(1)):
            IMPORTS.setdefault(importer, {})[name] = None


def _being_loaded(frame):
    """The innermost module that is being imported; what is imported later is not part of it."""
    while frame:
        spec = frame.f_globals.get("__spec__")
        if getattr(spec, "_initializing", False):
            return spec.name
        frame = frame.f_back
    return None


def _is_installed(name):
    return "site-packages" in (getattr(sys.modules[name], "__file__", None) or "")


class KeptLoader:
    """Of a module that is loaded already: it is the same, and so is what it imported."""

    def __init__(self, module):
        self._module, self._spec = module, getattr(module, "__spec__", None)
        self._loader = getattr(module, "__loader__", None)

    def create_module(self, spec):
        return self._module

    def exec_module(self, module):
        with contextlib.suppress(AttributeError):
            module.__spec__, module.__loader__ = self._spec, self._loader
        bring_back_imports(self._spec.name if self._spec else module.__name__)


def bring_back_imports(importer):
    """All that a module imported, and those in turn; by an import for a hook."""
    for name in IMPORTS.get(importer, ()):
        if name not in KEPT or name in sys.modules:
            continue
        parent = name.rpartition(".")[0]
        if parent in KEPT and parent not in sys.modules:
            importlib.import_module(parent)
        if name in sys.modules:
            continue
        path = getattr(sys.modules.get(parent), "__path__", None)
        before = sys.meta_path[: sys.meta_path.index(PathFinder)]
        if any(finder.find_spec(name, path) for finder in before):
            import_for_hook(name)
        else:
            sys.modules[name] = KEPT[name]
            bring_back_imports(name)


def import_for_hook(name):
    """What the hook exchanges, it exchanges before others take it from the module."""
    before = dict(vars(KEPT[name]))
    after = vars(importlib.import_module(name))
    exchanged = {id(old): after[key] for key, old in before.items() if after.get(key) is not old}
    exchanged = {old: new for old, new in exchanged.items() if callable(new)}
    if not exchanged:
        return
    for module in KEPT.values():
        for key, value in list(getattr(module, "__dict__", {}).items()):
            if id(value) in exchanged:
                module.__dict__[key] = exchanged[id(value)]


def hide_kept():
    """As if nothing had been loaded."""
    find = PathFinder.find_spec

    def find_spec(kind, name, path=None, target=None):
        if name in KEPT:
            return ModuleSpec(
                name, KeptLoader(KEPT[name]), is_package=hasattr(KEPT[name], "__path__")
            )
        return find(name, path, target)

    PathFinder.find_spec = classmethod(find_spec)
    for name in KEPT:
        sys.modules.pop(name, None)


def load(names):
    with ImportsSeen():
        for name in names:
            with contextlib.suppress(ImportError):
                importlib.import_module(name)
    threads = len(os.listdir("/proc/self/task"))
    if threads != 1:
        sys.exit(f"{names} started threads: {threads} run, which a fork would lose")


def frameworks_of(request):
    """Those that the text of the program names."""
    text = " ".join(request["words"])
    with contextlib.suppress(OSError):
        text += Path(request["folder"], request["words"][0]).read_text(errors="replace")
    return tuple(word for word in FRAMEWORKS if re.search(rf"\b{word}\b", text))


def receive(connection):
    """A request and what came with it; None at the end."""
    fds = array.array("i")
    space = socket.CMSG_SPACE(5 * fds.itemsize)
    first, ancillary, _, _ = connection.recvmsg(4, space)
    if len(first) < 4:
        return None, []
    for _, _, data in ancillary:
        fds.frombytes(data[: len(data) - len(data) % fds.itemsize])
    left, text = int.from_bytes(first, "little"), b""
    while len(text) < left:
        text += connection.recv(left - len(text))
    return json.loads(text), list(fds)


def send(connection, request, fds):
    text = json.dumps(request).encode()
    rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))]
    connection.sendmsg([len(text).to_bytes(4, "little")], rights)
    connection.sendall(text)


class Server:
    """Forks a process for every request, and says how it ended."""

    def __init__(self, path, guardian):
        self.listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.listener.bind(path)
        self.source = None  # of requests that another server has received
        self.running = {}  # by the file of a connection: it and the process
        self.frameworks = {}
        self.guardian = os.pidfd_open(guardian)
        self.ended, writer = socket.socketpair()
        self.ended.setblocking(False)
        writer.setblocking(False)
        self.writer = writer

    def serve(self):
        """Returns in each new process, with its request and files."""
        signal.set_wakeup_fd(self.writer.fileno())
        signal.signal(signal.SIGCHLD, lambda *_: None)
        while True:
            entrance = self.source or self.listener
            files = [entrance, self.ended, self.guardian, *self.running]
            ready, _, _ = select.select(files, [], [])
            if self.guardian in ready:
                for _, process in self.running.values():
                    os.kill(process, signal.SIGKILL)
                os._exit(0)
            if self.ended in ready:
                self._say_ends()
            for file in ready:
                if file in self.running:  # the client is gone
                    connection, process = self.running.pop(file)
                    connection.close()
                    os.kill(process, signal.SIGKILL)
            if entrance in ready:
                started = self._begin(entrance)
                if started:
                    return started

    def _begin(self, entrance):
        if self.source:
            request, fds = receive(self.source)
            if request is None:
                os._exit(0)
            connection = socket.socket(fileno=fds.pop())
        else:
            connection, _ = self.listener.accept()
            request, fds = receive(connection)
            if request is None:
                connection.close()
                return None
            if words := frameworks_of(request):
                if words not in self.frameworks:
                    framework = self._framework_server(words)
                    if not self.source:
                        self.frameworks[words] = framework
                if self.source:  # this is the new one: the request comes by its own way
                    fds.append(connection.detach())
                else:
                    send(self.frameworks[words], request, [*fds, connection.fileno()])
                    connection.close()
                for fd in fds:
                    os.close(fd)
                return None
        return self._fork(request, [*fds, connection.detach()])

    def _framework_server(self, words):
        ours, theirs = socket.socketpair()
        if os.fork() == 0:
            ours.close()
            for connection, _ in self.running.values():
                connection.close()
            for other in self.frameworks.values():
                other.close()
            self.running, self.frameworks, self.source = {}, {}, theirs
            self.listener.close()
            signal.set_wakeup_fd(-1)
            self.ended, self.writer = socket.socketpair()
            self.ended.setblocking(False)
            self.writer.setblocking(False)
            signal.set_wakeup_fd(self.writer.fileno())
            load([name for word in words for name in FRAMEWORKS[word]])
        else:
            theirs.close()
        return ours

    def _fork(self, request, fds):
        *fds, answered = fds
        connection = socket.socket(fileno=answered)
        if process := os.fork():
            connection.sendall(process.to_bytes(4, "little"))
            for fd in fds:
                os.close(fd)
            self.running[connection.fileno()] = (connection, process)
            return None
        connection.close()
        for other, _ in self.running.values():
            other.close()
        for end in (self.source, self.listener, self.ended, self.writer, *self.frameworks.values()):
            if end:
                end.close()
        os.close(self.guardian)
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        return request, fds

    def _say_ends(self):
        with contextlib.suppress(BlockingIOError):
            while self.ended.recv(4096):
                pass
        for file, (connection, process) in list(self.running.items()):
            ended, status = os.waitpid(process, os.WNOHANG)
            if ended:
                del self.running[file]
                with contextlib.suppress(OSError):
                    connection.sendall(status.to_bytes(4, "little"))
                connection.close()


def become(request, fds):
    """This process is the program's, up to its first line."""
    *streams, folder = fds
    for number, fd in enumerate(streams):
        os.dup2(fd, number)
    os.fchdir(folder)
    for fd in fds:
        os.close(fd)
    os.umask(request["umask"])
    if request["leads_session"]:
        os.setsid()
    else:
        with contextlib.suppress(OSError):
            os.setpgid(0, request["group"])
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number in request["ignored"]:
        signal.signal(number, signal.SIG_IGN)
    os.environ.clear()
    os.environ.update(request["variables"])
    sys.orig_argv[:] = [sys.executable, *request["words"]]
    if request["unbuffered"]:
        sys.stdout = io.TextIOWrapper(
            open(1, "wb", buffering=0, closefd=False),  # noqa: SIM115
            sys.stdout.encoding,
            sys.stdout.errors,
            write_through=True,
        )
    if request["words"][:2] == ["-m", "torch.distributed.run"]:
        sys.executable = request["client"]  # of the ranks, too
    KEPT["torch"].default_generator.seed()
    if "numpy.random" in KEPT:
        KEPT["numpy.random"].seed()
    hide_kept()
    path = [
        os.path.abspath(entry) for entry in os.environ.get("PYTHONPATH", "").split(":") if entry
    ]
    sys.path[:0] = path
    if importlib.util.find_spec("sitecustomize"):
        sys.modules.pop("sitecustomize", None)
        with contextlib.suppress(ImportError):
            importlib.import_module("sitecustomize")


def code_of(words, main):
    """What is to be run in the module; None: it is a module's name."""
    if words[0] == "-m":
        sys.argv[:] = words[1:]
        sys.path.insert(0, os.getcwd())
        return None
    if words[0] == "-c":
        sys.argv[:] = ["-c", *words[2:]]
        sys.path.insert(0, "")
        return compile(words[1], "<string>", "exec")
    sys.argv[:] = words
    file = os.path.abspath(words[0])
    sys.path.insert(0, os.path.dirname(os.path.realpath(file)))
    main.__file__, main.__cached__ = file, None
    main.__loader__ = SourceFileLoader("__main__", file)
    return compile(Path(file).read_bytes(), file, "exec")


def print_error(error):
    """As Python does at the end of a program, without the frame below it."""
    error = error.with_traceback(error.__traceback__.tb_next)
    sys.last_type, sys.last_value, sys.last_traceback = type(error), error, error.__traceback__
    sys.excepthook(type(error), error, error.__traceback__)


def end():
    """The last thing at the end of a program: taking torch apart would take seconds."""
    sys.modules["__main__"].__dict__.clear()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(Exception):
            stream.flush()
    if STATUS[0] < 0:
        signal.signal(-STATUS[0], signal.SIG_DFL)
        os.kill(os.getpid(), -STATUS[0])
    os._exit(STATUS[0] & 255)


if __name__ == "__main__":
    sys.path.pop(0)
    atexit.register(end)
    server = Server(sys.argv[1], int(sys.argv[2]))
    load(("torch", "torch._dynamo", "torch.utils.data"))
    server.listener.listen(64)
    Path(sys.argv[1]).with_name("ready").touch()
    request, fds = server.serve()
    become(request, fds)
    main = sys.modules["__main__"] = ModuleType("__main__")
    main.__builtins__ = builtins
    words = request["words"]
    del server, request, fds
    try:
        code = code_of(words, main)
        if code is None:
            runpy._run_module_as_main(sys.argv[0])
        else:
            exec(code, main.__dict__)
    except SystemExit as error:
        STATUS[0] = error.code if isinstance(error.code, int) else int(error.code is not None)
        raise
    except BaseException as error:
        print_error(error)
        STATUS[0] = -signal.SIGINT if isinstance(error, KeyboardInterrupt) else 1
