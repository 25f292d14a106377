"""`aclnn-py replay`: a saved failure once more."""

from __future__ import annotations

import sys

import click

from ..status import AclError, LibraryNotFound


@click.command(short_help="make a saved failed call again")
@click.argument("folder", type=click.Path(file_okay=False))
@click.option("--quiet", "-q", is_flag=True, help="only the last line")
def replay(folder: str, quiet: bool) -> None:
    """Makes the call again that aclnn.reproduce saved in FOLDER, and says whether it fails as it did.

    \b
      aclnn-py replay failures/failure-0001
      ACLEMU_SOC=Ascend950PR_9579 aclnn-py replay failures/failure-0001

    On CANN or on the emulator, whichever is in use here. Nothing in the folder is run or unpickled: only
    call.json and arguments.npz are read.

    Exit status 0 if the call returned the saved status code, 1 if it returned another or none, 2 if FOLDER
    is no reproducer or the operator is not there.
    """
    from ..diagnosis.replay import NotAReproducer, Replay

    error: AclError | None = None
    try:
        saved = Replay(folder)
        try:
            saved.run()
        except AclError as caught:
            error = caught
    except (NotAReproducer, LibraryNotFound) as problem:
        click.echo(f"Error: {problem}", err=True)
        sys.exit(2)
    if error is not None and not quiet:
        click.echo(f"{error}\n")
    if error is None:
        told = f"not reproduced: no error, it was {saved.status} {saved.record.get('name', '')}".rstrip()
        if saved.record.get("suspect"):
            told += "; it may have been another call, or the elements, which are zeros here"
        click.echo(told)
    elif error.code == saved.status:
        click.echo(f"reproduced: {saved.record['op']} returned {error.code} {error.name}")
    else:
        click.echo(f"not reproduced: {error.code} {error.name}, it was {saved.status}")
    sys.exit(0 if error is not None and error.code == saved.status else 1)
