"""A loader that is watched is still the loader: same type, length, attributes, pickle.

Its class is derived from the loader's own and its attributes are the loader's, not copies. What has
no attributes of its own (a list, a generator, slots) is stood in for by a proxy.
"""

from __future__ import annotations

import types
import weakref
from collections.abc import Callable, Iterator
from typing import Any

# Given the plain loader and its plain iterator's maker: the iterator that the loop gets.
Begin = Callable[[Any, Callable[[], Iterator[Any]]], Iterator[Any]]

_BEGIN = "_stepscope_begin"


class Watching:
    """Mixed into the class of a loader."""

    _stepscope_begin: Begin
    _stepscope_base: type
    # Classes are let go late, and must not keep a loader and its workers until then.
    _stepscope_first: Callable[[], Any]

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """No new kind of loader: registries of kinds must not hear of it."""

    def __iter__(self) -> Iterator[Any]:
        return type(self)._stepscope_begin(
            self,
            super().__iter__,  # type: ignore[misc]
        )

    def __reduce_ex__(self, protocol: Any) -> Any:
        return _same, (plain(self),)


def plain(loader: Any) -> Any:
    """The loader that is watched, or itself if none is."""
    if isinstance(loader, Watching):
        first = type(loader)._stepscope_first()
        if first is not None and first.__dict__ is loader.__dict__:
            return first
        bare: Any = object.__new__(type(loader)._stepscope_base)
        bare.__dict__ = loader.__dict__
        return bare
    if issubclass(type(loader), StandIn):  # isinstance would ask what it stands for
        return object.__getattribute__(loader, "_stepscope_loader")
    return loader


def watched(loader: Any, begin: Begin) -> Any:
    """The same loader; each pass over it goes through `begin`."""
    loader = plain(loader)
    try:
        if _is_all_in_dict(loader):
            return _derived(loader, begin)
    except Exception:  # classes may forbid being derived from
        pass
    return _stand_in(loader, begin)


def _is_all_in_dict(loader: Any) -> bool:
    """Whether an object that shares its __dict__ is as good as itself."""
    if not isinstance(getattr(loader, "__dict__", None), dict) or hasattr(loader, "__next__"):
        return False
    if "__iter__" not in dir(type(loader)):
        return False  # iterated by __getitem__
    slots = (vars(kind).get("__slots__", ()) for kind in type(loader).__mro__)
    named = {name for one in slots for name in ((one,) if isinstance(one, str) else one)}
    return not named - {"__dict__", "__weakref__"}


def _derived(loader: Any, begin: Begin) -> Any:
    base = type(loader)
    body = {
        _BEGIN: staticmethod(begin),
        "_stepscope_base": base,
        "_stepscope_first": staticmethod(weakref.ref(loader)),
        "__module__": base.__module__,
        "__qualname__": base.__qualname__,
        "__doc__": base.__doc__,
    }
    kind = types.new_class(
        base.__name__, (Watching, base), {"metaclass": type(base)}, lambda space: space.update(body)
    )
    again: Any = object.__new__(kind)
    again.__dict__ = loader.__dict__
    return again


class StandIn:
    """In the place of an object; made by `_stand_in` with the special methods of its type."""

    __slots__ = ("_stepscope_begin", "_stepscope_iterator", "_stepscope_loader")

    def __init__(self, loader: Any, begin: Begin) -> None:
        for name, value in zip(StandIn.__slots__, (begin, None, loader), strict=True):
            object.__setattr__(self, name, value)

    def __iter__(self) -> Iterator[Any]:
        get = object.__getattribute__
        loader = get(self, "_stepscope_loader")
        if hasattr(loader, "__next__"):  # an iterator has one pass
            return self
        made: Iterator[Any] = get(self, _BEGIN)(loader, lambda: iter(loader))
        return made

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        return object.__getattribute__(self, "_stepscope_loader").__class__

    def __getattribute__(self, name: str) -> Any:
        if name in ("__class__", "__reduce_ex__"):
            return object.__getattribute__(self, name)
        return getattr(object.__getattribute__(self, "_stepscope_loader"), name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(object.__getattribute__(self, "_stepscope_loader"), name, value)

    def __delattr__(self, name: str) -> None:
        delattr(object.__getattribute__(self, "_stepscope_loader"), name)

    def __reduce_ex__(self, protocol: Any) -> Any:
        return _same, (object.__getattribute__(self, "_stepscope_loader"),)


def _same(loader: Any) -> Any:
    return loader


def _next_of(stand_in: Any) -> Any:
    get, put = object.__getattribute__, object.__setattr__
    iterator = get(stand_in, "_stepscope_iterator")
    if iterator is None:
        loader = get(stand_in, "_stepscope_loader")
        iterator = get(stand_in, _BEGIN)(loader, lambda: loader)
        put(stand_in, "_stepscope_iterator", iterator)
    return next(iterator)


def _forwarded(name: str) -> Callable[..., Any]:
    def call(self: Any, *args: Any) -> Any:
        loader = object.__getattribute__(self, "_stepscope_loader")
        return getattr(type(loader), name)(loader, *(plain(one) for one in args))

    call.__name__ = name
    return call


# Asked of the type, not of the object; others are found through __getattribute__.
_SPECIAL = (
    "__len__",
    "__length_hint__",
    "__getitem__",
    "__setitem__",
    "__delitem__",
    "__contains__",
    "__reversed__",
    "__call__",
    "__enter__",
    "__exit__",
    "__bool__",
    "__repr__",
    "__str__",
    "__eq__",
    "__ne__",
    "__lt__",
    "__le__",
    "__gt__",
    "__ge__",
    "__hash__",
    "__add__",
    "__mul__",
    "__dir__",
)


def _stand_in(loader: Any, begin: Begin) -> Any:
    base = type(loader)
    body: dict[str, Any] = {
        name: _forwarded(name) for name in _SPECIAL if getattr(base, name, None) is not None
    }
    if getattr(base, "__hash__", None) is None:
        body["__hash__"] = None
    if hasattr(base, "__next__"):
        body["__next__"] = _next_of
    body["__slots__"] = ()
    return type(base.__name__, (StandIn,), body)(loader, begin)
