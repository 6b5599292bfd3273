"""Monitoring: has a stream drifted away from a reference? p-values that hold at any time one looks."""

from .monitor import DriftMonitor, DriftState

__all__ = ["DriftMonitor", "DriftState"]
