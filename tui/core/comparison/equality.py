"""Whether two JSON values are equal. Pure."""

from typing import Any


def same(one: Any, other: Any) -> bool:
    """Return whether two JSON values of any depth are equal; true is not 1, but 1 is 1.0."""
    pairs = [(one, other)]
    while pairs:
        one, other = pairs.pop()
        if isinstance(one, dict) and isinstance(other, dict) and one.keys() == other.keys():
            pairs += [(value, other[key]) for key, value in one.items()]
        elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
            pairs += zip(one, other, strict=True)
        elif isinstance(one, dict | list | bool) or isinstance(other, dict | list | bool):
            if one is not other:
                return False
        elif one != other:
            return False
    return True
