"""The recorded calls, one module for each group; importing this package registers all of them."""

from importlib import import_module
from pathlib import Path

for path in sorted(Path(__file__).parent.glob("[a-z]*.py")):
    import_module(f"{__name__}.{path.stem}")
