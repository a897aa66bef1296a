"""Small tables for the scenarios: drawn once, rounded, and so the same on every machine."""

import numpy as np
import pandas as pd


def two_classes(n=160, seed=0):
    """Return patients of whom a quarter is ill, in words, with some chance to be wrong."""
    rng = np.random.default_rng(seed)
    ill = rng.random(n) < 0.27
    frame = _measured(rng, n, ["pressure", "pulse", "weight"], shift=np.outer(ill, [1.3, 0.8, 0.0]))
    return frame.assign(state=np.where(ill, "ill", "well"))


def three_classes(n=180, seed=1):
    """Return wines of three kinds, one of them rare, whose names are no ASCII."""
    rng = np.random.default_rng(seed)
    kind = rng.choice(3, n, p=[0.5, 0.35, 0.15])
    centres = np.array([[0.0, 0.0, 0.0, 0.0], [1.6, 0.4, 0.0, 0.3], [0.7, 1.8, -0.9, 0.0]])
    frame = _measured(rng, n, ["acid", "sugar", "ash", "colour"], shift=centres[kind])
    return frame.assign(kind=np.array(["rot", "weiß", "rosé"])[kind])


def visits(n=160, seed=2):
    """Return rows with dates, places, gaps, yes or no, a constant and the person they are of."""
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 90, n)
    days = pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 300, n), "D")
    place = rng.choice(["Köln", "日本", "Paris, 3e"], n, p=[0.5, 0.2, 0.3])
    risk = (age - 55) / 15 + (place == "Köln") + rng.normal(size=n)
    frame = pd.DataFrame(
        {
            "seen": days.strftime("%Y-%m-%d"),
            "place": place,
            "age": age.astype(float),
            "smokes": rng.choice(["yes", "no", ""], n),
            "clinic": "north",
            "person": rng.integers(0, n // 3, n),
            "state": np.where(risk > 0.6, "krank", "gesund"),
        }
    )
    frame.loc[::7, "age"] = np.nan
    frame.loc[3::11, "place"] = ""
    return frame


def ages(n=150, seed=3):
    """Return rows with a number to predict, and the same as a grade from 1 to 5."""
    rng = np.random.default_rng(seed)
    frame = _measured(rng, n, ["wrinkles", "grey", "noise"])
    age = 45 + 12 * frame["wrinkles"] + 6 * np.abs(frame["grey"]) + 3 * rng.normal(size=n)
    grade = np.clip(np.round(age / 15), 1, 5).astype(int)
    return frame.assign(age=np.round(age, 1), grade=grade)


def wide(n=90, seed=4):
    """Return many columns, one that gives the answer away, a class of 3 rows, names in markup."""
    rng = np.random.default_rng(seed)
    frame = _measured(rng, n, [f"x{i}" for i in range(40)])
    kind = np.where(frame["x0"] + 0.5 * frame["x1"] > 0, "<i>ja</i>", "nein & nie")
    kind[[5, 17, 40]] = "selten"
    codes = np.unique(kind, return_inverse=True)[1]
    return frame.assign(answer=codes * 10, **{"<b>klasse</b>": kind})


def write_tables(folder):
    """Write all tables of the scenarios into a folder."""
    _write(two_classes(), folder / "two.csv")
    _write(two_classes(40, seed=10), folder / "two_new.csv")
    _write(three_classes(), folder / "three.csv")
    _write(three_classes(30, seed=11), folder / "three_new.csv")
    _write(visits(), folder / "visits.csv")
    new = visits(30, seed=12).drop(columns="state")
    new.loc[0, "place"] = "Berlin"
    new.loc[1, ["seen", "place", "smokes"]] = ""
    _write(new[new.columns[::-1]].assign(more="x"), folder / "visits_new.csv")
    _write(ages(), folder / "ages.csv")
    _write(ages(25, seed=13), folder / "ages_new.csv")
    _write(wide(), folder / "wide.csv")
    german = two_classes().rename(columns={"state": "Zustand"})
    german.to_csv(folder / "german.csv", index=False, sep=";", decimal=",", lineterminator="\n")
    numbered = two_classes()
    _write(numbered.assign(state=(numbered["state"] == "ill") * 1), folder / "numbered.csv")
    two_classes().to_parquet(folder / "two.parquet")
    two_classes().to_feather(folder / "two.arrow")
    _write(two_classes(900, seed=5), folder / "big.csv")
    two_classes(900, seed=5).to_parquet(folder / "big.parquet", row_group_size=250)
    _write(visits(600, seed=6), folder / "big_visits.csv")
    ages(600, seed=7).to_parquet(folder / "big_ages.parquet")
    _write_other_formats(folder)
    _write_costs(folder)
    _write_damaged(folder)


def _measured(rng, n, names, shift=0.0):
    return pd.DataFrame(np.round(rng.normal(size=(n, len(names))) + shift, 3), columns=names)


def _write(frame, path):
    frame.to_csv(path, index=False, lineterminator="\n")


def _write_other_formats(folder):
    frame = two_classes(80)
    names, rows = frame.columns[:-1], frame.to_numpy()
    head = ["@relation patients", *(f"@attribute {name} numeric" for name in names)]
    head += ["@attribute state {ill,well}", "@data"]
    lines = [",".join(map(str, row)) for row in rows]
    (folder / "two.arff").write_text("\n".join([*head, *lines, ""]))
    lines = [
        f"{1 if state == 'ill' else -1} " + " ".join(f"{i + 1}:{x}" for i, x in enumerate(row))
        for *row, state in rows
    ]
    (folder / "two.libsvm").write_text("\n".join([*lines, ""]))


def _write_costs(folder):
    texts = {
        "costs.csv": ",weiß,rot,rosé\nweiß,0,1,2\nrot,3,0,4\nrosé,5,6,0\n",
        "costs_open.csv": ",weiß,rot,rosé\nweiß,,1,2\nrot,3,,\nrosé,5,6,\n",
        "costs_short.csv": ",weiß,rot\nweiß,0,1\nrot,3,0\n",
        "costs_negative.csv": ",weiß,rot,rosé\nweiß,0,-1,2\nrot,3,0,4\nrosé,5,6,0\n",
    }
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")


def _write_damaged(folder):
    contents = {
        "empty.csv": b"",
        "header.csv": b"a,state\n",
        "ragged.csv": b"a,b,state\n1,2,x\n3,4,y\n5,6,7,x\n8,9,y\n",
        "one_class.csv": b"a,state\n1,x\n2,x\n3,x\n",
        "binary.csv": bytes([0, 1, 2, 255, 254]) * 100,
        "doubled.csv": b"a,a,state\n1,2,x\n3,4,y\n",
        "damaged.parquet": b"PAR1 and no more",
        "named.csv": b"size,name,kind\n"
        + b"".join(b"%d,p%d,%d\n" % (i * i % 97, i, i % 2) for i in range(30)),
        "short_new.csv": b"pressure,pulse\n1,2\n",
        "words_new.csv": b"pressure,pulse,weight\n1,2,3\n4,many,6\n",
        "table.xlsx": b"no table",
    }
    for name, content in contents.items():
        (folder / name).write_bytes(content)
