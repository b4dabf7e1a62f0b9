"""From a table and a scale to finished runs: recipes, plans, execution."""
