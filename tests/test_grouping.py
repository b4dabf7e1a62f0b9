from benchsuite.grouping import by_key


def test_keys_and_values_keep_their_order() -> None:
    found = by_key((word[0], word) for word in ("pear", "apple", "plum", "pear"))
    assert list(found.items()) == [("p", ["pear", "plum", "pear"]), ("a", ["apple"])]
