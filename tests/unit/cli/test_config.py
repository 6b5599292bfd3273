"""--config FILE: options of a file as if they were written out, and what is wrong with a file in one line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kernelmean.cli import app, main

TOML = """
[compare]
a = "wine"
by = "target"
groups = [0, 1]
estimator = "kme"
resamples = 199
columns = ["alcohol", "malic_acid"]
scale = false
json = "file.json"

[dependence]
estimator = "kme"
x = "alcohol"
"""
WORDS = (
    *("compare", "wine", "--by", "target", "--groups", "0,1", "--estimator", "kme", "--resamples", "199"),
    *("--columns", "alcohol,malic_acid", "--no-scale"),
)


def call(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[Any, str, str]:
    with pytest.raises(SystemExit) as exit_:
        main(words)
    return (exit_.value.code, *capsys.readouterr())


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "kernelmean.toml").write_text(TOML)
    return tmp_path


def test_a_file_says_what_the_command_line_would(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = call(capsys, "compare", "--config", "kernelmean.toml")
    written = call(capsys, *WORDS)
    assert (code, err) == (0, "")
    note = (
        "  note: kernelmean.toml sets, unless the command line does: a, by, groups,\n"
        "    estimator, resamples, columns, scale, json\n"
    )
    assert out.replace(note, "") == written[1]
    assert note in out
    assert json.loads((folder / "file.json").read_text())["notes"][0].startswith("kernelmean.toml sets")


def test_the_command_line_wins(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ("--resamples", "99", "--columns", "ash", "--scale", "--json", "-")
    code, out, _ = call(capsys, "compare", "--config", "kernelmean.toml", *words)
    found = json.loads(out)
    assert code == 0
    assert [column["name"] for column in found["columns"]] == ["ash"]
    assert found["n_resamples"] < 199
    assert found["names"] == ["target=0", "target=1"]
    assert not (folder / "file.json").exists()


def test_tables_and_lists_are_the_commas_and_equals_signs_of_the_command_line(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [f"{size},{'' if k % 5 == 0 else k % 11},{k % 3}" for k, size in enumerate(["low", "mid", "high"] * 8)]
    for name in ("one", "two"):
        (folder / f"{name}.csv").write_text("\n".join(["size,age,b", *rows[:: 1 if name == "one" else -1]]) + "\n")
    (folder / "a.toml").write_text(
        '[compare]\nordinal = {size = ["low", "mid", "high"]}\nmissing = {age = "drop"}\nmax_rows = 20\nquiet = true\n'
    )
    words = ("compare", "one.csv", "two.csv", "--estimator", "kme", "--resamples", "99", "--json", "-")
    options = ("--ordinal", "size=low,mid,high", "--missing", "age=drop", "--max-rows", "20")
    of_file, written = (json.loads(call(capsys, *words, *rest)[1]) for rest in (("--config", "a.toml"), options))
    assert of_file.pop("notes")[1:] == written.pop("notes")
    assert of_file == written
    assert {column["name"]: column["kind"] for column in of_file["columns"]}["size"] == "ordinal"


def test_pyproject(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = TOML.replace("[compare]", "[tool.kernelmean.compare]").replace(
        "[dependence]", "[tool.kernelmean.dependence]"
    )
    (folder / "pyproject.toml").write_text('[project]\nname = "mine"\n' + text)
    assert call(capsys, "compare", "--config", "pyproject.toml")[:1] == (0,)
    (folder / "pyproject.toml").write_text('[project]\nname = "mine"\n')
    code, out, err = call(capsys, "compare", "--config", "pyproject.toml")
    assert (code, out) == (2, "")
    assert "no table [tool.kernelmean.COMMAND]" in err


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[compare]\nresample = 9", "[compare] has no option 'resample' (did you mean 'resamples'?)"),
        ("[dependence]\nplots = 'a'\n[compare]", "[dependence] has no option 'plots' (did you mean 'plot'?)"),
        ("[compair]\nseed = 1", "'compair' is no command (did you mean 'compare'?)"),
        ("seed = 1", "'seed' is no command"),
        ("compare = 1", "compare is 1; write a table"),
        ("[dependence]\nseed = 1", "has no table [compare], it has [dependence]"),
        ("", "has no table [compare], it has none"),
        ("[compare]\nresamples = 'many'", "Invalid value for '--resamples'"),
        ("[compare]\nresamples = 'many'", "(from bad.toml)"),
        ("[compare]\nresamples = true", "resamples is True; write text or a number"),
        ("[compare]\nquiet = 'yes'", "quiet is 'yes'; write true or false"),
        ("[compare]\ngroups = [2020-01-01]", "groups holds datetime.date(2020, 1, 1); write text or a number"),
        ("[compare]\nseed = -1", "Invalid value for '--seed'"),
        ("[compare\n", "is not a TOML file"),
        ("[compare]\nconfig = 'x'", "no option 'config'"),
    ],
)
def test_what_is_wrong_with_a_file_is_one_line(
    folder: Path, capsys: pytest.CaptureFixture[str], text: str, message: str
) -> None:
    (folder / "bad.toml").write_text(text)
    code, out, err = call(capsys, "compare", "wine", "--config", "bad.toml")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert message in err


def test_no_file_a_folder_and_no_text(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "binary.toml").write_bytes(bytes(range(256)))
    for name, message in (("gone.toml", "No such file"), (".", "directory"), ("binary.toml", "not a TOML file")):
        code, out, err = call(capsys, "compare", "--config", name)
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert message in err


def test_every_option_of_every_command_has_a_key_of_its_own(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The file is for another command than the one that runs."""
    from typer.main import get_command

    def refusal(command: str, key: str) -> str:
        other = "dependence" if command == "compare" else "compare"
        (folder / "bad.toml").write_text(f"[{command}]\n{key} = 1\n")
        return call(capsys, other, "wine", "--config", "bad.toml")[2]

    for name, command in get_command(app).commands.items():  # type: ignore[attr-defined]
        params = [param for param in command.params if param.name not in ("config", "help")]
        keys = [max(param.opts, key=len).lstrip("-").replace("_", "-") for param in params]
        assert len({*keys}) == len(keys) > 0, name
        assert all(f"no option '{key}'" not in refusal(name, key) for key in keys)
        for key in ("html-path", "json-path", "plot-path", "config", "help"):
            assert f"[{name}] has no option {key!r}" in refusal(name, key)
