"""Monitoring: has a stream drifted away from a reference? Answers that may be asked for after every row."""

from .guarantee import Guarantee
from .monitor import DriftMonitor
from .state import DriftState

__all__ = ["DriftMonitor", "DriftState", "Guarantee"]
