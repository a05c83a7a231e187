"""The tuning lab in JupyterLab in a real browser: by keyboard, by mouse, in both themes, and without a kernel."""

import json
import re
import subprocess
import sys
from contextlib import contextmanager

import nbformat
import pytest
from browser import browser_page, copy_course, course_environment, running_lab, screenshot
from tuning_page import CALL, PATH, REPORT, TUNING, TuningPage, write_notebook

SLIDERS = ["k_rrf", "candidates", "weight of vector", "weight of BM25"]


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    course = copy_course(tmp_path_factory.mktemp("course"))
    write_notebook(course, REPORT, TUNING, "1 + 1")
    return course


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="module")
def lab(course, home):
    with running_lab(course, home) as lab:
        yield lab


@pytest.fixture(scope="module")
def opened(lab):
    with browser_page({"width": 1280, "height": 900}) as page:
        yield TuningPage.open(page, lab)


@pytest.fixture
def tuning(opened):
    opened.ask("")
    opened.page.get_by_label("query", exact=True).select_option(index=0)
    opened.reset()
    opened.page.problems.clear()
    yield opened
    assert opened.page.problems == []


@pytest.mark.parametrize("name", SLIDERS)
def test_a_slider_moves_by_keyboard_and_table_and_status_follow(tuning, name):
    slider, before = tuning.slider(name), tuning.value(name)
    slider.focus()
    tuning.page.keyboard.press("ArrowLeft")
    tuning.settled(lambda: tuning.value(name) != before)
    tuning.settled(lambda: tuning.status().startswith(f"{name}: {float(before):g} → "))
    scores = tuning.ranking()
    tuning.page.keyboard.press("PageDown")
    tuning.settled(lambda: tuning.ranking() != scores)
    tuning.page.keyboard.press("Home")
    tuning.settled(lambda: tuning.value(name) in ("0", "1", "0.00"))
    tuning.page.keyboard.press("End")
    tuning.settled(lambda: tuning.value(name) in ("200", "10", "2.00"))
    assert tuning.problem() == ""


@pytest.mark.parametrize("name", SLIDERS)
def test_a_slider_moves_by_mouse(tuning, name):
    before, scores, cells = tuning.value(name), tuning.ranking(), tuning.cells()
    tuning.drag(name, -60)
    tuning.settled(lambda: tuning.value(name) != before)
    tuning.settled(lambda: tuning.ranking() != scores)
    # Lab would take the keys for its own if the drag left the focus on the cell.
    for key in ("a", "b", "x", "d", "d"):
        tuning.page.keyboard.press(key)
    tuning.page.wait_for_timeout(200)
    assert tuning.cells() == cells


@pytest.mark.parametrize("name", SLIDERS)
def test_letters_and_enter_on_a_slider_change_no_cell(tuning, name):
    cells = tuning.cells()
    for key in ("a", "b", "x", "d", "d", "Enter", "m", "y", "z"):
        tuning.slider(name).focus()
        tuning.page.keyboard.press(key)
    tuning.page.wait_for_timeout(300)
    assert tuning.cells() == cells
    assert tuning.lab.is_visible()


def test_everything_that_takes_the_focus_keeps_labs_shortcuts_away(tuning):
    tuning.button("show the call").click()
    tuning.page.locator(".lt-call pre").wait_for()
    bare = tuning.page.eval_on_selector_all(
        ".lab-tuning :is([tabindex], select, button, input, [contenteditable])",
        """all => all.filter(one => one.tabIndex >= 0 && !one.hasAttribute('data-lm-suppress-shortcuts'))
                 .map(one => one.outerHTML.slice(0, 120))""",
    )
    assert bare == []


def test_every_control_has_a_name(tuning):
    tree = tuning.page.evaluate(
        """() => [...document.querySelectorAll(
              '.lab-tuning :is([role=slider], [role=textbox], select, input, button)')]
              .filter(one => one.checkVisibility()).map(one => [
            one.getAttribute('role') ?? one.tagName,
            one.getAttribute('aria-label') ?? one.labels?.[0]?.textContent ?? one.textContent])"""
    )
    names = [name for _role, name in tree]
    assert all(name and name.strip() for name in names), tree
    for name in [*SLIDERS, "query", "your own query", "metric", "k_rrf = 1", "k_rrf = 60", "reset"]:
        assert name in names


def test_marker_and_readings_follow_the_sliders(tuning):
    page, marker = tuning.page, tuning.marker()
    reading = page.locator(".lt-large .lt-reading")
    before = reading.inner_text()
    maps = page.locator(".lt-cells").first.element_handle()
    tuning.slider("candidates").focus()
    page.keyboard.press("Home")
    tuning.settled(lambda: tuning.marker() != marker and reading.inner_text() != before)
    value = tuning.numbers(reading.inner_text())[0]
    assert f"MRR over 30 queries: {value:.3f}." in tuning.status()
    compared = page.locator(".lt-comparison tbody tr").nth(2).inner_text()
    assert compared.startswith("hybrid") or "hybrid" in compared
    assert tuning.numbers(compared)[0] == value
    assert maps.evaluate("cells => cells.isConnected"), "the map was drawn again"


def test_a_click_on_a_map_moves_the_sliders(tuning):
    tuning.page.locator(".lt-large .lt-cells rect").first.click()
    tuning.settled(lambda: (tuning.value("k_rrf"), tuning.value("candidates")) == ("0", "1"))
    # The view is told after the sliders.
    tuning.settled(lambda: "k_rrf: 60 → 0. candidates: 10 → 1." in tuning.status())


def test_the_numbers_of_sliders_with_steps_are_not_to_be_typed_and_always_right(tuning):
    for name in ("k_rrf", "candidates"):
        readout = tuning.readout(name)
        before = readout.inner_text()
        readout.click()
        tuning.page.keyboard.type("6")
        tuning.page.keyboard.press("Enter")
        assert readout.inner_text() == before == tuning.value(name)
        assert readout.evaluate("one => one.isContentEditable || one.tabIndex >= 0") is False
        assert readout.get_attribute("role") is None
        tuning.slider(name).press("Home")
        tuning.settled(lambda of=name: tuning.value(of) in ("0", "1"))
        tuning.reset()
        assert readout.inner_text() == before == tuning.value(name)
        assert readout.evaluate("one => one.isContentEditable") is False
    assert tuning.readout("weight of BM25").get_attribute("role") == "textbox"


def test_a_drag_is_compared_with_what_was_before_it(tuning):
    before = {row[2]: int(row[0]) for row in tuning.rows()}
    tuning.drag("weight of BM25", -200)
    tuning.settled(lambda: tuning.status().startswith("weight of BM25: 1 → 0."))
    for rank, move, document, *_rest in tuning.rows():
        sign, _, places = move.partition(" ")
        assert before[document] - int(rank) == {"▲": 1, "▼": -1, "=": 0}[sign] * int(places or 0)


def test_the_axes_name_the_current_values(tuning):
    labels = tuning.page.locator(".lt-large .lt-now")
    assert labels.all_text_contents() == ["10", "60"]
    tuning.slider("k_rrf").press("PageDown")
    tuning.settled(lambda: labels.all_text_contents() == ["10", tuning.value("k_rrf")] != ["10", "60"])
    for small in tuning.page.locator(".lt-small").all():
        assert small.locator(".lt-now").all_text_contents() == labels.all_text_contents()


def test_controls_table_and_map_are_seen_together(tuning):
    page = tuning.page
    page.set_viewport_size({"width": 1280, "height": 800})
    page.evaluate("document.querySelector('.lab-tuning').scrollIntoView({block: 'start'})")
    page.wait_for_timeout(200)
    screenshot(page, "tuning-1280-800")
    bottom = page.locator(".jp-WindowedPanel-outer").bounding_box()
    for selector in (".lab-tuning-controls", ".lt-fused tbody tr >> nth=-1", ".lt-large"):
        box = page.locator(selector).bounding_box()
        assert box["y"] + box["height"] <= bottom["y"] + bottom["height"], selector
    page.set_viewport_size({"width": 800, "height": 800})
    page.locator(".lt-large").evaluate("one => one.scrollIntoView({block: 'end'})")
    page.wait_for_timeout(200)
    screenshot(page, "tuning-800-scrolled")
    assert page.locator(".lt-large .lt-marker").bounding_box()["y"] > bottom["y"]
    for name in SLIDERS:
        assert tuning.slider(name).evaluate(_ON_TOP), name
    page.set_viewport_size({"width": 1280, "height": 900})


_ON_TOP = """one => {
  const {x, y, width, height} = one.getBoundingClientRect();
  return one.contains(document.elementFromPoint(x + width / 2, y + height / 2));
}"""


def test_names_are_not_broken_on_narrow_pages(tuning):
    page = tuning.page
    page.set_viewport_size({"width": 800, "height": 900})
    page.wait_for_timeout(200)
    name = page.locator(".lt-fused tbody th").first
    name.evaluate("one => one.firstChild.append(' library/stdtypesmapping#13.methods')")
    screenshot(page, "tuning-800-names")
    assert page.evaluate(_BROKEN_WORDS) == []
    assert name.get_attribute("title").startswith("Section 10: Cybersecurity Analysis")
    name.evaluate("one => one.firstChild.lastChild.remove()")
    page.set_viewport_size({"width": 1280, "height": 900})


# Words of the documents' names that go on in another line.
_BROKEN_WORDS = """() => [...document.querySelectorAll('.lt-fused tbody th span')].flatMap(name =>
  [...name.childNodes].flatMap(text => [...text.data.matchAll(/[^\\s-]+/g)].filter(word => {
    const range = document.createRange();
    range.setStart(text, word.index);
    range.setEnd(text, word.index + word[0].length);
    return new Set([...range.getClientRects()].map(line => line.top)).size > 1;
  }).map(word => word[0])))"""


def test_presets_and_reset(tuning):
    tuning.button("k_rrf = 1").click()
    tuning.settled(lambda: tuning.value("k_rrf") == "1")
    tuning.button("k_rrf = 60").click()
    tuning.settled(lambda: tuning.value("k_rrf") == "60")
    tuning.slider("candidates").press("Home")
    tuning.reset()
    tuning.settled(lambda: tuning.value("candidates") == "10")


def test_arrows_say_where_documents_went(tuning):
    before = {row[2]: int(row[0]) for row in tuning.rows()}
    tuning.slider("weight of BM25").press("Home")
    tuning.settled(lambda: any(re.match("[▲▼]", row[1]) for row in tuning.rows()))
    for rank, move, document, *_rest in tuning.rows():
        sign, _, places = move.partition(" ")
        moved = {"▲": 1, "▼": -1, "=": 0}[sign] * int(places or 0)
        assert before[document] - int(rank) == moved


def test_the_fallback_is_hidden_while_the_lab_lives(tuning):
    fallback = tuning.page.locator(".lab-tuning-fallback")
    assert fallback.count() == 1
    assert not fallback.is_visible()


def test_relevant_documents_have_a_star_and_bold_type(tuning):
    starred = [row[2] for row in tuning.rows() if row[2].startswith("★")]
    assert [re.search(r"Section (\d+)", name)[1] for name in starred] == ["10", "2", "5"]
    weights = tuning.page.eval_on_selector_all(
        ".lt-fused tbody th", "all => all.map(one => [one.textContent[0], getComputedStyle(one).fontWeight])"
    )
    assert all((weight == "700") == (first == "★") for first, weight in weights)


def test_the_chooser_and_a_query_of_ones_own(tuning):
    chooser = tuning.page.get_by_label("query", exact=True)
    title = tuning.page.locator(".lt-fused caption")
    chooser.select_option(index=12)
    tuning.settled(lambda: "TX-99402" in title.inner_text())
    tuning.ask("pumps that leak")
    tuning.settled(lambda: "pumps that leak" in title.inner_text())
    chosen = "one => one.selectedOptions[0].textContent.replaceAll('\\u00a0', ' ')"
    tuning.settled(lambda: chooser.evaluate(chosen) == "(your own)")
    assert "no document has a star" in tuning.page.locator(".lt-fused .lt-note").inner_text()
    tuning.ask("")
    tuning.settled(lambda: "TX-99402" in title.inner_text())
    tuning.settled(lambda: "TX-99402" in chooser.evaluate(chosen))
    tuning.ask("pumps that leak")
    tuning.settled(lambda: chooser.evaluate(chosen) == "(your own)")
    chooser.select_option(index=3)
    tuning.settled(lambda: chooser.evaluate(chosen).startswith("q04") and "pumps" not in title.inner_text())
    assert chooser.locator("option", has_text="(your own)").count() == 0


def test_the_call_gives_the_same_ranking_when_it_is_run(tuning):
    tuning.button("k_rrf = 1").click()
    tuning.slider("weight of vector").press("ArrowLeft")
    tuning.slider("candidates").press("ArrowLeft")
    tuning.button("show the call").click()
    code = tuning.page.locator(".lt-call pre")
    tuning.settled(lambda: "k_rrf=1, candidates=9" in code.inner_text() and "0.95" in code.inner_text())
    shown = tuning.ranking()
    *first, last = code.inner_text().splitlines()
    show = f"for document, score in {last}:\n    print(f\"{{document['title'][:20]}}|{{score:.4f}}\")"
    tuning.notebook.write(CALL, "\n".join([*first, show]))
    printed = [line.split("|") for line in tuning.notebook.run(CALL).splitlines()]
    tuning.notebook.locate(1)
    assert [(title[:20], score) for title, score in shown] == [tuple(line) for line in printed]


def test_a_slider_moved_while_the_maps_are_made_does_no_harm(tuning):
    tuning.slider("weight of BM25").press("PageDown")
    for _step in range(6):
        tuning.slider("k_rrf").press("ArrowLeft")
    tuning.settled(lambda: tuning.value("k_rrf") == "10")
    tuning.settled(lambda: tuning.page.locator(".lt-stale").count() == 0)
    assert tuning.problem() == ""
    assert "MRR over 30 queries" in tuning.status()


def test_weights_that_are_all_zero_are_refused_in_words(tuning):
    tuning.slider("weight of BM25").press("Home")
    tuning.settled(lambda: tuning.status().startswith("weight of BM25: 1 → 0."))
    rows = tuning.rows()
    tuning.slider("weight of vector").press("Home")
    tuning.settled(lambda: "At least one weight must be above 0" in tuning.problem())
    assert tuning.lab.get_by_role("alert").is_visible()
    assert tuning.rows() == rows


@pytest.mark.parametrize("theme", ["Light", "Dark"])
@pytest.mark.parametrize("width", [1280, 800])
def test_both_themes_can_be_read_on_wide_and_narrow_pages(tuning, width, theme):
    page = tuning.page
    page.set_viewport_size({"width": width, "height": 1500})
    page.evaluate(
        "name => jupyterapp.commands.execute('apputils:change-theme', {theme: name})", f"JupyterLab {theme}"
    )
    page.wait_for_function(
        "light => document.body.dataset.jpThemeLight === light", arg=str(theme == "Light").lower()
    )
    tuning.slider("weight of BM25").press("Home")
    tuning.button("show the call").click()
    tuning.settled(lambda: page.locator(".lt-stale").count() == 0)
    page.evaluate("document.querySelector('.lab-tuning').scrollIntoView({block: 'start'})")
    page.wait_for_timeout(300)
    screenshot(page, f"tuning-{width}-{theme.lower()}")
    wide = page.evaluate(
        """() => [...document.querySelectorAll('.lab-tuning, .lab-tuning-view, .lt-scroller')]
              .filter(one => one.scrollWidth > one.clientWidth + 1).map(one => one.className)"""
    )
    assert wide == []
    faint = page.evaluate(_FAINT)
    assert faint == []
    page.set_viewport_size({"width": 1280, "height": 900})


# Text of the lab whose contrast to the page is below 4.5, as WCAG reckons it.
_FAINT = """() => {
  const channel = part => (part /= 255) <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  const light = colour => {
    const [r, g, b] = colour.match(/[\\d.]+/g).map(Number).map(channel);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ground = one => {
    for (; one; one = one.parentElement) {
      const colour = getComputedStyle(one).backgroundColor;
      if (!/^rgba\\(.*, 0\\)$/.test(colour)) return colour;
    }
    return 'rgb(255, 255, 255)';
  };
  return [...document.querySelectorAll('.lab-tuning :is(td, th, p, h4, caption, strong, span, li, pre, button, label)')]
    .filter(one => one.checkVisibility() && one.textContent.trim() && !one.disabled)
    .map(one => {
      const [a, b] = [light(getComputedStyle(one).color), light(ground(one))].sort((x, y) => y - x);
      return [one.textContent.trim().slice(0, 40), one.className, (a + 0.05) / (b + 0.05)];
    })
    .filter(([, , contrast]) => contrast < 4.5);
}"""


# ---- without a kernel


@pytest.fixture(scope="module")
def saved(opened, course):
    """The notebook as the learner saved it after its run."""
    opened.notebook.save()
    return nbformat.read(course / PATH, as_version=4)


def without_kernel(course, saved, name: str) -> str:
    """The saved notebook under another name, with a kernel that nobody has; its path."""
    copy = nbformat.from_dict(json.loads(nbformat.writes(saved)))
    copy.metadata = {"kernelspec": {"name": "absent", "display_name": "Absent", "language": "absent"}}
    path = f"notebooks/99_tuning/{name}.ipynb"
    nbformat.write(copy, course / path)
    return path


def test_a_saved_notebook_holds_the_fallback_and_no_state_of_the_widget(saved):
    assert "widgets" not in saved.metadata
    kinds = [sorted(output.data) for output in saved.cells[1].outputs]
    assert kinds == [["text/html", "text/plain"], ["application/vnd.jupyter.widget-view+json", "text/plain"]]
    assert len(json.dumps(saved)) < 400_000


@contextmanager
def other_page(opened):
    """Another page of the same browser: a thread can hold only one."""
    page = opened.page.context.browser.new_page(viewport={"width": 1280, "height": 1900})
    yield page
    page.close()


@pytest.mark.parametrize("trusted", [True, False])
def test_a_notebook_without_a_kernel_shows_the_fallback(lab, course, home, opened, saved, trusted):
    path = without_kernel(course, saved, "trusted" if trusted else "untrusted")
    if trusted:
        command = [sys.executable, "-m", "jupyter", "trust", str(course / path)]
        subprocess.run(command, env=course_environment(course, home), check=True, timeout=60)
    with other_page(opened) as page:
        page.goto(f"{lab.base}/lab/tree/{path}?reset&token={lab.token}")
        page.locator(".jp-Dialog button", has_text="No Kernel").click()
        page.get_by_role("img", name="Heat map").wait_for()
        page.wait_for_timeout(1500)
        screenshot(page, f"tuning-fallback-{'trusted' if trusted else 'untrusted'}")
        assert_fallback_can_be_read(page)


def test_nbconvert_gives_the_fallback(opened, saved, tmp_path):
    (tmp_path / "saved.ipynb").write_text(nbformat.writes(saved), encoding="utf-8")
    convert = [sys.executable, "-m", "nbconvert", "--to", "html", str(tmp_path / "saved.ipynb")]
    subprocess.run(convert, check=True, timeout=120, capture_output=True)
    with other_page(opened) as page:
        page.route(re.compile("^https?:"), lambda route: route.abort())
        page.goto((tmp_path / "saved.html").as_uri())
        page.wait_for_timeout(500)
        screenshot(page, "tuning-fallback-nbconvert")
        assert_fallback_can_be_read(page)


def assert_fallback_can_be_read(page) -> None:
    """Both pictures are drawn and described, the tables are there, and nothing on the page is a broken widget."""
    images = page.locator("img[alt^='Bar chart'], img[alt^='Heat map']")
    assert images.count() == 2
    for image in images.all():
        assert image.is_visible()
        assert image.evaluate("one => one.naturalWidth") > 300
    text = page.locator("body").inner_text()
    for words in ("The tuning lab, as it was when this cell ran", "INC-2023-Q4-011", "95 % interval"):
        assert words in text
