"""Monitoring: has a stream drifted away from a reference? You may ask after every row."""

from .guarantee import Guarantee
from .monitor import DriftMonitor
from .state import DriftState

__all__ = ["DriftMonitor", "DriftState", "Guarantee"]
