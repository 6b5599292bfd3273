"""Monitoring: has a stream drifted away from a reference? p-values that hold at any time one looks."""

from .betting import Wealth
from .monitor import DriftMonitor, DriftState

__all__ = ["DriftMonitor", "DriftState", "Wealth"]
