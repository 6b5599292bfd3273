"""The outputs of a run: all findings as tables, the settings and versions as JSON, and the report."""

from __future__ import annotations

import csv
import hashlib
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from kernelmean.report import Document, to_html

from .experiment import Experiment, Findings, Scalar, Size
from .judged import Section, Verdict, counted, page_sections
from .runner import Outcome
from .store import write_whole
from .trial_code import trial_digest
from .versions import code_digest, commit, versions
from .wording import count, listed

FINDINGS, RESULTS, PAGE = "findings", "results.json", "report.html"
FILES = (FINDINGS, RESULTS, PAGE)
"""The files in the folder of a run, besides its trials."""
_OURS = ("experiment", "trial", "method", "measure", "value")


def write_results(
    experiments: Sequence[Experiment],
    outcome: Outcome,
    folder: Path,
    *,
    size: Size,
    seed: int,
    run: Mapping[str, Any] | None = None,
) -> list[Verdict]:
    """Write tables, JSON and the report of some experiments into a folder, and return all verdicts.

    For the same trials and versions, everything but the member "run" of the JSON is the same, byte by byte.

    Parameters
    ----------
    experiments : sequence of Experiment
        The experiments of the report, in its order.
    outcome : Outcome
        The results of their trials.
    folder : Path
        Gets findings/NAME.csv (and .parquet where pyarrow is installed), results.json, report.html.
    size : Size
        How many trials were requested.
    seed : int
        The seed of the trials.
    run : mapping, optional
        Facts that differ from run to run: the machine, the time taken.
    """
    sections = {each.name: each.section(outcome.findings[each.name]) for each in experiments}
    entries = {}
    for experiment in experiments:
        content = write_findings(experiment.name, outcome.findings[experiment.name], folder / FINDINGS)
        entries[experiment.name] = _entry(experiment, outcome, sections[experiment.name], content)
    made = {"size": size.value, "seed": seed, "commit": commit(), "code": code_digest(), "versions": versions()}
    whole = {**made, "experiments": entries, "missing data": outcome.missing, "run": dict(run or {})}
    text = json.dumps(whole, indent=1, ensure_ascii=False, allow_nan=False)
    write_whole(folder / RESULTS, f"{text}\n".encode())
    document = _document(experiments, list(sections.values()), outcome, made)
    write_whole(folder / PAGE, to_html(document).encode())
    return [verdict for section in sections.values() for verdict in section.verdicts]


def write_findings(name: str, findings: Findings, folder: Path) -> bytes:
    """Write every finding of an experiment as one row of NAME.csv and NAME.parquet; return the CSV."""
    folder.mkdir(parents=True, exist_ok=True)
    columns = tidy(name, findings)
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    content = text.getvalue().encode()
    write_whole(folder / f"{name}.csv", content)
    if find_spec("pyarrow") is not None:
        write_whole(folder / f"{name}.parquet", _parquet(columns))
    return content


def tidy(name: str, findings: Findings) -> dict[str, list[Scalar | None]]:
    """Return the columns of a table with one finding per row: the setting's values, trial, method, measure, value.

    If a value of a setting has the name of one of these columns, its name gets the prefix "setting ".
    """
    names = list(dict.fromkeys(key for setting in findings.settings for key in setting.values))
    titles = {key: f"setting {key}" if key in _OURS else key for key in names}
    columns: dict[str, list[Scalar | None]] = {
        title: [] for title in ("experiment", *titles.values(), "trial", "method", "measure", "value")
    }
    for setting in findings.settings:
        cells = {title: setting.values.get(key) for key, title in titles.items()}
        for number, trial in enumerate(findings.trials.get(setting.key, ())):
            for one in trial:
                row = {**cells, "experiment": name, "trial": number, "method": one.method, "measure": one.measure}
                for title, cell in {**row, "value": one.value}.items():
                    columns[title].append(cell)
    return columns


def _parquet(columns: Mapping[str, Sequence[Scalar | None]]) -> bytes:
    import pyarrow as pa
    from pyarrow import parquet

    buffer = io.BytesIO()
    parquet.write_table(pa.table({name: _one_type(cells) for name, cells in columns.items()}), buffer)
    return buffer.getvalue()


def _one_type(cells: Sequence[Scalar | None]) -> list[Scalar | None]:
    """Return cells as text if some are text, as float64 if some are fractions."""
    kinds = {type(cell) for cell in cells if cell is not None}
    if str in kinds and len(kinds) > 1:
        return [None if cell is None else str(cell) for cell in cells]
    return [None if cell is None else float(cell) for cell in cells] if kinds == {int, float} else list(cells)


def _entry(experiment: Experiment, outcome: Outcome, section: Section, content: bytes) -> dict[str, Any]:
    """Return the entry of an experiment in the JSON."""
    findings = outcome.findings[experiment.name]
    settings = [
        {
            "values": dict(setting.values),
            "trials": setting.trials,
            "measured": sum(bool(trial) for trial in findings.trials.get(setting.key, ())),
        }
        for setting in findings.settings
    ]
    return {
        "title": experiment.title,
        "choices": dict(section.settings),
        "verdicts": [asdict(verdict) for verdict in section.verdicts],
        "settings": settings,
        "findings": f"{FINDINGS}/{experiment.name}.csv",
        "sha256": hashlib.sha256(content).hexdigest(),
        "trials made by": [dict(maker) for maker in outcome.makers[experiment.name]],
    }


def _document(
    experiments: Sequence[Experiment], sections: Sequence[Section], outcome: Outcome, made: Mapping[str, Any]
) -> Document:
    codes = [f"{name} {' and '.join(_states(makers, 'code'))}" for name, makers in outcome.makers.items() if makers]
    made_by = [
        ("Commit", made["commit"] or "not known"),
        ("State of the code", made["code"]),
        ("Seed", str(made["seed"])),
        ("Size", made["size"]),
        *(made["versions"].items()),
        ("Code that the trials reach, when they were made", "; ".join(codes) or "none"),
    ]
    return Document(
        title="The paper's figures and tables, and what we measure",
        summary=(*_outcomes(sections), *_missing(outcome), *_mixtures(experiments, outcome)),
        sections=page_sections(sections),
        made_by=tuple(made_by),
    )


def _mixtures(experiments: Sequence[Experiment], outcome: Outcome) -> Iterator[str]:
    """Yield in words which trials were made with several states of the code and libraries, or not the present one."""
    for experiment in experiments:
        makers = outcome.makers[experiment.name]
        mixed = {name: _states(makers, name) for name in dict.fromkeys(key for maker in makers for key in maker)}
        words = [f"{name} {' and '.join(states)}" for name, states in mixed.items() if len(states) > 1]
        if words:
            yield f"The trials of {experiment.name} are mixed, made in several states: {'; '.join(words)}."
        now = {**versions(), "code": trial_digest(type(experiment))}
        other = [f"{name} {now[name]}" for name in now if makers and makers[-1].get(name) != now[name]]
        if other:
            yield f"The trials of {experiment.name} were not made in the present state, which has {listed(other)}."


def _states(makers: Sequence[Mapping[str, str]], name: str) -> list[str]:
    """Return the distinct states of one thing, in the order in which they made trials."""
    return list(dict.fromkeys(maker.get(name, "unknown") for maker in makers))


def _outcomes(sections: Sequence[Section]) -> list[str]:
    """Return in words how many claims of every section have each outcome."""
    judged = [section for section in sections if section.verdicts]
    words = [f"{section.title.split(':')[0]}: {counted(section.verdicts)}" for section in judged]
    return [f"Claims by their outcomes. {'. '.join(words)}."] if words else []


def _missing(outcome: Outcome) -> list[str]:
    """Return in words what was not measured."""
    words = []
    if outcome.missing:
        words.append(f"Not measured for lack of data: {count(outcome.skipped, 'trial')} on {listed(outcome.missing)}.")
    if outcome.failed:
        names = listed(dict.fromkeys(result.experiment for result in outcome.failed))
        words.append(f"{count(len(outcome.failed), 'trial')} ended with an error and are left out ({names}).")
    return words
