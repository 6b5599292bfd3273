"""What a picture says in words, for who cannot see it: kept beside the axes, written into files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_WORDS: WeakKeyDictionary[Any, str] = WeakKeyDictionary()


def describe(ax: Axes, text: str) -> Axes:
    """Keep what axes show in words, and return the axes."""
    _WORDS[ax] = text
    return ax


def alt_text(picture: Any) -> str:
    r"""Return what a picture of this module shows in words, for the ``alt`` of an HTML page.

    Parameters
    ----------
    picture : Axes or Figure

    Returns
    -------
    str
        Empty for axes that no function of this module has drawn on.

    Examples
    --------
    >>> import kernelmean as km
    >>> ax = km.mmd_test([[0.0], [1.0], [2.0]], [[5.0], [6.0], [9.0]], estimator="kme").plot()
    >>> print(alt_text(ax).replace(". ", ".\n"))
    Histogram of the statistic over 19 rearrangements, from −0.247 to 0.908.
    A line marks the observed value, 0.908: p = 0.1.
    """
    axes = picture.axes if hasattr(picture, "add_subplot") else [picture]
    return " ".join(_WORDS[ax] for ax in axes if ax in _WORDS)


def number(value: float) -> str:
    """Return a number of three digits with a true minus sign."""
    return f"{value:.3g}".replace("-", "−")
