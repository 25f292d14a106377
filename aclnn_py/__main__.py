"""`python -m aclnn_py` and the command `aclnn-py`."""

import sys


def main() -> None:
    try:
        import click  # noqa: F401
    except ImportError:
        sys.exit("aclnn-py needs the package click: pip install 'click>=8.1'")
    from .cli import cli, discard_output

    status: int | str | None = 0
    try:
        try:
            cli(prog_name="aclnn-py")
        except SystemExit as end:
            status = end.code
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError as problem:  # of --help or --version, or what was still buffered
        discard_output()
        if not status and not isinstance(problem, BrokenPipeError):
            status = f"Error: {problem}"
    sys.exit(status)


if __name__ == "__main__":
    main()
