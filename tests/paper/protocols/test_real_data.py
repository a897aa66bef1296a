from ecselm.paper.protocols import QUICK, reproduce
from ecselm.paper.protocols.items import find_item
from ecselm.paper.protocols.reproduction import plan_item

PUBLIC = {
    "table-2": ["Facial (G), E: SCUT AF, geometric", "Facial (A), W: SCUT AM, appearance"],
    "table-6": ["AR: Olivetti faces"],
    "table-8": ["LFW, LBP"],
    "table-10": ["E-NOSE: gas batch 1"],
}


def test_public_data_are_taken_where_the_data_of_the_paper_are_not(data_folder, monkeypatch):
    monkeypatch.setenv("ECSELM_DATA", str(data_folder))
    for name, labels in PUBLIC.items():
        origins = {job.info.label: job.info.origin for job in plan_item(find_item(name), QUICK, 0)}
        assert [origins[label] for label in labels] == ["public"] * len(labels)


def test_gases_are_recognised(data_folder, monkeypatch, tmp_path):
    monkeypatch.setenv("ECSELM_DATA", str(data_folder))
    numbers = reproduce("table-11", tmp_path, budget=QUICK).table.numbers
    rates = numbers[numbers["metric"] == "trr"].set_index("method")["mean"]
    assert rates["SVM"] > 0.8
    assert rates["ECSELM, ensemble"] > 0.8
    assert rates["ECSELM, one layer, validation fitness"] > 0.8
