"""Small experiments, and a command line that knows them; run as a process by the tests of the engine."""

from __future__ import annotations

import os
import time
from pathlib import Path

import numpy as np

from kernelmean_paper import Context, Experiment, Finding, Findings, Setting, Size
from kernelmean_paper.judged import Section, Verdict


class Fast(Experiment):
    """Many quick trials; FAST_PAUSE seconds each."""

    name, title = "fast", "Fast"
    pause = float(os.environ.get("FAST_PAUSE", "0"))

    def settings(self, size: Size) -> list[Setting]:
        return [Setting({"n": n, "rule": "a, b"}, 20 if size is Size.QUICK else 60) for n in (1, 2, 3)]

    def trial(self, setting: Setting, rng: np.random.Generator, context: Context) -> list[Finding]:
        time.sleep(self.pause)
        values = rng.normal(size=3)
        odd = [Finding("odd", "value", value) for value in (-0.0, float("inf"), float("nan"), 5e-324)]
        return [*(Finding(f"m{i}", "loss", float(value)) for i, value in enumerate(values)), *odd]

    def section(self, findings: Findings) -> Section:
        total = sum(findings.values(setting, "m0", "loss").sum() for setting in findings.settings)
        verdict = Verdict("It adds up", "holds", f"the sum is {total!r}", "always")
        return Section(self.title, paragraphs=(f"The sum is {total!r}.",), verdicts=(verdict,))


class Data(Fast):
    """Loads a data set; one of them is nowhere."""

    name, title = "data", "Data"

    def settings(self, size: Size) -> list[Setting]:
        return [Setting({"set": name}, 3) for name in ("eckerle4", "glass")]

    def needs(self, setting: Setting) -> tuple[str, ...]:
        return (str(setting.values["set"]),)

    def trial(self, setting: Setting, rng: np.random.Generator, context: Context) -> list[Finding]:
        return [Finding("m0", "loss", float(len(context.load(self.needs(setting)[0])) + rng.normal()))]


class Careless(Data):
    """Loads what it does not name."""

    name, title = "careless", "Careless"

    def needs(self, setting: Setting) -> tuple[str, ...]:
        return () if setting.values["set"] == "glass" else super().needs(setting)

    def trial(self, setting: Setting, rng: np.random.Generator, context: Context) -> list[Finding]:
        return [Finding("m0", "loss", float(len(context.load(str(setting.values["set"])))))]


class Deadly(Fast):
    """Ends its process by force in the first of its trials, or in as many as wanted."""

    name, title = "deadly", "Deadly"

    def __init__(self, marks: Path, deaths: int) -> None:
        self.marks, self.deaths = marks, deaths

    def trial(self, setting: Setting, rng: np.random.Generator, context: Context) -> list[Finding]:
        dead = len(list(self.marks.iterdir()))
        if setting.values["n"] == 2 and dead < self.deaths:
            (self.marks / f"{os.getpid()}").touch()
            os.kill(os.getpid(), 9)
        return super().trial(setting, rng, context)


KNOWN = {each.name: each for each in (Fast, Data, Careless)}


def main() -> None:
    """Run the command line with these experiments in the place of the paper's."""
    from kernelmean.cli import main
    from kernelmean_paper import command

    command.chosen = lambda names: [name for name in KNOWN if name in names]
    command.load = lambda name: KNOWN[name]()
    main()


if __name__ == "__main__":
    import synthetic

    synthetic.main()
