"""What a signature wants: its parts, and how to say it in words."""

from __future__ import annotations

import importlib
import inspect
import types
import typing
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Generic, Literal, TypeVar, Union, get_args, get_origin

from regard.ranges import Range
from regard.words import close

T = TypeVar("T")
PLAIN = {
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    str: "a text",
    list: "a list",
    dict: "a mapping",
    tuple: "a list",
    Path: "a path",
    type(None): "null",
}


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
        except (ValueError, RuntimeError) as error:
            raise RecipeError(self._placed(str(error))) from error

    def _placed(self, problem: str) -> str:
        """A problem under its full key: "beam: ..." of the part decode is "decode.beam: ..."."""
        if not self.where:
            return problem
        is_key = problem.partition(":")[0] in inspect.signature(self.function).parameters
        return f"{self.where}{'.' if is_key else ': '}{problem}"


def part_of(wanted: Any) -> Any:
    """The class that a mapping stands for under an annotation, if there is one."""
    if get_origin(wanted) is Later:
        return get_args(wanted)[0]
    if get_origin(wanted) in (Union, types.UnionType):
        parts = [part_of(option) for option in get_args(wanted)]
        return next((part for part in parts if part is not None), None)
    if not inspect.isclass(wanted) or wanted in PLAIN:
        return None
    try:
        inspect.signature(wanted)
    except ValueError:  # a type of C such as Tensor, which no recipe can write down
        return None
    return wanted


def trusted(module: str, trust: tuple[str, ...] | None) -> bool:
    """Whether a module is one of the packages that may be named, or lies in one of them."""
    return trust is None or any(f"{module}.".startswith(f"{package}.") for package in trust)


def public(module: types.ModuleType) -> list[str]:
    """The names that a package offers."""
    return list(getattr(module, "__all__", [n for n in vars(module) if not n.startswith("_")]))


def hints(function: Any) -> dict[str, Any]:
    """The annotations of a function, or of what makes a class."""
    try:
        made = function.__init__ if inspect.isclass(function) else function
        return typing.get_type_hints(made, include_extras=True)
    except (NameError, TypeError):  # names that only a type checker imports
        return {}


def gives(found: Any, wanted: Any) -> bool:
    """Whether calling this makes what is wanted."""
    if inspect.isclass(found):
        return issubclass(found, wanted)
    result = hints(found).get("return") if inspect.isroutine(found) else None
    return inspect.isclass(result) and issubclass(result, wanted)


def named(wanted: Any) -> str:
    """What an annotation wants, in words."""
    origin, options = get_origin(wanted), get_args(wanted)
    if origin in (Union, types.UnionType):
        sayable = [o for o in options if not inspect.isclass(o) or o in PLAIN or part_of(o)]
        return " or ".join(named(option) for option in sayable)
    if origin is Annotated:
        ranges = [each.words for each in options[1:] if isinstance(each, Range)]
        return ranges[0] if ranges else named(options[0])
    if origin is Literal:
        return "one of " + ", ".join(str(option) for option in options)
    if origin is list:
        return f"a list of {named(options[0]).removeprefix('a ')}s"
    if origin is tuple:
        return f"a list of {len(options)}"
    if origin is dict:
        return "a mapping"
    if wanted in PLAIN:
        return PLAIN[wanted]
    part = part_of(wanted)
    if part is None:
        return str(getattr(wanted, "__name__", wanted))
    if origin is Later or inspect.isabstract(part):
        return f"{{is: {examples(part)}, ...}}"
    return f"a mapping with keys such as {', '.join([*inspect.signature(part).parameters][:3])}"


def _parts(wanted: Any) -> list[str]:
    """The names below `regard.` that would do."""
    packages = ("systems", "data", "encoders", "search", "tasks", "train")
    modules = {package: importlib.import_module(f"regard.{package}") for package in packages}
    return [
        f"{package}.{name}"
        for package, module in modules.items()
        for name in public(module)
        if gives(found := vars(module)[name], wanted) and not inspect.isabstract(found)
    ]


def examples(wanted: Any) -> str:
    """A few names that would do."""
    if trusted(wanted.__module__, ("torch.optim",)):
        return "torch.optim.AdamW"
    return " or ".join(_parts(wanted)[:5]) or "package.Name"


def unknown_part(name: str, wanted: Any, *, own_only: bool) -> str:
    """What to say of a name that stands for nothing, or for nothing that may be named."""
    near = close(name, _parts(wanted)) or f"; wanted one such as {examples(wanted)}"
    if not own_only:
        return f"no part is called {name!r}{near}"
    package = name.partition(".")[0]
    return (
        f"{name!r} is not a part of Regard's own{near}\nIf you trust this model's maker, --trust "
        f"{package} (in Python, regard.load(folder, trust=({package!r},))) lets it name {package}, "
        "which must be installed or in a folder of PYTHONPATH"
    )
