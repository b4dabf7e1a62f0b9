"""What methods computed and scored before, stored, and the decision whether code still does."""
