"""Objects that a test hands to an answer: made by a factory, so that only the recipe has to travel.

A test may run in another process than the answer it tests. Numbers and tensors can be sent there; a module cannot. So a test gets its
modules from a factory in a locked cell, which runs in both places:

    @factory
    def one_layer_three_times(hidden_dim): ...

    expect(lambda: count_parameters(one_layer_three_times(4)).stored).equals(20)
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Any


@dataclass(frozen=True)
class Recipe:
    """The name of a factory and the plain values it was called with."""

    name: str
    arguments: tuple[Any, ...]


_recipes: dict[int, Recipe] = {}


def factory(function: Callable) -> Callable:
    """Remember, for everything that `function` makes, how it was made. It takes plain values, by position.

    What it makes is an object of a class: a module, a function. Raises TypeError for a list, a tuple or a number.
    """

    @wraps(function)
    def make(*arguments: Any) -> Any:
        made = function(*arguments)
        try:
            weakref.finalize(made, _recipes.pop, id(made), None)
        except TypeError:
            raise TypeError(
                f"the factory {function.__name__} makes a {type(made).__name__}: let it make one module or other object"
            ) from None
        _recipes[id(made)] = Recipe(function.__name__, arguments)
        return made

    return make


def recipe_of(value: Any) -> Recipe | None:
    return _recipes.get(id(value))
