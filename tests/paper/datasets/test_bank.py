import gzip

import numpy as np
import pytest

from ecselm.costs import parse_sample_cost
from ecselm.paper.datasets import load_bank_marketing, uci
from ecselm.paper.datasets.uci import BANK_HEADER
from tests.paper.datasets.conftest import truncate

FIRST = '58;"management";"married";"tertiary";"no";2143;"yes";"no";"unknown";5;"may";261;1;-1;0;'
LAST = '"unknown";'


def table(*balances, header=BANK_HEADER):
    rows = [
        FIRST.replace("2143", balance) + f'{LAST}"{"yes" if i % 2 else "no"}"'
        for i, balance in enumerate(balances)
    ]
    return "\n".join([";".join(f'"{name}"' for name in header), *rows])


@pytest.fixture
def put(write, monkeypatch):
    """Write a table that may be of any length."""

    def written(text, n_rows=None):
        monkeypatch.setattr(uci, "BANK_ROWS", text.count("\n") if n_rows is None else n_rows)
        return write("bankmarketing_example_costs", "bankmarketing.csv.gz", text)

    return written


def test_costs_follow_the_recipe_row_by_row(put):
    put(table("2000", "1000", "0", "-5", "3", "10"))
    data = load_bank_marketing()
    assert data.y.tolist() == [0, 1, 0, 1]
    missed = 0.25 * 0.02463333 * 1000
    np.testing.assert_allclose(data.sample_cost, [[0, 1], [missed, 1], [0, 1], [1, 1]])


def test_costs_have_the_form_the_package_takes(put):
    put(table("2000", "1000"))
    data = load_bank_marketing()
    costs = parse_sample_cost(data.sample_cost, data.y, data.classes, "samples")
    assert costs.terms(data.y).kind == "example"


def test_columns_known_after_the_call_are_dropped(put):
    put(table("2000", "1000"))
    read = {name.split("=")[0] for name in load_bank_marketing().feature_names}
    assert not read & {"duration", "contact", "day", "month", "campaign", "y"}
    assert len(read) == 11


def test_rows_are_encoded_alike_whatever_names_occur_in_them(put):
    put(table("2000"))
    assert load_bank_marketing().X.shape == (1, 33)


def test_damaged_files_are_refused(put):
    put(table("2000", "much"))
    with pytest.raises(ValueError, match="line 3, balance: must be a number, got 'much'"):
        load_bank_marketing()
    put(table("2000", header=("years", *BANK_HEADER[1:])))
    with pytest.raises(ValueError, match=r"bankmarketing\.csv\.gz, line 1: must be age;job"):
        load_bank_marketing()
    put(table("2000", "1;2"))
    with pytest.raises(ValueError, match="line 3: must have 17 fields, got 18"):
        load_bank_marketing()
    put(table("2000", "1000").replace("married", "maried"))
    with pytest.raises(ValueError, match="line 2: marital must be one of divorced, married"):
        load_bank_marketing()
    put(table("2000"), n_rows=45211)
    with pytest.raises(ValueError, match=r"bankmarketing\.csv\.gz must hold 45211 rows, got 1"):
        load_bank_marketing()
    truncate(put(table("2000", "1000")))
    with pytest.raises(ValueError, match="is damaged or truncated"):
        load_bank_marketing()


def test_file_without_customers_who_have_money_is_refused(put):
    put(table("0", "-3"))
    with pytest.raises(ValueError, match="must hold rows with a balance > 0"):
        load_bank_marketing()


def test_real_costs_and_counts(data_folder):
    data = load_bank_marketing(data_folder)
    with gzip.open(data_folder / "bankmarketing_example_costs/bankmarketing.csv.gz", "rt") as lines:
        balance = [int(line.split(";")[5]) for line in list(lines)[1:]]
    assert len(balance) == 45211
    assert data.X.shape == (sum(b > 0 for b in balance), 33)
    assert data.counts.tolist() == [33144, 4787]
    assert data.sample_cost[data.y == 0].tolist() == [[0.0, 1.0]] * 33144
    assert data.sample_cost[data.y == 1, 0].min() == 1.0
