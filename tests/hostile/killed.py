"""Commands as processes that are forked from one where all is imported, so that a kill finds work and not imports."""

from __future__ import annotations

import importlib.util
import os
import signal
import sys
from collections.abc import Callable
from multiprocessing import get_context
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

import kernelmean as km
from kernelmean.cli import app  # noqa: F401
from kernelmean.studies import comparison  # noqa: F401 (for the processes that are forked)

SYNTHETIC = Path(__file__).parents[2] / "paper" / "tests" / "synthetic.py"
os.environ["PYTHONPATH"] = os.pathsep.join(map(str, [Path(__file__).parent, *sys.path]))
SERVER = get_context("forkserver")
SERVER.set_forkserver_preload(["killed"])


def start(work: Callable[..., None], folder: Path, *words: Any) -> Any:
    """Start work in a folder; the process ends as a program of its own would."""
    process = SERVER.Process(target=_run, args=(work, folder, words))
    process.start()
    return process


def _run(work: Callable[..., None], folder: Path, words: tuple[Any, ...]) -> None:
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.chdir(folder)
    silent = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silent, 1)
    with Path("errors.txt").open("ab") as errors:
        os.dup2(errors.fileno(), 2)
    try:
        work(*words)
    except KeyboardInterrupt:  # before the command began, or in work that is none
        if (folder / "began").exists() and work in (command, reproduce):
            raise
        sys.exit(130)


def command(*words: str) -> None:
    """Run the command line."""
    from kernelmean.cli import main

    Path("began").touch()
    main(words)


def reproduce(*words: str) -> None:
    """Run the command line with a small experiment in the place of the paper's."""
    from kernelmean.cli import main
    from kernelmean_paper import command as module

    synthetic = loaded()
    synthetic.Fast.pause = 0.004
    module.chosen = list
    module.load = lambda name: synthetic.KNOWN[name]()
    Path("began").touch()
    main(words)


def loaded() -> ModuleType:
    spec = importlib.util.spec_from_file_location("synthetic", SYNTHETIC)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["synthetic"] = module
    spec.loader.exec_module(module)
    return module


def means() -> list[Any]:
    """Return two embeddings of a megabyte each."""
    kernel = km.kernels.Gaussian(1.0)
    return [km.embed(np.random.default_rng(seed).normal(size=(8000, 15)), kernel) for seed in (0, 1)]


def saves() -> None:
    """Save one embedding over the other, until the end."""
    both = means()
    km.save(both[0], "before.npz")  # so that what it imports is there
    Path("began").touch()
    while True:
        for each in both:
            km.save(each, "mean.npz")


def writes() -> None:
    """Write the outputs of two comparisons over each other, until the end."""
    from kernelmean.cli import run

    tables = ["first.csv", "second.csv"]
    Path("began").touch()
    while True:
        for seed in ("0", "1"):
            words = ["compare", *tables, "--estimator", "kme", "--resamples", "19", "--seed", seed, *OUTPUTS]
            if run(words):
                sys.exit(130)  # of Ctrl-C


OUTPUTS = ("--json", "out.json", "--csv", "out.csv", "--html", "out.html", "--plot", "out.svg")
