"""The benchmark of partly known costs measures what it says; no speed is asserted."""

from benchmarks.half_known_costs import FIVE, main


def test_all_ratios_are_printed(capsys):
    main(["--rows", "400", "--rounds", "2"])
    printed = capsys.readouterr().out
    assert printed.count("answers, settled, regret") == 2
    assert printed.count("possible answers") == 2


def test_five_classes_have_twelve_constraints():
    assert len(FIVE) == 12
