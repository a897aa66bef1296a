"""Sentences of the page of results say what the numbers are, whichever they are."""

import pandas as pd
import pytest

from benchmarks import conclusions

PRINTED, ENSEMBLE = "ECSELM as printed", "ECSELM, ensemble"


def splits(**means):
    return pd.DataFrame({name: [mean - 0.01, mean + 0.01] for name, mean in means.items()})


@pytest.mark.parametrize(("ours", "text"), [(0.53, "-7.0 to +3.0"), (0.7, "+10.0 to +20.0")])
def test_gains_over_elm_have_their_sign_and_stand_beside_those_of_the_paper(ours, text):
    found = {
        "E": splits(ELM=0.5, **{PRINTED: ours}),
        "W": splits(ELM=0.6, **{PRINTED: ours}),
    }
    first, second = conclusions.gains(lambda _: found)
    assert "The paper: +12.1 to +18.4." in first
    assert second == f"  {PRINTED}: {text}."


def test_standings_count_clear_and_unclear_differences():
    rows = [(PRINTED, 5, -1.0, 0.01), (PRINTED, 2, -0.1, 0.9), (PRINTED, 1, 0.2, 0.2)]
    rows += [(ENSEMBLE, 1, 0.2, 0.001)]
    _, text = conclusions.standings(rows)
    assert text == (
        f"  {PRINTED} is above it in 1 of 3 (0 of them with p below 0.05), below it in 2 (1);\n"
        f"  {ENSEMBLE} is above it in 1 of 1 (1 of them with p below 0.05), below it in 0 (0)."
    )


def test_a_kernel_is_compared_on_the_same_data():
    values = {
        "table-7": {"AR": splits(**{"kernel ECSELM": 0.9}), "other": splits(NN=0.5)},
        "table-6": {"AR": splits(KELM=0.92)},
        "table-11": {},
        "table-10": {},
    }
    (text,) = conclusions.kernels(values.__getitem__)
    assert text.endswith("have 90.00 against 92.00 per cent (accuracy) on AR.")


def test_ranks_are_by_the_lowest_cost_and_the_highest_mean():
    frame = splits(ELM=0.5, W1ELM=0.8, SVC=0.4, **{ENSEMBLE: 0.6})
    assert f"{ENSEMBLE} has rank 3 of 4 (0.600). Of the others SVC" in conclusions.credit(frame)
    text = conclusions.unequal(frame)
    assert f"{ENSEMBLE} has 60.00 (mean rank 2.00)" in text
    assert "W1ELM has the highest mean, 80.00, and W1ELM the best mean rank, 1.00" in text


def test_losses_of_eelm_are_counted_by_errors_where_errors_count():
    values = {
        "table-1": {"E": splits(ELM=0.5, **{"E-ELM": 0.4}), "W": splits(ELM=0.5, **{"E-ELM": 0.6})},
        "table-4": {"E": splits(ELM=0.5, **{"E-ELM": 0.6})},
    }
    (text,) = conclusions.evolved(values.__getitem__, ("table-1", "table-4"))
    assert "in 2 of 3 lines" in text
