"""Checks of arguments that every chapter makes."""


def check_positive(**sizes: int) -> None:
    """Refuse any of `sizes` that is not a positive int.

    Raises TypeError for another type (a bool counts as another type) and ValueError for a number below 1; both name the argument.
    """
    for name, size in sizes.items():
        if isinstance(size, bool) or not isinstance(size, int):
            raise TypeError(f"{name} must be a positive int, not {type(size).__name__}: {size!r}")
        if size < 1:
            raise ValueError(f"{name} must be at least 1: {size}")


def check_divides(**sizes: int) -> None:
    """Refuse two `sizes` of which the first does not divide the second.

    `check_divides(num_heads=12, hidden_dim=770)` raises ValueError: num_heads must divide hidden_dim: 12, 770.
    """
    (divisor_name, divisor), (total_name, total) = sizes.items()
    if total % divisor:
        raise ValueError(f"{divisor_name} must divide {total_name}: {divisor}, {total}")
