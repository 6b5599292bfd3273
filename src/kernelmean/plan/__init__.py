"""How sums over rows run: tiles, threads, compiled loops, devices. Knows no statistic."""

from .plan import DEFAULT as DEFAULT
from .plan import Plan, RemotePlan

__all__ = ["Plan", "RemotePlan"]
