"""Whether a table can be run at its scales, found out without any data: every name in it, against what there is."""

from benchsuite.errors import UsageError
from benchsuite.methods import create_method
from benchsuite.papers import Table
from benchsuite.planning.columns import measured_columns
from benchsuite.planning.recipe import read_recipe
from benchsuite.planning.resolve import resolve_method
from benchsuite.training.needs import require_served


def check_scale(table: Table, scale: str) -> None:
    """Refuse a table with a method, hyper-parameter, backbone, variant, task or metric that does not exist."""
    recipe = read_recipe(table.recipes[scale])
    measured_columns(table, recipe)
    for row in table.rows:
        if row.method is None or recipe.lacks(row.backbone, row.variant):
            continue
        for part in table.all_parts.values():
            if recipe.lacks(part.variant):
                continue
            try:
                under = recipe.setup(row.backbone, (row.variant, part.variant))
                method = resolve_method(row.method, row.options(part), under.temperature_factor)
                require_served(create_method(method.name, num_samples=1, **method.hyperparameters), under)
            except UsageError as error:
                raise UsageError(f'{table.name} at scale {scale}, row "{row.name}": {error}') from error
