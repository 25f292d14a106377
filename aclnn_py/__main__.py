"""`python -m aclnn_py` and the command `aclnn-py`."""

import sys


def main() -> None:
    try:
        import click  # noqa: F401
    except ImportError:
        sys.exit("aclnn-py needs the package click: pip install 'click>=8.1'")
    from .cli import cli

    cli(prog_name="aclnn-py")


if __name__ == "__main__":
    main()
