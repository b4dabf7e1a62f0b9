from pathlib import Path

import pytest

from benchsuite.data.real.youcook2 import Step, read_clips
from benchsuite.errors import UsageError

FILE = Path(__file__).parents[2].parent / "shared" / "data" / "youcook2" / "validation_youcook.csv"
TEXT = "end,start,task,text,video_id\n60,47,226,pick the ends,xHr\n89,67,226,combine,xHr\n"


def test_the_real_file_has_the_clips_and_texts_that_are_reported_on() -> None:
    if not FILE.is_file():
        pytest.skip(f"{FILE} is not here: the shared data is not part of the repository")
    clips = read_clips(FILE)
    assert len(clips) == 3350
    assert len({clip.text for clip in clips}) == 3273
    assert clips[0] == Step("xHr8X2Wpmno", 47, 60, "pick the ends off the verdalago")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (TEXT.replace("text", "txt"), 'there is no column "text" .*Did you mean "txt"'),
        (TEXT.splitlines()[0], "no clips below the header"),
        (TEXT.replace("combine", ""), "row 3: the video or its caption is empty"),
        (TEXT.replace("47", "late"), "row 2: start and end must be seconds"),
        (TEXT.replace("47", "61"), "row 2: a clip cannot run from 61 to 60 seconds"),
        (TEXT.replace("47", "nan"), "row 2: a clip cannot run from nan"),
        (TEXT + "60\n", "row 4: start and end must be seconds"),
    ],
)
def test_a_file_that_cannot_be_used_is_refused_by_name_and_row(text: str, says: str, tmp_path: Path) -> None:
    (tmp_path / "clips.csv").write_text(text, "utf-8")
    with pytest.raises(UsageError, match=rf"clips\.csv.*{says}"):
        read_clips(tmp_path / "clips.csv")


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="nowhere"):
        read_clips(tmp_path / "nowhere.csv")
