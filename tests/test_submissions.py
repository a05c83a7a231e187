"""Whose submission is whose: in nbgrader's folders, in folders of named notebooks, in zips, and in neither."""

import io
import os
import socket
import stat
import struct
import zipfile
from pathlib import Path

import pytest
from conftest import posix_only

from grader.classroom import archive, entries, submissions
from grader.classroom.entries import CannotRead, entries_in, read
from grader.classroom.learners import Found, learners, safe_name
from grader.classroom.submissions import NoSubmissions, find_submissions
from grader.units import UnknownUnit

UNIT = "04_retriever"
NOTEBOOK = f"{UNIT}.ipynb"


def lay(folder: Path, *names: str) -> Path:
    """Files with their own path as content; a name that ends in / is a folder."""
    for name in names:
        path = folder / name
        if name.endswith("/"):
            path.mkdir(parents=True, exist_ok=True)
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(name, encoding="utf-8")
    return folder


def zipped(path: Path, *names: str | tuple[str | zipfile.ZipInfo, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
        for item in names:
            name, content = item if isinstance(item, tuple) else (item, str(item).encode())
            packed.writestr(name, content)
    return path


def special(name: str, mode: int, content: bytes = b"/etc/passwd") -> tuple[zipfile.ZipInfo, bytes]:
    info = zipfile.ZipInfo(name)
    info.create_system, info.external_attr = 3, (mode | 0o777) << 16
    return info, content


def summary(found) -> dict[str, str | None]:
    """Of each learner the notebook's content, which is the path it was laid at, or the state."""
    return {one.learner: one.state or read(one.root, one.notebook, 1_000).decode("utf-8") for one in found}


def only(found):
    assert len(found) == 1
    return found[0]


# nbgrader's folders


def test_the_folders_of_nbgrader_are_learners(tmp_path):
    lay(tmp_path, f"maria/{UNIT}/{NOTEBOOK}", f"jo/{UNIT}/{NOTEBOOK}", "jo/03_rrf_table/03_rrf_table.ipynb")
    found = find_submissions(tmp_path, UNIT)
    assert summary(found) == {"jo": f"jo/{UNIT}/{NOTEBOOK}", "maria": f"maria/{UNIT}/{NOTEBOOK}"}
    assert [one.learner for one in found] == ["jo", "maria"]
    assert all(not one.notes and not one.files for one in found)


@pytest.mark.parametrize("handed_in", ["maria/", f"maria/{UNIT}/", "maria/03_rrf_table/03_rrf_table.ipynb"])
def test_a_learner_without_a_notebook_is_missing(tmp_path, handed_in):  # S2
    lay(tmp_path, f"jo/{UNIT}/{NOTEBOOK}", handed_in)
    found = find_submissions(tmp_path, UNIT)
    assert summary(found) == {"jo": f"jo/{UNIT}/{NOTEBOOK}", "maria": "missing"}
    assert found[1].reason == "nothing was handed in"


def test_a_learner_with_other_files_only_is_missing(tmp_path):
    lay(tmp_path, f"maria/{UNIT}/work.pdf", f"maria/{UNIT}/timestamp.txt")
    one = only(find_submissions(tmp_path, UNIT))
    assert (one.state, one.reason) == ("missing", "no notebook among the files that were handed in")
    assert [file.name for file in one.files] == ["work.pdf"]


@pytest.mark.parametrize("name", ["my work.ipynb", "Untitled.ipynb", "04_retriever (1).IPYNB"])
def test_a_renamed_notebook_is_taken_and_named(tmp_path, name):  # S1
    lay(tmp_path, f"maria/{UNIT}/{name}")
    one = only(find_submissions(tmp_path, UNIT))
    assert (one.notebook_name, one.state) == (name, None)
    assert one.notes == (f"The notebook is named {name} and not {NOTEBOOK}. It is graded all the same.",)


@pytest.mark.parametrize("second", ["copy.ipynb", "04_retriever-old.IPYNB", "03_rrf_table.ipynb"])
def test_two_notebooks_are_refused_and_nothing_is_guessed(tmp_path, second):  # S11
    lay(tmp_path, f"maria/{UNIT}/{NOTEBOOK}", f"maria/{UNIT}/{second}", f"jo/{UNIT}/{NOTEBOOK}")
    jo, maria = find_submissions(tmp_path, UNIT)
    assert (maria.state, maria.notebook, jo.state) == ("refused", None, None)
    assert maria.reason.startswith("two notebooks for this unit, ") and second in maria.reason


def test_what_other_programs_leave_is_no_submission(tmp_path):
    lay(
        tmp_path,
        f"maria/{UNIT}/{NOTEBOOK}",
        f"maria/{UNIT}/.ipynb_checkpoints/04_retriever-checkpoint.ipynb",
        f"maria/{UNIT}/timestamp.txt",
        f"maria/{UNIT}/__pycache__/numpy.pyc",
        f".jo/{UNIT}/{NOTEBOOK}",
        ".gitkeep",
        "grades.csv",
    )
    found = find_submissions(tmp_path, UNIT)
    assert summary(found) == {"maria": f"maria/{UNIT}/{NOTEBOOK}"}
    assert found[0].files == ()
    assert found.ignored == ("grades.csv",)


def test_other_files_are_listed_with_their_folders(tmp_path):  # S12
    lay(tmp_path, *(f"maria/{UNIT}/{name}" for name in (NOTEBOOK, "numpy.py", "a/b/deep.csv", "a/x.ipynb")))
    one = only(find_submissions(tmp_path, UNIT))
    assert one.notebook_name == NOTEBOOK
    assert [file.name for file in one.files] == ["numpy.py", "a/x.ipynb", "a/b/deep.csv"]


def test_a_notebook_in_a_folder_counts_where_there_is_no_other(tmp_path):
    lay(tmp_path, f"maria/{UNIT}/{UNIT}/{NOTEBOOK}", f"jo/{UNIT}/a/x.ipynb", f"jo/{UNIT}/b/x.ipynb")
    jo, maria = find_submissions(tmp_path, UNIT)
    assert (maria.notebook_name, maria.notes) == (f"{UNIT}/{NOTEBOOK}", ())
    assert jo.reason == "two notebooks for this unit, a/x.ipynb, b/x.ipynb: hand in one"


# Links, pipes, devices


@posix_only
@pytest.mark.parametrize("place", ["notebook", "extra", "unit", "learner", "loop", "dangling"])
def test_links_are_refused(tmp_path, place):  # S13
    secret = tmp_path / "secret"
    lay(secret, f"{UNIT}/{NOTEBOOK}", NOTEBOOK)
    folder = lay(tmp_path / "submitted", f"jo/{UNIT}/{NOTEBOOK}")
    unit = folder / "maria" / UNIT
    if place == "learner":
        (folder / "maria").symlink_to(secret)
    elif place == "unit":
        (folder / "maria").mkdir()
        unit.symlink_to(secret / UNIT)
    else:
        unit.mkdir(parents=True)
        targets = {"loop": unit / NOTEBOOK, "dangling": secret / "nothing"}
        (unit / NOTEBOOK).symlink_to(targets.get(place, secret / NOTEBOOK))
        if place == "extra":
            (unit / NOTEBOOK).unlink()
            lay(unit, NOTEBOOK)
            (unit / "notes.md").symlink_to(secret / NOTEBOOK)
    jo, maria = find_submissions(folder, UNIT)
    assert jo.state is None
    assert (maria.state, maria.notebook) == ("refused", None)
    assert maria.reason.endswith("is a link, and links are not followed")


@posix_only
@pytest.mark.parametrize("what", ["pipe", "socket", "file"])
def test_what_is_no_ordinary_file_is_refused_without_waiting(tmp_path, what, monkeypatch):
    unit = tmp_path / "maria" / UNIT
    unit.parent.mkdir()
    if what == "file":
        unit.write_text("a file where the unit's folder should be")
    else:
        unit.mkdir()
        monkeypatch.chdir(unit)  # a socket's path is short
        if what == "pipe":
            os.mkfifo(NOTEBOOK)
        else:
            socket.socket(socket.AF_UNIX).bind(NOTEBOOK)
    one = only(find_submissions(tmp_path, UNIT))
    assert one.state == "refused"
    assert one.reason in (f"{NOTEBOOK} is no ordinary file", f"{UNIT} is a file and no folder")


@posix_only
def test_a_file_that_becomes_a_link_or_a_pipe_later_is_not_followed(tmp_path):
    secret = lay(tmp_path, "secret/inner/x.ipynb") / "secret"
    root = lay(tmp_path / "submitted", f"maria/{UNIT}/{NOTEBOOK}")
    one = only(find_submissions(root, UNIT))
    one.notebook.unlink()
    one.notebook.symlink_to(secret / "inner" / "x.ipynb")
    with pytest.raises(CannotRead, match="is a link"):
        read(one.root, one.notebook, 100)
    one.notebook.unlink()
    os.mkfifo(one.notebook)
    with pytest.raises(CannotRead, match="no ordinary file"):
        read(one.root, one.notebook, 100)
    # A folder on the way, too.
    (root / "maria" / "inner").symlink_to(secret / "inner")
    with pytest.raises(CannotRead, match="no folder, or a link"):
        read(one.root, root / "maria" / "inner" / "x.ipynb", 100)


@posix_only
@pytest.mark.parametrize("becomes", ["link", "pipe", "larger"])
def test_a_file_that_changes_between_the_look_and_the_reading_is_not_read(tmp_path, monkeypatch, becomes):
    lay(tmp_path, "secret", "submitted/x.ipynb")
    path, look = tmp_path / "submitted" / "x.ipynb", entries._must_be_small_file

    def changing(*arguments):
        monkeypatch.setattr(entries, "_must_be_small_file", look if becomes != "larger" else lambda *_: None)
        path.unlink()
        if becomes == "link":
            path.symlink_to(tmp_path / "secret")
        elif becomes == "pipe":
            os.mkfifo(path)
        else:
            path.write_bytes(bytes(101))

    monkeypatch.setattr(entries, "_must_be_small_file", changing)
    sentences = {"link": "is a link", "pipe": "no ordinary file", "larger": "is larger than"}
    with pytest.raises(CannotRead, match=sentences[becomes]):
        read(tmp_path / "submitted", path, 100)


@posix_only
def test_a_device_is_not_even_opened(monkeypatch):
    monkeypatch.setattr(entries, "_open", None)
    with pytest.raises(CannotRead, match="zero is no ordinary file"):
        read(Path("/dev"), Path("/dev/zero"), 100)


def test_no_more_is_read_than_the_limit(tmp_path):
    lay(tmp_path, "x")
    assert read(tmp_path, tmp_path / "x", 1) == b"x"
    with open(tmp_path / "sparse.ipynb", "wb") as file:
        file.truncate(50_000_000_000)
    with pytest.raises(CannotRead, match="sparse.ipynb is larger than 10 MB"):
        read(tmp_path, tmp_path / "sparse.ipynb", 10_000_000)


def test_a_folder_of_too_many_files_costs_its_learner_alone(tmp_path, monkeypatch):
    monkeypatch.setattr("grader.classroom.entries.MOST_ENTRIES", 5)
    lay(tmp_path, f"jo/{UNIT}/{NOTEBOOK}", *(f"maria/{UNIT}/{number}.txt" for number in range(6)))
    jo, maria = find_submissions(tmp_path, UNIT)
    assert (jo.state, maria.state) == (None, "refused")
    assert maria.reason == f"{UNIT} holds more than 5 files"


def test_a_folder_that_may_not_be_read_costs_its_learner_alone(tmp_path, monkeypatch):
    lay(tmp_path, f"jo/{UNIT}/{NOTEBOOK}", f"maria/{UNIT}/{NOTEBOOK}")
    opened = entries._open

    def refusing(root, path, *how, **more):  # root may read everything, so no mode would do
        if path == tmp_path / "maria" / UNIT:
            raise PermissionError(13, "Permission denied")
        return opened(root, path, *how, **more)

    monkeypatch.setattr(entries, "_open", refusing)
    jo, maria = find_submissions(tmp_path, UNIT)
    assert (jo.state, maria.state) == (None, "refused")
    assert maria.reason == f"{UNIT} may not be read by the grader"


# Notebooks named after learners


def test_a_flat_folder_names_its_learners(tmp_path):
    lay(tmp_path, "maria.ipynb", "jo.IPYNB", "maria.md", "maria.zip", "list.csv", "old/x.ipynb")
    found = find_submissions(tmp_path, UNIT)
    assert summary(found) == {"jo": "jo.IPYNB", "maria": "maria.ipynb"}
    assert [file.name for file in found[1].files] == ["maria.md", "maria.zip"]
    assert found.ignored == ("list.csv", "old")
    assert found[1].notes == ()


def test_nbgraders_own_files_are_taken_from_its_own_folders_alone(tmp_path):
    """Elsewhere the learner wrote them, and could choose the time of handing in."""
    own = ("timestamp.txt", "submission_secret.txt")
    moodle = "Jo Doe_102_assignsubmission_file_"
    for name, files in {
        "nbgrader": [f"jo/{UNIT}/{name}" for name in (NOTEBOOK, *own)],
        "deeper": [f"jo/{UNIT}/work/{name}" for name in (NOTEBOOK, *own)],
        "moodle": [f"{moodle}/{name}" for name in (NOTEBOOK, *own)],
        "moodle_files": [f"{moodle}{name}" for name in (NOTEBOOK, *own)],
        "canvas": [f"jodoe_7_9_{name}" for name in (NOTEBOOK, *own)],
        "flat": ["jo.ipynb", *own],
    }.items():
        here = lay(tmp_path / name, *files)
        taken = [entry.name for entry in only(find_submissions(here, UNIT)).of_exchange]
        assert taken == (sorted(own) if name == "nbgrader" else []), name
        if name != "nbgrader":
            with find_submissions(zipped(tmp_path / f"{name}.zip", *files), UNIT) as found:
                assert only(found).of_exchange == (), name


def test_folders_as_moodle_exports_them(tmp_path):
    lay(
        tmp_path,
        f"María del Río_101_assignsubmission_file_/{NOTEBOOK}",
        "Jo Doe_102_assignsubmission_file_/work.ipynb",
        "Jo Doe_102_assignsubmission_onlinetext_/onlinetext.html",
        "Lee_103_assignsubmission_file/",
        "Group A-Ana Bell_104_assignsubmission_file_/a.ipynb",
        "Group A-Ana Bell_104_assignsubmission_file_/b.ipynb",
    )
    found = {one.learner: one for one in find_submissions(tmp_path, UNIT)}
    assert list(found) == ["Group A-Ana Bell", "Jo Doe", "Lee", "María del Río"]
    assert {name: one.number for name, one in found.items()} == {
        "Group A-Ana Bell": "104",
        "Jo Doe": "102",
        "Lee": "103",
        "María del Río": "101",
    }
    assert [one.state for one in found.values()] == ["refused", None, "missing", None]
    assert [file.name for file in found["Jo Doe"].files] == ["onlinetext.html"]
    assert found["Jo Doe"].notes[0].startswith("The notebook is named work.ipynb")
    assert found["María del Río"].notes == ()


def test_files_as_moodle_exports_them(tmp_path):
    lay(
        tmp_path,
        f"Jo Doe_102_assignsubmission_file_{NOTEBOOK}",
        "Jo Doe_102_assignsubmission_file_data.csv",
        "Lee_103_assignsubmission_file_essay.pdf",
    )
    jo, lee = find_submissions(tmp_path, UNIT)
    assert (jo.learner, jo.number, jo.notebook_name) == ("Jo Doe", "102", NOTEBOOK)
    assert [file.name for file in jo.files] == ["data.csv"]
    assert (lee.learner, lee.state) == ("Lee", "missing")


def test_files_as_canvas_exports_them(tmp_path):
    lay(
        tmp_path,
        f"doejane_5123_88001_{NOTEBOOK}",
        f"roerichard_LATE_5124_88002_{UNIT}-1.ipynb",
        "müller_5125_88003_mine.ipynb",
        "müller_5125_88004_data.csv",
        f"anon_x8Kp2_88005_{NOTEBOOK}",
        f"LATE_anon_aB1_88006_{NOTEBOOK}",
        "leeann_5126_text.html",
        "poe_5127_88007_a.ipynb",
        "poe_5127_88008_b.ipynb",
    )
    found = {one.learner: one for one in find_submissions(tmp_path, UNIT)}
    assert list(found) == ["anon_aB1", "anon_x8Kp2", "doejane", "leeann", "müller", "poe", "roerichard"]
    assert [one.number for one in found.values()] == ["", "", "5123", "5126", "5125", "5127", "5124"]
    assert found["leeann"].state == "missing"
    assert {name for name, one in found.items() if one.notes} == {"anon_aB1", "müller", "roerichard"}
    assert found["roerichard"].notes == ("Canvas marks this submission as late.",)
    assert [file.name for file in found["müller"].files] == ["data.csv"]
    assert found["poe"].reason == "two notebooks for this unit, a.ipynb, b.ipynb: hand in one"


@posix_only
def test_a_link_in_a_flat_folder_is_refused(tmp_path):
    lay(tmp_path, "submitted/jo.ipynb", "secret.ipynb")
    (tmp_path / "submitted" / "maria.ipynb").symlink_to(tmp_path / "secret.ipynb")
    assert summary(find_submissions(tmp_path / "submitted", UNIT)) == {
        "jo": "submitted/jo.ipynb",
        "maria": "refused",
    }


# Names


@pytest.mark.parametrize(
    ("found", "learner"),
    [
        ("maria", "maria"),
        ("María López", "María López"),
        ("Mari\u0301a", "María"),
        ("jo+test@uni.example", "jo_test@uni.example"),
        ("=cmd|'/c calc'!A1", "cmd__c calc__A1".replace("__c", "___c")),
        ("-rf", "rf"),
        ("@handle", "handle"),
        ("..", None),
        ("*?[a]", "a_"),
        ("a\nb\t\u202ec", "a_b__c"),
        ("李小龙", "李小龙"),
        ("x. ", "x"),
        ("\udcff\udcfe", None),
        ("~~~", None),
    ],
)
def test_a_name_is_safe_for_folders_the_gradebook_and_tables(found, learner):
    name = safe_name(found)
    assert name == learner or (learner is None and name.startswith("learner-"))
    assert name[0].isalnum() and not set(name) & set("/\\+*?[]{}=|'\"\n")
    assert safe_name(name) == name


def test_a_long_name_is_cut_and_stays_its_own():
    one, other = safe_name("ä" * 300), safe_name("ä" * 301)
    assert one != other and len(one) <= 70 and len(one.encode()) < 200


def test_names_that_fall_together_are_told_apart_and_flagged(tmp_path):
    lay(tmp_path, "Maria.ipynb", "maria.ipynb", "jo+1.ipynb", "jo_1.ipynb", "lee.ipynb")
    found = find_submissions(tmp_path, UNIT)
    assert len({one.learner.casefold() for one in found}) == 5
    assert sorted(one.found_as for one in found) == ["Maria", "jo+1", "jo_1", "lee", "maria"]
    by_spelling = {one.found_as: one for one in found}
    assert (by_spelling["jo_1"].learner, by_spelling["lee"].learner) == ("jo_1", "lee")
    assert by_spelling["jo+1"].learner.startswith("jo_1-")
    assert "see whose it is" in by_spelling["jo_1"].notes[0] and by_spelling["lee"].notes == ()


def test_two_people_of_one_name_get_the_platforms_number(tmp_path):
    lay(
        tmp_path, f"Jo Doe_1_assignsubmission_file_/{NOTEBOOK}", f"Jo Doe_2_assignsubmission_file_/{NOTEBOOK}"
    )
    assert [one.learner for one in find_submissions(tmp_path, UNIT)] == ["Jo Doe-1", "Jo Doe-2"]


def test_nobody_is_lost_where_a_made_name_is_somebodys_own():
    found = [Found("Jo", "1"), Found("jo", "2"), Found("Jo-1"), Found("JO-1", "1")]
    names = [name.casefold() for name, _notes in learners(found).values()]
    assert len(set(names)) == len(found)


# Which of the two it is


def test_a_folder_that_is_both_is_refused(tmp_path):
    lay(tmp_path, f"maria/{UNIT}/{NOTEBOOK}", "jo.ipynb")
    with pytest.raises(NoSubmissions, match=r"is two things at once: maria holds .* jo.ipynb lies beside it"):
        find_submissions(tmp_path, UNIT)


def test_a_notebook_that_names_the_unit_and_no_learner_is_refused(tmp_path):
    lay(tmp_path, NOTEBOOK)
    with pytest.raises(NoSubmissions, match="says not whose it is"):
        find_submissions(tmp_path, UNIT)


@pytest.mark.parametrize("wrapper", ["export/", "a/b/c/"])
def test_folders_around_the_submissions_are_gone_through(tmp_path, wrapper):
    lay(tmp_path, f"{wrapper}maria.ipynb", f"{wrapper}jo.ipynb")
    assert list(summary(find_submissions(tmp_path, UNIT))) == ["jo", "maria"]


@pytest.mark.parametrize(
    "names",
    [(), ("maria/03_rrf_table/x.ipynb",), ("a.csv",), ("a/b/c/d/x.ipynb",), ("maria/x.csv", "jo/y.csv")],
)
def test_nothing_to_grade_is_one_sentence(tmp_path, names):
    with pytest.raises(NoSubmissions, match=f"^Nobody has handed in {UNIT} in ") as refused:
        find_submissions(lay(tmp_path, *names), UNIT)
    assert isinstance(refused.value, ValueError) and "\n" not in str(refused.value)


def test_no_folder_a_notebook_or_another_unit_is_said(tmp_path):
    lay(tmp_path, "maria.ipynb", "plain.txt")
    with pytest.raises(NoSubmissions, match="There is no folder or zip"):
        find_submissions(tmp_path / "nowhere", UNIT)
    with pytest.raises(NoSubmissions, match="neither a folder of submissions nor a zip"):
        find_submissions(tmp_path / "maria.ipynb", UNIT)
    with pytest.raises(NoSubmissions, match="plain.txt is damaged, or no zip"):
        find_submissions(tmp_path / "plain.txt", UNIT)
    with pytest.raises(UnknownUnit):
        find_submissions(tmp_path, "99_nothing")


@posix_only
def test_a_pipe_is_no_folder_of_submissions(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(NoSubmissions, match="neither a folder"):
        find_submissions(tmp_path / "pipe", UNIT)


# Zips


def test_a_zip_of_nbgraders_folders(tmp_path):
    path = zipped(
        tmp_path / "class.zip",
        f"submitted/maria/{UNIT}/{NOTEBOOK}",
        f"submitted/jo/{UNIT}/",
        f"submitted\\lee\\{UNIT}\\{NOTEBOOK}",
        f"__MACOSX/submitted/maria/{UNIT}/._{NOTEBOOK}",
        f"submitted/maria/{UNIT}/numpy.py",
    )
    with find_submissions(path, UNIT, scratch=tmp_path) as found:
        assert summary(found) == {
            "jo": "missing",
            "lee": f"submitted\\lee\\{UNIT}\\{NOTEBOOK}",
            "maria": f"submitted/maria/{UNIT}/{NOTEBOOK}",
        }
        assert [file.name for file in found[2].files] == ["numpy.py"]
        # Only what may be needed is unpacked.
        assert len([file for file in found[2].root.rglob("*") if file.is_file()]) == 2
    assert [entry.name for entry in tmp_path.iterdir()] == ["class.zip"]


def test_a_zip_of_notebooks_named_by_platforms(tmp_path):
    path = zipped(
        tmp_path / "class.zip",
        f"Jo Doe_1_assignsubmission_file_/{NOTEBOOK}",
        f"doejane_2_3_{NOTEBOOK}",
        "lee.ipynb",
        "poe_4_5_work.zip",
    )
    with find_submissions(path, UNIT, scratch=tmp_path) as found:
        assert list(summary(found)) == ["Jo Doe", "doejane", "lee", "poe"]
        assert [one.state for one in found] == [None, None, None, "missing"]


def test_what_was_unpacked_goes_with_the_submissions(tmp_path):
    found = find_submissions(zipped(tmp_path / "class.zip", "maria.ipynb"), UNIT, scratch=tmp_path)
    folder = found[0].root
    assert folder.is_dir()
    del found
    assert not folder.exists()


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        (stat.S_IFLNK, "is a link, and links are not followed"),
        (stat.S_IFCHR, "is no ordinary file"),
        (stat.S_IFIFO, "is no ordinary file"),
    ],
)
def test_links_and_devices_in_a_zip_are_refused_and_not_made(tmp_path, kind, reason):  # S13
    path = zipped(tmp_path / "class.zip", special(f"maria/{UNIT}/{NOTEBOOK}", kind), f"jo/{UNIT}/{NOTEBOOK}")
    with find_submissions(path, UNIT, scratch=tmp_path) as found:
        jo, maria = found
        assert (jo.state, maria.state, maria.reason) == (None, "refused", f"{NOTEBOOK} {reason}")
        assert [file.is_symlink() for file in jo.root.rglob("*")] == [False]  # jo's, and no other


@pytest.mark.parametrize(
    "name", [f"maria/{UNIT}/../../../../evil.ipynb", f"maria/{UNIT}/../{UNIT}/{NOTEBOOK}", "maria/../x.ipynb"]
)
def test_a_path_that_climbs_out_of_a_learners_folder_is_refused(tmp_path, name):  # S13
    path = zipped(tmp_path / "class.zip", name, f"maria/{UNIT}/{NOTEBOOK}", f"jo/{UNIT}/{NOTEBOOK}")
    with find_submissions(path, UNIT, scratch=tmp_path / "..") as found:
        jo, maria = found
        assert (jo.state, maria.state) == (None, "refused")
        assert maria.reason == f"the path {name} leads out of the submission"
    assert sorted(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    "name", ["../evil.ipynb", "/tmp/evil.ipynb", "C:\\evil.ipynb", "..\\evil.ipynb", "./../x"]
)
def test_a_zip_that_names_a_place_outside_is_refused(tmp_path, name):
    path = zipped(tmp_path / "class.zip", "maria.ipynb", name)
    with pytest.raises(NoSubmissions, match="a place outside of the zip"):
        find_submissions(path, UNIT, scratch=tmp_path)
    assert list(tmp_path.iterdir()) == [path]


def test_two_files_of_one_name_in_a_zip_are_two_notebooks(tmp_path):
    with pytest.warns(UserWarning, match="Duplicate name"):
        path = zipped(tmp_path / "class.zip", "maria.ipynb", ("maria.ipynb", b"other"), "jo.ipynb")
    with find_submissions(path, UNIT, scratch=tmp_path) as found:
        assert [one.state for one in found] == [None, "refused"]


def test_a_zip_in_a_zip_is_not_opened(tmp_path):
    inner = zipped(tmp_path / "inner.zip", NOTEBOOK).read_bytes()
    path = zipped(tmp_path / "class.zip", (f"maria/{UNIT}/work.zip", inner))
    with find_submissions(path, UNIT, scratch=tmp_path) as found:
        assert only(found).state == "missing"
        assert [file.name for file in found[0].files] == ["work.zip"]


def test_a_large_notebook_in_a_zip_costs_its_learner_alone(tmp_path):
    path = zipped(tmp_path / "class.zip", ("maria.ipynb", bytes(10_000_001)), "jo.ipynb")
    with find_submissions(path, UNIT, scratch=tmp_path) as found:
        assert [one.state for one in found] == [None, "refused"]
        assert found[1].reason == "maria.ipynb is larger than 10 MB"


def test_a_deep_path_in_a_zip_costs_its_learner_alone(tmp_path):
    path = zipped(tmp_path / "class.zip", f"maria/{UNIT}/{'a/' * 5_000}x.ipynb", f"jo/{UNIT}/{NOTEBOOK}")
    with find_submissions(path, UNIT, scratch=tmp_path) as found:
        assert [one.state for one in found] == [None, "missing"]


def bomb(path: Path, megabytes: int) -> Path:
    """A small zip of a large file of zeros."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed, packed.open("maria.ipynb", "w") as file:
        for _megabyte in range(megabytes):
            file.write(bytes(1_000_000))
    return path


def lying(path: Path, size: int) -> Path:
    """A zip that says its one file of 60 MB has ``size`` bytes, in both places where it says so."""
    data = bomb(path, 60).read_bytes()
    path.write_bytes(data.replace(struct.pack("<L", 60_000_000), struct.pack("<L", size)))
    return path


def overlapping(path: Path) -> Path:
    """A zip whose table of contents names one packed file two thousand times."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("aaaa.ipynb", os.urandom(20_000))
    data = buffer.getvalue()
    start = data.index(b"PK\1\2")
    entry, end = data[start : data.index(b"PK\5\6")], data[data.index(b"PK\5\6") :]
    many = b"".join(entry.replace(b"aaaa", f"{number:04d}".encode()) for number in range(2_000))
    end = end[:8] + struct.pack("<HHL", 2_000, 2_000, len(many)) + end[16:]
    path.write_bytes(data[:start] + many + end)
    return path


def encrypted(path: Path) -> Path:
    data = bytearray(zipped(path, "maria.ipynb").read_bytes())
    data[6] |= 1
    data[data.index(b"PK\1\2") + 8] |= 1
    path.write_bytes(data)
    return path


def cut(path: Path) -> Path:
    path.write_bytes(zipped(path, "maria.ipynb").read_bytes()[:-30])
    return path


def flipped(path: Path) -> Path:
    """A zip in which a packed byte is another one."""
    data = bytearray(zipped(path, ("maria.ipynb", os.urandom(500))).read_bytes())
    data[200] ^= 0xFF
    path.write_bytes(data)
    return path


def of_many(path: Path) -> Path:
    with zipfile.ZipFile(path, "w") as packed:
        for number in range(20_001):
            packed.writestr(f"{number}.txt", b"")
    return path


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda path: bomb(path, 60), "would unpack to .* times its size, as zip bombs do; .* maria.ipynb"),
        (
            lambda path: bomb(path, 1_001),
            "would unpack to 1.0 GB, more than 1 GB; the largest file is maria.ipynb",
        ),
        (lambda path: lying(path, 1_000), "is damaged"),
        (lambda path: lying(path, 0), "is damaged"),
        (lambda path: lying(path, 2**32 - 2), "would unpack to 4.3 GB"),
        (overlapping, "is damaged: its files overlap"),
        (encrypted, "is encrypted"),
        (cut, "is damaged, or no zip"),
        (flipped, "is damaged, or no zip"),
        (of_many, "names more than 20000 files"),
    ],
)
def test_a_bomb_or_a_broken_zip_is_one_sentence_and_leaves_nothing(tmp_path, make, sentence):
    path = make(tmp_path / "class.zip")
    with pytest.raises(NoSubmissions, match=f"class.zip is refused: .*{sentence}") as refused:
        find_submissions(path, UNIT, scratch=tmp_path)
    assert "\n" not in str(refused.value)
    assert list(tmp_path.iterdir()) == [path]


def test_a_table_of_contents_too_long_to_read_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(archive, "_MOST_DIRECTORY", 10_000)
    path = zipped(tmp_path / "class.zip", *(f"{number}.ipynb" for number in range(500)))
    with pytest.raises(NoSubmissions, match="names more than 20000 files"):
        find_submissions(path, UNIT, scratch=tmp_path)


def test_any_cut_or_changed_byte_of_a_zip_is_a_verdict(tmp_path):
    whole = zipped(
        tmp_path / "class.zip", "maria.ipynb", f"jo/{UNIT}/", special("x.ipynb", stat.S_IFLNK)
    ).read_bytes()
    path = tmp_path / "broken.zip"
    for place in range(len(whole)):
        for broken in (
            whole[:place],
            whole[:place] + bytes([whole[place] ^ 0xFF]) + whole[place + 1 :],
            whole[:place] + b"\xff\xff\xff\xff" + whole[place + 4 :],
        ):
            path.write_bytes(broken)
            try:
                with find_submissions(path, UNIT, scratch=tmp_path) as found:
                    assert len(found) >= 1
            except NoSubmissions as refused:
                assert str(refused)
    assert sorted(tmp_path.iterdir()) == [path, tmp_path / "class.zip"]


def test_a_full_disk_is_no_fault_of_the_zip(tmp_path, monkeypatch):
    def full(*_arguments):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(archive, "_unpack_one", full)
    path = zipped(tmp_path / "class.zip", "maria.ipynb")
    with pytest.raises(OSError, match="No space left"):
        find_submissions(path, UNIT, scratch=tmp_path)
    assert list(tmp_path.iterdir()) == [path]


def test_entries_of_a_folder_come_in_one_order(tmp_path):
    lay(tmp_path, "b", "a", "c/")
    top = submissions.Entry("top", "folder", tmp_path, tmp_path)
    assert [(entry.name, entry.kind) for entry in entries_in(top)] == [
        ("a", "file"),
        ("b", "file"),
        ("c", "folder"),
    ]
