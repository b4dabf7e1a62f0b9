from benchsuite.grouping import by_key


def test_keys_and_values_keep_their_order() -> None:
    found = by_key((word[0], word) for word in ("plum", "apple", "pear", "plum", "pea"))
    assert list(found.items()) == [("p", ["plum", "pear", "plum", "pea"]), ("a", ["apple"])]
