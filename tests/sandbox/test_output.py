import os

from bciarena.runs import RunFolder
from bciarena.sandbox.output import MOST_MARKS, TAIL_BYTES, Output


def written(tmp_path, most, *chunks):
    output = Output("stdout", RunFolder(tmp_path), most)
    for packet, raw in chunks:
        os.write(output.write_fd, raw)
        output.drain(packet)
    output.started()
    return output


def test_what_was_printed_at_which_packet(tmp_path):
    output = written(tmp_path, 1000, (0, b"hello\n"), (3, b"a"), (3, b"b\n"), (7, "错\n".encode()))
    output.close()
    assert (tmp_path / "stdout.txt").read_text("utf-8") == "hello\nab\n错\n"
    assert output.marks == [{"stream": "stdout", "offset": o, "packet": p} for o, p in ((0, 0), (6, 3), (9, 7))]


def test_cut_with_a_note_and_its_end(tmp_path):
    output = written(tmp_path, 10, (1, b"x" * 30), (2, b"the end\n"))
    assert output.cut == 28
    output.close()
    text = (tmp_path / "stdout.txt").read_text()
    assert text.startswith("x" * 10 + "\n[cut here: 28 more bytes")
    assert text.endswith("the end\n")
    assert output.tail(1).endswith("the end")


def test_tail_stays_small(tmp_path):
    output = written(tmp_path, 10, *((1, b"line %d\n" % n) for n in range(5000)))
    assert output.tail(2) == "line 4998\nline 4999"
    assert output._tail_size < TAIL_BYTES + 100
    output.close()


def test_marks_are_bounded(tmp_path):
    output = written(tmp_path, 1 << 20, *((n, b"x") for n in range(MOST_MARKS + 50)))
    assert len(output.marks) == MOST_MARKS
    output.close()
