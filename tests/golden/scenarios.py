"""What people type, by scenario: command lines that run one after the other in one folder."""

SMALL = "--hidden 10 --epochs 2 --population 5"
STREAM = "--stream --block-rows 200 --sample 300"
TWO = f"ecselm fit two.csv --target state {SMALL}"
THREE = f"ecselm fit three.csv --target kind {SMALL}"
VERBS = (
    "demo", "fit", "predict", "evaluate", "report", "export", "methods", "reproduce", "bench",
    "audit",
)  # fmt: skip

SCENARIOS = {
    "help": [
        "ecselm",
        "ecselm --help",
        "ecselm --version",
        *(f"ecselm {verb} --help" for verb in VERBS),
    ],
    "methods": [
        "ecselm methods",
        "ecselm methods regression",
        "ecselm methods pairs --json",
        "ecselm methods painting",
    ],
    "two_classes": [
        f"{TWO} --report page.html",
        "ecselm predict model.skops two_new.csv",
        "ecselm predict model.skops two_new.csv -o answers.csv",
        "ecselm evaluate model.skops two_new.csv",
        "ecselm evaluate model.skops two_new.csv --json",
    ],
    "order": [
        f"{TWO} --metric gmean --worse 'ill->well > well->ill' -o order.skops",
        "ecselm report order.skops",
        "ecselm predict order.skops two_new.csv",
    ],
    "cost_number": [
        f"{TWO} --cost 'ill->well=10' --report page.html",
        "ecselm evaluate model.skops two_new.csv",
        f"{TWO} --cost ill=5 --cost well=1 --metric f1_macro --json",
    ],
    "cost_interval": [
        f"{TWO} --cost-between 'ill->well=2..20' --metric gmean",
        f"{TWO} --cost-between 'ill->well=4..' --metric matthews_corrcoef --json",
        f"{TWO} --metric mean_cost",
    ],
    "three_classes": [
        f"{THREE} --metric f1_macro --report page.html",
        "ecselm predict model.skops three_new.csv",
        "ecselm evaluate model.skops three_new.csv",
    ],
    "three_order": [
        f"{THREE} --worse 'weiß->rot > rot->weiß > rosé->rot'",
        "ecselm report model.skops --json",
    ],
    "three_intervals": [f"{THREE} --cost-between weiß=2..3 --cost rot=1 --metric accuracy"],
    "cost_table": [
        f"{THREE} --cost costs.csv --report page.html",
        "ecselm evaluate model.skops three_new.csv --json",
        f"{THREE} --cost costs_open.csv --metric gmean",
    ],
    "mixed_columns": [
        f"ecselm fit visits.csv --target state {SMALL} --report page.html",
        "ecselm predict model.skops visits_new.csv",
        "ecselm export model.skops model.onnx",
    ],
    "groups": [
        f"ecselm fit visits.csv --target state --groups person --held-out 0.4 {SMALL}",
    ],
    "decimal_commas": [
        f"ecselm fit german.csv --target Zustand {SMALL}",
        "ecselm predict model.skops two_new.csv",
    ],
    "numbered_classes": [
        f"ecselm fit numbered.csv --target state --worse '1->0 > 0->1' {SMALL}",
        "ecselm predict model.skops two_new.csv",
        "ecselm evaluate model.skops numbered.csv",
    ],
    "numbers": [
        f"ecselm fit ages.csv --target age {SMALL} --report page.html",
        "ecselm predict model.skops ages_new.csv",
        "ecselm evaluate model.skops ages_new.csv",
        "ecselm export model.skops model.onnx",
    ],
    "grades": [
        f"ecselm fit ages.csv --target grade {SMALL} --report page.html",
        f"ecselm fit ages.csv --target grade --task numbers {SMALL}",
        "ecselm evaluate model.skops ages_new.csv --json",
    ],
    "wide_and_rare": [
        f"ecselm fit wide.csv --target '<b>klasse</b>' {SMALL} --report page.html",
    ],
    "searches": [
        "ecselm fit two.csv --target state --hidden 25 --epochs 4 --population 8 --seed 3",
        f"{TWO} --jobs 2 --max-time 1000 --seed 4",
        "ecselm fit two.csv --target state --hidden 12 --epochs 0",
        f"{TWO} -o model.txt",
    ],
    "checkpoint": [
        f"{TWO} --checkpoint search.npz --json",
        f"{TWO} --checkpoint search.npz --json",
    ],
    "formats": [
        f"ecselm fit two.parquet --target state {SMALL} -o parquet.skops",
        "ecselm predict parquet.skops two_new.csv -o answers.parquet",
        f"ecselm fit two.arrow --target state {SMALL} -o arrow.skops",
        f"ecselm fit two.arff --target state {SMALL} -o arff.skops",
        f"ecselm fit two.libsvm --target target {SMALL} -o libsvm.skops",
    ],
    "stream_csv": [
        f"ecselm fit big.csv --target state {STREAM} {SMALL} --report page.html",
        "ecselm predict model.skops two_new.csv --stream --block-rows 15",
        "ecselm evaluate model.skops two_new.csv",
    ],
    "stream_parquet": [
        f"ecselm fit big.parquet --target state {STREAM} {SMALL} --worse 'ill->well > well->ill'",
        "ecselm predict model.skops two.parquet --stream --block-rows 70 -o answers.parquet",
        f"ecselm fit big.parquet --target state --stream {SMALL} --json",
    ],
    "stream_mixed": [
        f"ecselm fit big_visits.csv --target state --groups person {STREAM} {SMALL}",
        "ecselm predict model.skops visits_new.csv --stream -o answers.csv",
    ],
    "stream_numbers": [
        f"ecselm fit big_ages.parquet --target age {STREAM} {SMALL}",
        "ecselm predict model.skops ages_new.csv --stream --block-rows 10",
    ],
    "export": [
        TWO,
        "ecselm export model.skops model.onnx",
        f"{THREE} --cost costs.csv",
        "ecselm export model.skops three.onnx",
    ],
    "pickle": [
        f"{TWO} -o model.pickle --pickle",
        "ecselm report model.pickle",
        "ecselm report model.pickle --pickle --json",
        "ecselm predict model.pickle two_new.csv --pickle",
    ],
    "demo": ["ecselm demo"],
    "reproduce_table_1": ["ecselm reproduce --quick table-1"],
    "reproduce": [
        "ecselm reproduce --quick table-11",
        "ecselm reproduce --quick figure-8",
        "ecselm reproduce --quick table-11",
    ],
    "refused_tables": [
        *(
            f"ecselm fit {name} --target state"
            for name in (
                "empty.csv", "header.csv", "ragged.csv", "one_class.csv", "binary.csv",
                "doubled.csv", "damaged.parquet", "table.xlsx", "towo.csv", "nowhere/two.csv",
            )
        ),
        "ecselm fit named.csv --target name",
        "ecselm fit named.csv --target size --task classes",
    ],
    "refused_options": [
        "ecselm fit two.csv",
        "ecselm fit two.csv --target State",
        "ecselm fit two.csv --target nothing",
        *(
            f"{TWO} {options}"
            for options in (
                "--metric g_mean", "--metric nonsense", "--metric r2", "--task pictures",
                "--groups nobody", "--groups state", "--held-out 1", "--hidden 0", "--epochs -1",
                "--population 0", "--max-time 0", "--jobs 0", "--seed -1", "--hidden many",
                "--sample 9", "--stream --block-rows 0", "-o two.csv", "-o nowhere/model.skops",
                "--report nowhere/page.html", "--checkpoint model.skops",
            )
        ),
    ],
    "refused_costs": [
        *(
            f"{TWO} {options}"
            for options in (
                "--cost 'ill->well=5' --cost 'ill->well=6'",
                "--cost 'ill->well=1' --cost 'well->ill=2' --worse 'ill->well > well->ill'",
                "--worse 'ill->well > well->ill' --worse 'well->ill > ill->well'",
                "--worse 'ill->well > ill->well'",
                "--worse 'ill->well'",
                "--cost-between 'ill->well=20..2'",
                "--cost-between 'ill->well=2..20' --cost 'ill->well=30'",
                "--cost 'il->well=5'",
                "--cost 'ill->ill=5'",
                "--cost 'ill->well=-1'",
                "--cost 'ill->well=dear'",
                "--cost nowhere.csv",
            )
        ),
        f"{THREE} --cost costs_short.csv",
        f"{THREE} --cost costs_negative.csv",
        f"{THREE} --cost costs.csv -o costs.csv",
        f"ecselm fit ages.csv --target age --cost 'a->b=2' {SMALL}",
    ],
    "refused_models": [
        TWO,
        "ecselm predict modle.skops two_new.csv",
        "ecselm predict two.csv two_new.csv",
        "ecselm predict model.skops twonew.csv",
        "ecselm predict model.skops short_new.csv",
        "ecselm predict model.skops words_new.csv",
        "ecselm predict model.skops words_new.csv --stream --block-rows 1",
        "ecselm predict model.skops two_new.csv --block-rows 5",
        "ecselm predict model.skops two_new.csv -o answers.xlsx",
        "ecselm predict model.skops two_new.csv -o model.skops",
        "ecselm evaluate model.skops short_new.csv",
        "ecselm evaluate model.skops ages.csv",
        "ecselm evaluate model.skops numbered.csv",
        "ecselm report model.skops -o nowhere/page.html",
        "ecselm export model.skops model.skops",
        "ecselm export two.csv model.onnx",
    ],
    "refused_streams": [
        *(
            f"ecselm fit {name} --target state --stream {SMALL}"
            for name in (
                "empty.csv", "header.csv", "ragged.csv", "one_class.csv", "damaged.parquet",
                "two.arff", "towo.csv",
            )
        ),
        f"ecselm fit big.csv --target State {STREAM}",
        f"ecselm fit big.csv --target state {STREAM} --cost 'ill->wel=3'",
        f"ecselm fit big.csv --target state {STREAM} --sample 1",
    ],
    "refused_runs": [
        "ecselm predit model.skops two.csv",
        "ecselm --verbose",
        "ecselm reproduce table-15",
        "ecselm reproduce table-11 --jobs 0",
        "ecselm reproduce --quick credit",
        "ecselm bench keel --methods ELM,ELMO",
        "ecselm bench minority --half development",
        "ecselm bench lfw",
        "ecselm audit --jobs 0",
        "ecselm audit --data scut",
    ],
}  # fmt: skip

# Pages and refusals of argparse, which words them otherwise in other releases of Python.
OF_ARGPARSE = {"help", "refused_options", "refused_runs"}
