"""`aclnn-py export-opp`: the custom operators as a project for CANN's own build."""

from __future__ import annotations

from pathlib import Path

import click

from .. import opp_export


@click.command(short_help="Write the HcPre operators as a CANN project.")
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--vendor", default="aclnn_py", show_default=True, help="name of the package")
@click.option(
    "--soc",
    default="ascend910b",
    show_default=True,
    help="chip or family to compile for, e.g. Ascend910B3; several with ; between them",
)
def export_opp(folder: Path, vendor: str, soc: str) -> None:
    """Write the HcPre operators as a custom operator project to FOLDER, to be built with CANN.

    FOLDER must not exist or be empty. Its README.md has the three commands to type on a machine with CANN.
    """
    try:
        files = opp_export.export(folder, vendor=vendor, compute_unit=soc)
    except (ValueError, FileExistsError) as problem:
        raise click.UsageError(str(problem)) from problem
    click.echo(f"{len(files)} files in {folder}; go on with {folder / 'README.md'}")
