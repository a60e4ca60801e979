"""A recipe becomes objects: the constructor's signature is the schema.

`{is: systems.bahdanau, dropout: 0.3}` names a class or function below `regard.` (or the user's own
dotted path) and its arguments. A mapping without `is` builds what the parameter is annotated with.
"""

from __future__ import annotations

import difflib
import importlib
import inspect
import types
import typing
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Generic, Literal, TypeVar, Union, get_args, get_origin

T = TypeVar("T")
OWN = ("regard", "torch.optim")
"""What a recipe may name without the user's leave: our own parts and PyTorch's optimizers."""
SUPPLIED = ("source_vocab", "target_vocab", "params")
"""Parameters of a part that is built later which code, never a recipe, supplies."""


class RecipeError(ValueError):
    """A mistake in a recipe: which key, what was wanted, what came, the nearest right word."""


class Later(Generic[T]):
    """A part that is checked now and built when the rest of its arguments are known."""

    def __init__(self, function: Callable[..., T], arguments: dict[str, Any], where: str) -> None:
        self.function, self.arguments, self.where = function, arguments, where

    def build(self, *given: Any, **named: Any) -> T:
        """Call it with what was not in the recipe."""
        try:
            return self.function(*given, **named, **self.arguments)
        except ValueError as error:
            raise RecipeError(f"{self.where}: {error}") from error


def build(
    spec: Mapping[str, Any],
    wanted: type[T] | Any,
    *,
    where: str = "",
    given: Iterable[str] = (),
    trust: tuple[str, ...] | None = None,
) -> Later[T]:
    """Check a mapping against the signature that it names; nothing is called yet.

    `given` are parameters that the caller will supply; `trust` limits the packages that `is` may
    name (None: any, which is for recipes that the user wrote, not for files that came along).
    """
    spec = dict(spec)
    name = spec.pop("is", None)
    function = wanted if name is None else resolve(name, wanted, where=f"{where}is", trust=trust)
    if inspect.isabstract(function):
        raise RecipeError(
            f"{where or 'recipe'}: wanted a part named by is: ..., as in "
            f"{{is: {_examples(function)}}}, got a mapping without it"
        )
    hints = typing.get_type_hints(function.__init__ if inspect.isclass(function) else function)
    parameters = {n: p for n, p in inspect.signature(function).parameters.items() if n not in given}
    known = list(parameters)
    for key in spec:
        if key not in known:
            raise RecipeError(f"{where}{key}: unknown key{nearest(str(key), known)}")
    arguments = {
        key: convert(value, hints.get(key, Any), where=f"{where}{key}", trust=trust)
        for key, value in spec.items()
    }
    missing = [n for n in known if n not in spec and parameters[n].default is inspect._empty]
    if missing:
        raise RecipeError(f"{where}{missing[0]}: missing; wanted {_named(hints.get(missing[0]))}")
    return Later(function, arguments, where.rstrip(".") or "recipe")


def resolve(name: Any, wanted: Any, *, where: str, trust: tuple[str, ...] | None) -> Any:
    """The class or function that a dotted name stands for."""
    if not isinstance(name, str) or "." not in name:
        raise RecipeError(
            f"{where}: wanted a dotted name such as {_examples(wanted)}, got {name!r}"
        )
    path, _, last = name.rpartition(".")
    found, tried = None, [f"regard.{path}", path]
    for module_name in tried:
        if not trusted(module_name, trust):
            continue
        try:
            module = importlib.import_module(module_name)
        except ModuleNotFoundError as error:
            if error.name is None or not module_name.startswith(error.name):
                raise
            continue
        found = vars(module).get(last)
        if found is not None:
            break
        if module_name.startswith("regard."):
            raise RecipeError(
                f"{where}: no {last!r} in {module_name}{nearest(last, public(module))}"
            )
    if found is None:
        raise RecipeError(f"{where}: no part is called {name!r}{_nearest_module(name)}")
    if not callable(found) or not trusted(found.__module__, trust) or not _gives(found, wanted):
        raise RecipeError(
            f"{where}: wanted something that gives {_named(wanted)}, such as "
            f"{_examples(wanted)}; {name} does not"
        )
    return found


def complete(spec: Mapping[str, Any], wanted: Any) -> dict[str, Any]:
    """A recipe with every default written out, so that a later default cannot change a model."""
    function = resolve(spec["is"], wanted, where="is", trust=None) if "is" in spec else wanted
    hints = typing.get_type_hints(function.__init__ if inspect.isclass(function) else function)
    full = dict(spec)
    for name, parameter in inspect.signature(function).parameters.items():
        if isinstance(spec.get(name), Mapping):
            inner = _part_of(hints.get(name, Any))
            full[name] = complete(spec[name], inner) if inner is not None else spec[name]
        elif name not in spec and isinstance(parameter.default, bool | int | float | str):
            full[name] = parameter.default
    return full


def _part_of(wanted: Any) -> Any:
    """The class that a mapping stands for under an annotation, if there is one."""
    if get_origin(wanted) is Later:
        return get_args(wanted)[0]
    if get_origin(wanted) in (Union, types.UnionType):
        parts = [_part_of(option) for option in get_args(wanted)]
        return next((part for part in parts if part is not None), None)
    plain = (int, float, bool, str, list, dict, type(None), Path)
    return wanted if inspect.isclass(wanted) and wanted not in plain else None


def trusted(module: str, trust: tuple[str, ...] | None) -> bool:
    """Whether a module is one of the packages that may be named, or lies in one of them."""
    return trust is None or any(f"{module}.".startswith(f"{package}.") for package in trust)


def convert(value: Any, wanted: Any, *, where: str, trust: tuple[str, ...] | None = None) -> Any:
    """A value from YAML as what the annotation wants, or an error that names the key."""
    origin, options = get_origin(wanted), get_args(wanted)
    if wanted is Any or ((wanted is None or wanted is type(None)) and value is None):
        return value
    if origin in (Union, types.UnionType):
        return _convert_union(value, options, wanted, where=where, trust=trust)
    if origin is Literal:
        if value not in options:
            words = [str(option) for option in options]
            hint = nearest(str(value), words) or f"; wanted one of {', '.join(words)}"
            raise RecipeError(f"{where}: got {value!r}{hint}")
        return value
    if origin is Later:
        if not isinstance(value, Mapping):
            raise RecipeError(
                f"{where}: wanted {{is: {_examples(options[0])}, ...}}, got {value!r}"
            )
        return build(value, options[0], where=f"{where}.", given=SUPPLIED, trust=trust)
    if origin is list and isinstance(value, list):
        return [
            convert(v, options[0], where=f"{where}[{i}]", trust=trust) for i, v in enumerate(value)
        ]
    if origin is dict and isinstance(value, Mapping):
        return {
            k: convert(v, options[1], where=f"{where}.{k}", trust=trust) for k, v in value.items()
        }
    if origin is tuple and isinstance(value, list):
        return tuple(value)
    if inspect.isclass(wanted) and isinstance(value, Mapping):
        return build(value, wanted, where=f"{where}.", trust=trust).build()
    return _convert_plain(value, wanted, where)


def _convert_plain(value: Any, wanted: Any, where: str) -> Any:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if wanted is float and isinstance(value, str):  # YAML reads 3e-4 as a word
        try:
            return float(value)
        except ValueError:
            pass
    if wanted is float and is_number:
        return float(value)
    if wanted is Path and isinstance(value, str):
        return Path(value).expanduser()
    if inspect.isclass(wanted) and isinstance(value, wanted):
        if not (wanted is int and isinstance(value, bool)):
            return value
    raise RecipeError(f"{where}: wanted {_named(wanted)}, got {value!r}")


def _convert_union(
    value: Any, options: tuple[Any, ...], wanted: Any, *, where: str, trust: tuple[str, ...] | None
) -> Any:
    if value is None and type(None) in options:
        return None
    if isinstance(value, Mapping):
        parts = [o for o in options if _part_of(o) is not None or get_origin(o) is dict]
        if parts:  # its own message is better than "none of these"
            return convert(value, parts[0], where=where, trust=trust)
    for option in options:
        try:
            return convert(value, option, where=where, trust=trust)
        except RecipeError:
            continue
    raise RecipeError(f"{where}: wanted {_named(wanted)}, got {value!r}")


def nearest(word: str, words: Iterable[str]) -> str:
    """'; did you mean ...?' where a right word is near, else a short list of the right ones."""
    words = sorted(words)
    close = difflib.get_close_matches(word, words, n=1, cutoff=0.5)
    if close:
        return f"; did you mean {close[0]!r}?"
    return f"; wanted one of {', '.join(words)}" if words else ""


def public(module: types.ModuleType) -> list[str]:
    """The names that a package of ours offers."""
    return list(getattr(module, "__all__", [n for n in vars(module) if not n.startswith("_")]))


def _gives(found: Any, wanted: Any) -> bool:
    if not inspect.isclass(wanted):
        return True
    if inspect.isclass(found):
        return issubclass(found, wanted)
    result = typing.get_type_hints(found).get("return")
    return inspect.isclass(result) and issubclass(result, wanted)


def _named(wanted: Any) -> str:
    options = get_args(wanted)
    if get_origin(wanted) in (Union, types.UnionType):
        return " or ".join(_named(option) for option in options)
    if get_origin(wanted) is Literal:
        return "one of " + ", ".join(str(option) for option in options)
    plain = {
        int: "a whole number",
        float: "a number",
        bool: "true or false",
        str: "a text",
        Path: "a path",
        type(None): "null",
    }
    if get_origin(wanted) is list:
        return f"a list of {_named(options[0])}"
    if get_origin(wanted) is Later:
        return f"{{is: {_examples(options[0])}}}"
    return plain.get(wanted) or str(getattr(wanted, "__name__", wanted))


def _examples(wanted: Any) -> str:
    """The names below `regard.` that would do."""
    found: list[str] = []
    for package in ("systems", "data", "search", "tasks", "train"):
        module = importlib.import_module(f"regard.{package}")
        parts = [(n, vars(module)[n]) for n in vars(module).get("__all__", ())]
        found += [
            f"{package}.{n}"
            for n, p in parts
            if callable(p)
            and inspect.isclass(wanted)
            and _gives(p, wanted)
            and not inspect.isabstract(p)
        ]
    return " or ".join(found[:5]) or "package.Name"


def _nearest_module(name: str) -> str:
    every = [
        f"{package}.{n}"
        for package in ("systems", "data", "search", "tasks", "train")
        for n in public(importlib.import_module(f"regard.{package}"))
    ]
    close = difflib.get_close_matches(name, every, n=1, cutoff=0.5)
    return f"; did you mean {close[0]!r}?" if close else ""
