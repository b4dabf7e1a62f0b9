"""From a table, or a method and a recipe, to runs with identities: recipes, rows, regimes, data folders, searches."""
