"""What multi-instance retrieval keeps of a tiny ranking."""

import numpy as np

FILMS = {
    "levels": np.array([1, 2]),
    "v2t_relevant": np.array([1, 1, 0, 1]),
    "v2t_gains": np.array([2, 1, 0]),
    "v2t_ranks": np.array([1, 2]),
    "v2t_sums": np.array([2, 2]),
    "t2v_relevant": np.array([0, 1, 1, 1]),
    "t2v_gains": np.array([2, 2, 1]),
    "t2v_ranks": np.array([1, 1]),
    "t2v_sums": np.array([2, 2]),
}
"""Two clips and two sentences of relevancies [[2, 1], [0, 2]] / 2; the second clip finds the wrong sentence first."""
