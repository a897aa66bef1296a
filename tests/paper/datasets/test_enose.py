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


@pytest.mark.parametrize(
    ("rows", "header", "sentence"),
    [
        (ROWS[1:], HEADER, "column gas: must have 188 rows of HCHO, got 187"),
        (["H2O,1,2,3,4,5,6"], HEADER, "line 2: gas must be one of HCHO"),
        (["CO,1,2,3"], HEADER, "line 2: must have 7 fields, got 4"),
        (ROWS, "gas,a,b,c,d,e,f\n", "line 1: must be gas,s1,s2,s3,s4,s5,s6"),
    ],
)
def test_other_sizes_and_forms_are_refused(put, rows, header, sentence):
    put(rows, header)
    with pytest.raises(ValueError, match=rf"enose\.csv, {sentence}"):
        load_enose()


def test_missing_file_says_how_to_write_it(folder):
    with pytest.raises(FileNotFoundError, match=r"enose\.csv is missing.*load_enose says how"):
        load_enose()
