"""`python -m aclnn_py` and the command `aclnn-py`."""

import sys


def main() -> None:
    try:
        import click  # noqa: F401
    except ImportError:
        sys.exit("aclnn-py needs the package click: pip install 'click>=8.1'")
    from .cli import cli

    try:
        cli(prog_name="aclnn-py")
    except OSError as problem:  # of --help or --version; the commands' own are told by the group
        sys.exit(f"Error: {problem}")


if __name__ == "__main__":
    main()
