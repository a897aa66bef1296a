import numpy as np
import pytest

from ecselm.paper.datasets import load_enose
from ecselm.paper.datasets.gases import GAS_COUNTS, GASES

HEADER = "gas,s1,s2,s3,s4,s5,s6\n"
ROWS = [f"{gas},1,2,3,4,5,{i}" for gas, n in zip(GASES, GAS_COUNTS, strict=True) for i in range(n)]


@pytest.fixture
def put(write):
    return lambda rows, header=HEADER: write("enose", "enose.csv", header + "\n".join(rows))


def test_gases_are_counted_in_the_order_of_the_paper(put):
    put(ROWS[::-1])
    data = load_enose()
    assert data.counts.tolist() == [188, 72, 66, 58, 60, 38]
    assert data.class_names == ("HCHO", "C6H6", "C7H8", "CO", "NH3", "NO2")
    np.testing.assert_array_equal(data.X[0], [1, 2, 3, 4, 5, 37])


@pytest.mark.parametrize("rows", [ROWS[1:], ROWS[::6]])
def test_other_numbers_of_rows_are_own_data(put, rows):
    put([*rows, ""])
    data = load_enose()
    assert (data.name, data.own, len(data.y)) == ("own gases", True, len(rows))
    assert data.source.startswith("Own data of enose/enose.csv, in the layout of E-NOSE")


def test_rows_may_be_announced_whatever_the_line_ends(put):
    for end in ("\n", "\r\n"):
        put([], f"# rows: {len(ROWS)}{end}{HEADER.strip()}{end}{end.join(ROWS)}{end}")
        assert not load_enose().own
    put([*ROWS[::6], ""], f"# rows: {len(ROWS[::6])}\n{HEADER}")
    assert load_enose().own


@pytest.mark.parametrize("lost", range(1, 40))
def test_own_file_cut_off_in_the_middle_of_a_line_is_refused(put, lost):
    whole = "\n".join(ROWS[::6]) + "\n"
    cut = whole[:-lost]
    if not cut.endswith("\n"):
        put([cut])
        with pytest.raises(ValueError, match=r"line 8\d"):
            load_enose()
    put([cut], f"# rows: {len(ROWS[::6])}\n{HEADER}")
    with pytest.raises(ValueError, match=r"enose\.csv"):
        load_enose()


@pytest.mark.parametrize(
    ("rows", "header", "sentence"),
    [
        (ROWS[1:], HEADER, "line 482: must end with a line break"),
        (ROWS[186:], HEADER, "column gas: must have 3 rows of HCHO or more, got 2"),
        (ROWS, "# rows: 481\n" + HEADER, r"must hold 481 rows, got 482"),
        (ROWS, "# lines: 482\n" + HEADER, "line 1: a comment must read '# rows: <number>'"),
        (["CO,1,2,3"], "# rows: 1\n" + HEADER, "line 3: must have 7 fields, got 4"),
        (["H2O,1,2,3,4,5,6"], HEADER, "line 2: gas must be one of HCHO"),
        (["CO,1,2,3"], HEADER, "line 2: must have 7 fields, got 4"),
        (ROWS, "gas,a,b,c,d,e,f\n", "line 1: must be gas,s1,s2,s3,s4,s5,s6"),
    ],
)
def test_other_forms_and_files_cut_off_are_refused(put, rows, header, sentence):
    put(rows, header)
    with pytest.raises(ValueError, match=rf"enose\.csv,? {sentence}"):
        load_enose()


def test_missing_file_says_how_to_write_it(folder):
    with pytest.raises(FileNotFoundError, match=r"enose\.csv is missing.*load_enose says how"):
        load_enose()
