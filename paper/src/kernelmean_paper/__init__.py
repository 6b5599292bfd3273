"""The paper's figures and tables as experiments: trials that are stored one by one, and their results."""

from __future__ import annotations

from .experiment import Context, Experiment, Finding, Findings, Setting, Size

__all__ = ["Context", "Experiment", "Finding", "Findings", "Setting", "Size"]
