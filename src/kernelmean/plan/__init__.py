"""How sums over rows run: tiles, threads, compiled loops, devices. Independent of any statistic."""

from .plan import DEFAULT as DEFAULT
from .plan import Plan, RemotePlan

__all__ = ["Plan", "RemotePlan"]
