"""The regression gate: stored values of every method, and the decision whether code still gives them."""
