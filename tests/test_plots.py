"""The pictures of the lab: readable in both themes, described in words, with their numbers beside them."""

import re
import subprocess
import sys
import xml.etree.ElementTree as xml
from html.parser import HTMLParser

import pandas
import pytest

import lab

RANKINGS = {
    "vector": ["Section 2", "Section 7", "Section 6"],
    "BM25": ["Section 6", "Section 2", "Section 7"],
}
FUSED = ["Section 2", "Section 6", "Section 7"]
TRADEOFF = pandas.DataFrame(
    [
        ("fused", 5, 3.1, 0.7, 0.6, 0.8),
        ("fused", 20, 3.4, 0.74, 0.65, 0.82),
        ("reranked", 20, 561.0, 0.73, 0.64, 0.8),
    ],
    columns=["search", "candidates", "milliseconds", "MRR", "MRR low", "MRR high"],
)
MAKERS = {
    "similarity": lambda: lab.plot_similarity([({"id": 10, "content": "x"}, 0.38), ("Section 3", 0.444)]),
    "term_weights": lambda: lab.plot_term_weights(
        {"Section 10": {"happened": 0.5, "inc-2023-q4-011": 1.4}, "Section 2": {"inc-2023-q4-011": 1.67}}
    ),
    "fusion": lambda: lab.plot_fusion(RANKINGS, FUSED),
    "rrf_curve": lambda: lab.plot_rrf_curve(),
    "tradeoff": lambda: lab.plot_tradeoff(TRADEOFF, "MRR"),
    "walk": lambda: lab.plot_walk(a_walk(), 2),
    "knee": lambda: lab.plot_knee([1, 0.95, 0.2, 0.18, 0.16, 0.15], 3),
    "kept": lambda: lab.plot_kept(
        [({"file_name": "a.txt", "first_page": page, "last_page": page}, 1 / page) for page in range(1, 9)],
        3,
        {"a.txt:2", "a.txt:7"},
    ),
}


def a_walk():
    from test_tree_view import branch_search, index

    return lab.watch_search(branch_search, index(), "pump leak")


@pytest.fixture(params=MAKERS)
def picture(request):
    return MAKERS[request.param]()


def svg_of(picture) -> xml.Element:
    svg = re.search(r"<svg.*</svg>", picture._repr_html_(), re.DOTALL)[0]
    return xml.fromstring(svg)


def test_every_picture_has_alt_text_of_a_sentence_or_two_with_numbers(picture):
    svg = svg_of(picture)
    assert svg.get("role") == "img"
    assert svg.get("aria-label") == picture.alt
    assert picture.alt.count(". ") <= 2 and picture.alt.endswith(".")
    assert re.search(r"\d", picture.alt)


# Dark on a ground of its own, an orange one, on every page.
ON_GROUND = {"walk": {"#111111"}}


def test_the_ink_is_the_text_colour_of_the_page(picture, request):
    """So that it can be read in the light and in the dark theme: nothing black, nothing white."""
    html = picture._repr_html_()
    used = set(re.findall(r"(?:stroke|fill)[:=]\s*\"?([#\w]+)", html))
    assert "currentColor" in used
    assert used - {"url"} - ON_GROUND.get(request.node.callspec.id, set()) <= {
        "currentColor",
        "none",
        "#0072b2",
        "#e69f00",
        "#56b4e9",
        "#f0e442",
        "#cc79a7",
        "#999999",
    }
    # Shapes without a fill of their own would be black: glyphs must inherit one.
    assert svg_of(picture).get("fill") == "currentColor"


def test_the_numbers_stand_without_the_svg(picture):
    """JupyterLab removes inline SVG and style elements from untrusted output."""
    html = picture._repr_html_()
    assert "<style" not in html and "flex" not in html and "<script" not in html
    left = re.sub(r"<svg.*</svg>", "", html, flags=re.DOTALL)
    for row in picture.rows:
        for cell in row:
            assert f">{cell}</td>" in left


def test_no_text_of_the_picture_is_left_when_the_svg_is_removed(picture):
    """Text elements would stay behind as words without a place."""
    assert all(not (element.text or "").strip() for element in svg_of(picture).iter())


def test_plain_text_shows_the_numbers_and_no_html(picture):
    bundle = picture._repr_mimebundle_()
    assert set(bundle) == {"text/plain", "text/html"}
    assert bundle["text/plain"] == repr(picture)
    # The star is a plain one in text: not every console has it.
    assert all(cell.replace("\u2605", "*") in repr(picture) for row in picture.rows for cell in row)
    assert "\u2605" not in repr(picture)
    assert "<" not in repr(picture)


def test_the_same_picture_twice_is_the_same_html(picture, request):
    again = MAKERS[request.node.callspec.params["picture"]]()
    assert again._repr_html_() == picture._repr_html_()
    assert not re.search(r"20\d\d-\d\d-\d\dT", picture._repr_html_())


def test_pictures_on_one_page_share_no_ids():
    ids = [set(re.findall(r'\bid="([^"]+)"', make()._repr_html_())) for make in MAKERS.values()]
    assert sum(map(len, ids)) == len(set().union(*ids))


def test_references_inside_a_picture_lead_somewhere(picture):
    html = picture._repr_html_()
    wanted = set(re.findall(r'href="#([^"]+)"|url\(#([^)]+)\)', html))
    assert {a or b for a, b in wanted} <= set(re.findall(r'\bid="([^"]+)"', html))


@pytest.mark.parametrize("ending, beginning", [("png", b"\x89PNG"), ("svg", b"<?xml")])
def test_save_writes_png_and_svg(picture, tmp_path, ending, beginning):
    path = picture.save(tmp_path / f"picture.{ending}")
    first = path.read_bytes()
    assert first.startswith(beginning)
    assert picture.save(path).read_bytes() == first


def test_save_refuses_another_ending(picture, tmp_path):
    with pytest.raises(ValueError, match=r"picture\.gif is no \.png or \.svg file"):
        picture.save(tmp_path / "picture.gif")


def test_the_first_document_has_a_star():
    for name in ("similarity", "term_weights", "fusion"):
        rows = MAKERS[name]().rows
        assert "\u2605" in " ".join(rows[0])
        assert "\u2605" not in " ".join(" ".join(row) for row in rows[1:])


def test_fusion_tells_the_rank_in_each_list_and_leaves_a_dash_where_it_is_missing():
    picture = lab.plot_fusion({"vector": ["a", "b"], "BM25": ["b"]}, ["b", "a"])
    assert picture.rows == [("1", "\u2605 b", "2", "1"), ("2", "a", "1", "-")]
    assert "b is first in the fused ranking; its ranks are: vector 2, BM25 1" in picture.alt


def test_fusion_takes_one_list_three_lists_and_an_empty_one():
    assert lab.plot_fusion({"vector": ["a"]}, ["a"])._repr_html_()
    assert lab.plot_fusion({"x": [1, 2, 3], "y": [2], "z": []}, [2, 1, 3])._repr_html_()


def test_the_rrf_curve_gives_scores_and_shares():
    rows = lab.plot_rrf_curve().rows
    assert rows[0] == ("1", "0.5000 (100%)", "0.0164 (100%)")
    assert rows[-1] == ("20", "0.0476 (10%)", "0.0125 (76%)")


def test_term_weights_add_rare_terms_up():
    many = {f"term{i}": 10.0 - i for i in range(10)}
    picture = lab.plot_term_weights({"a": many, "b": {"term9": 0.25}})
    assert picture.columns == (
        "document",
        "term0",
        "term1",
        "term2",
        "term3",
        "term4",
        "other terms",
        "score",
    )
    assert picture.rows[0][-2:] == ("15.00", "55.00")
    assert picture.rows[1][-2:] == ("0.25", "0.25")


def test_labels_are_shown_as_they_are_written():
    """A dollar sign is no formula, an angle bracket no tag, and a letter without a glyph no warning."""
    picture = lab.plot_similarity([("<b>$\\oops$ & \u6771\u4eac", 0.1)])
    html = picture._repr_html_()
    assert "&lt;b&gt;$\\oops$ &amp; \u6771\u4eac</td>" in html
    texts = []
    parser = HTMLParser()
    parser.handle_starttag = lambda tag, attributes: texts.append(tag)
    parser.feed(html)
    assert "b" not in texts


@pytest.mark.parametrize(
    "call, sentence",
    [
        (lambda: lab.plot_similarity([]), "the search found no document"),
        (lambda: lab.plot_similarity([1, 2]), "a list of pairs"),
        (lambda: lab.plot_similarity(None), "a list of pairs"),
        (lambda: lab.plot_term_weights({}), "nothing to draw"),
        (lambda: lab.plot_fusion({}, []), "nothing to draw"),
        (lambda: lab.plot_fusion([["a"]], ["a"]), "a mapping from name to list"),
        (lambda: lab.plot_rrf_curve(k_rrfs=()), "one to four values of k_rrf"),
        (lambda: lab.plot_rrf_curve(ranks=1), "at least 2 ranks"),
        (lambda: lab.plot_rrf_curve(k_rrfs=(-1,)), "at least 0"),
    ],
)
def test_what_cannot_be_drawn_is_refused_in_a_sentence(call, sentence):
    with pytest.raises(ValueError, match=sentence):
        call()


def test_matplotlib_is_loaded_by_drawing_alone_and_pyplot_never():
    code = (
        "import sys, lab\n"
        "picture = lab.plot_rrf_curve()\n"
        "assert 'matplotlib' not in sys.modules\n"
        "picture._repr_html_()\n"
        "assert 'matplotlib' in sys.modules and 'matplotlib.pyplot' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_learners_own_settings_are_left_alone():
    import matplotlib

    before = dict(matplotlib.rcParams)
    MAKERS["fusion"]()._repr_html_()
    assert dict(matplotlib.rcParams) == before


def test_a_tradeoff_shows_every_point_and_names_the_best():
    picture = lab.plot_tradeoff(TRADEOFF, "MRR")
    assert picture.rows[-1] == ("reranked", "20", "561", "0.730", "0.640 to 0.800")
    assert "0.740, is that of fused with 20 candidates, at 3.4 milliseconds" in picture.alt


@pytest.mark.parametrize(
    "table",
    [TRADEOFF.drop(columns="MRR low"), TRADEOFF.iloc[:0], TRADEOFF.assign(milliseconds=0.0)],
    ids=["no interval", "no row", "no time"],
)
def test_a_tradeoff_that_cannot_be_drawn_is_refused(table):
    with pytest.raises(ValueError):
        lab.plot_tradeoff(table, "MRR")
