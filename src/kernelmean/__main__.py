"""``python -m kernelmean`` is the command ``kernelmean``."""

from .cli import main

if __name__ == "__main__":
    main()
