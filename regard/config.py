"""A recipe becomes objects: the constructor's signature is the schema.

`{is: systems.bahdanau, dropout: 0.3}` names a class or function below `regard.` (or the user's own
dotted path) and its arguments. A mapping without `is` builds what the parameter is annotated with.
"""

from __future__ import annotations

import importlib
import inspect
import re
import types
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin

from regard.ranges import Range
from regard.schema import (
    Later,
    RecipeError,
    examples,
    gives,
    hints,
    named,
    part_of,
    public,
    trusted,
    unknown_part,
)
from regard.words import close, nearest

__all__ = ["Later", "RecipeError", "build", "complete", "convert", "resolve"]

T = TypeVar("T")
OWN = ("regard", "torch.optim")
"""What a recipe may name without the user's leave: our own parts and PyTorch's optimizers."""
SUPPLIED = ("source_vocab", "target_vocab", "vocab", "pictures", "params")
"""Parameters of a part that is built later which code, never a recipe, supplies."""


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
        came = "a mapping without is" if name is None else f"{name}, which is only the general kind"
        raise RecipeError(f"{where}is: wanted a name such as {examples(function)}, got {came}")
    kinds = hints(function)
    parameters = {n: p for n, p in inspect.signature(function).parameters.items() if n not in given}
    known = list(parameters)
    for key in spec:
        if key not in known:
            raise RecipeError(f"{where}{key}: unknown key{nearest(str(key), known)}")
    arguments = {
        key: convert(value, kinds.get(key, Any), where=f"{where}{key}", trust=trust)
        for key, value in spec.items()
    }
    missing = [n for n in known if n not in spec and parameters[n].default is inspect._empty]
    if missing:
        raise RecipeError(f"{where}{missing[0]}: missing; wanted {named(kinds.get(missing[0]))}")
    return Later(function, arguments, where.rstrip("."))


def resolve(name: Any, wanted: Any, *, where: str, trust: tuple[str, ...] | None) -> Any:
    """The class or function that a dotted name stands for."""
    if not isinstance(name, str) or not re.fullmatch(r"[^\W\d]\w*(\.[^\W\d]\w*)+", name):
        raise RecipeError(f"{where}: wanted a dotted name such as {examples(wanted)}, got {name!r}")
    path, _, last = name.rpartition(".")
    modules = (_module(module, trust, where=where) for module in (f"regard.{path}", path))
    module = next((module for module in modules if module is not None), None)
    if module is None:
        raise RecipeError(f"{where}: {unknown_part(name, wanted, own_only=trust is not None)}")
    found = vars(module).get(last)
    if found is None:
        raise RecipeError(
            f"{where}: no {last!r} in {module.__name__}{nearest(last, public(module))}"
        )
    if not gives(found, wanted) or not _offered(found, module, trust):
        raise RecipeError(
            f"{where}: wanted something that gives a {wanted.__name__}, such as "
            f"{examples(wanted)}; {name} does not"
        )
    return found


def strangers(recipe: Any) -> list[str]:
    """The packages but our own whose parts a recipe names, which its model's users must trust."""
    if isinstance(recipe, list):
        return sorted({package for part in recipe for package in strangers(part)})
    if not isinstance(recipe, Mapping):
        return []
    found = strangers(list(recipe.values()))
    path = str(recipe.get("is", "regard")).rpartition(".")[0]
    ours = not path or trusted(path, OWN) or _module(f"regard.{path}", OWN, where="is")
    return found if ours else sorted({*found, path.partition(".")[0]})


def _module(name: str, trust: tuple[str, ...] | None, *, where: str) -> types.ModuleType | None:
    """A module that may be named, or None where there is none."""
    if not trusted(name, trust):
        return None
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is not None and f"{name}.".startswith(f"{error.name}."):
            return None
        raise RecipeError(f"{where}: {name} cannot be imported: {error}") from error


def _offered(found: Any, module: types.ModuleType, trust: tuple[str, ...] | None) -> bool:
    """Whether a part may be named: any class, but of our functions only those made for it."""
    if not trusted(found.__module__, trust):
        return False
    ours = trusted(module.__name__, ("regard",))
    return inspect.isclass(found) or not ours or found.__name__ in vars(module).get("__all__", ())


def complete(spec: Mapping[str, Any], wanted: Any) -> dict[str, Any]:
    """A recipe with every default written out, so that a later default cannot change a model.

    A class whose null stands for a part says so in `NULL`, as a recipe would.
    """
    function = resolve(spec["is"], wanted, where="is", trust=None) if "is" in spec else wanted
    kinds = hints(function)
    full, null = dict(spec), vars(function).get("NULL", {})
    for name, parameter in inspect.signature(function).parameters.items():
        given = spec.get(name) if spec.get(name) is not None else null.get(name)
        if isinstance(given, Mapping):
            inner = part_of(kinds.get(name, Any))
            full[name] = complete(given, inner) if inner is not None else given
        elif name not in spec and isinstance(parameter.default, bool | int | float | str):
            full[name] = parameter.default
    return full


def convert(value: Any, wanted: Any, *, where: str, trust: tuple[str, ...] | None = None) -> Any:
    """A value from YAML as what the annotation wants, or an error that names the key."""
    origin, options = get_origin(wanted), get_args(wanted)
    if wanted is Any or ((wanted is None or wanted is type(None)) and value is None):
        return value
    if origin in (Union, types.UnionType):
        return _convert_union(value, options, wanted, where=where, trust=trust)
    if origin is Annotated:
        number = convert(value, options[0], where=where, trust=trust)
        if not all(each.holds(number) for each in options[1:] if isinstance(each, Range)):
            raise RecipeError(f"{where}: wanted {named(wanted)}, got {value!r}")
        return number
    if origin is Literal:
        if value not in options:
            near = close(str(value), [str(option) for option in options])
            raise RecipeError(f"{where}: wanted {named(wanted)}, got {value!r}{near}")
        return value
    if origin is Later:
        if not isinstance(value, Mapping):
            raise RecipeError(f"{where}: wanted {named(wanted)}, got {value!r}")
        if "is" not in value:
            raise RecipeError(f"{where}.is: missing; wanted {examples(options[0])}")
        return build(value, options[0], where=f"{where}.", given=SUPPLIED, trust=trust)
    if origin is list and isinstance(value, list):
        return [
            convert(v, options[0], where=f"{where}[{i}]", trust=trust) for i, v in enumerate(value)
        ]
    if origin is dict and isinstance(value, Mapping):
        return {
            k: convert(v, options[1], where=f"{where}.{k}", trust=trust) for k, v in value.items()
        }
    if origin is tuple and isinstance(value, list) and len(value) == len(options):
        return tuple(
            convert(v, option, where=f"{where}[{i}]", trust=trust)
            for i, (v, option) in enumerate(zip(value, options, strict=True))
        )
    # A mapping stands for a part only: a number or a text that some function could give does not
    # come from calling what a file names.
    if isinstance(value, Mapping) and part_of(wanted) is not None:
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
    truth_for_number = wanted is int and isinstance(value, bool)
    if inspect.isclass(wanted) and isinstance(value, wanted) and not truth_for_number:
        return value
    raise RecipeError(f"{where}: wanted {named(wanted)}, got {value!r}")


def _convert_union(
    value: Any, options: tuple[Any, ...], wanted: Any, *, where: str, trust: tuple[str, ...] | None
) -> Any:
    if value is None and type(None) in options:
        return None
    if isinstance(value, Mapping):
        parts = [o for o in options if part_of(o) is not None or get_origin(o) is dict]
        if parts:  # its own message is better than "none of these"
            return convert(value, parts[0], where=where, trust=trust)
    for option in options:
        try:
            return convert(value, option, where=where, trust=trust)
        except RecipeError:
            continue
    raise RecipeError(f"{where}: wanted {named(wanted)}, got {value!r}")
