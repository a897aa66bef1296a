from ecselm._wording import brief


def test_words_of_files_stay_on_one_line():
    assert brief("two\nlines,\x00\ta zero\u2028and \x1b[31mred") == "two lines, a zero and [31mred"


def test_many_words_are_cut():
    assert brief("word " * 10**6, 20) == "word word word wo..."
    assert brief("x" * 80) == "x" * 80
