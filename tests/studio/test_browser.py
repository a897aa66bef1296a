"""The studio in real Chromium: the whole path, and what must not happen on the way."""

import http.client
import io
import re
import shutil

import pandas as pd
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect, sync_playwright

from ecselm.saving import load_model
from tests.studio.conftest import write_table

PROGRAM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
pytestmark = pytest.mark.skipif(PROGRAM is None, reason="needs chromium or google-chrome")
SECONDS = 60_000  # milliseconds that a step may take on a busy machine
SERIOUS = {"serious", "critical"}
LONG = "2000000"  # generations, more than any test waits for
# What is wider than the window, except inside a box that can be moved.
OVERFLOW = """() => [...document.querySelectorAll('body *')].filter(
  e => !e.closest('.unseen, .skip') && !e.parentElement.closest('.scrolled')
    && e.getBoundingClientRect().right > innerWidth + 1).map(e => e.outerHTML.slice(0, 90))"""


@pytest.fixture(scope="module")
def chromium():
    with sync_playwright() as started:
        browser = started.chromium.launch(
            executable_path=PROGRAM, args=["--no-sandbox", "--disable-dev-shm-usage"]
        )
        yield browser
        browser.close()


class Visit:
    """One person's browser, with all it complained about and asked for."""

    def __init__(self, chromium, server, *, address=None, **options):
        self.server = server
        self.context = chromium.new_context(viewport={"width": 1200, "height": 800}, **options)
        self.context.set_default_timeout(SECONDS)
        self.page = self.context.new_page()
        self.complaints, self.requests = [], []
        self.page.on(
            "console",
            lambda message: (
                self.complaints.append(message.text)
                if message.type in {"error", "warning"}
                else None
            ),
        )
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.context.on("request", lambda request: self.requests.append(request.url))
        self.page.goto(server.address if address is None else address)
        self.page.wait_for_url(lambda url: "token=" not in url)  # the page leads on by itself

    def at(self, path):
        self.page.wait_for_url(re.compile(f"{path}$"))
        return self.page

    def upload(self, file):
        self.page.goto(f"{self.server.base}/")
        self.page.set_input_files("#table", file)
        self.page.get_by_role("button", name="Read the table").click()
        return self.page

    def press(self, name):
        self.page.get_by_role("button", name=name).click()
        return self.page

    def train(self, epochs="1"):
        self.page.get_by_text("Options").click()
        self.page.fill("#epochs", epochs)
        return self.press("Start the training")

    def check_page(self):
        """Check what every page must be: accessible in both colours, and within the window."""
        for scheme in ("light", "dark"):
            self.page.emulate_media(color_scheme=scheme)
            found = Axe().run(self.page).response["violations"]
            assert [one["id"] for one in found if one["impact"] in SERIOUS] == [], self.page.url
        for width in (390, 1200):
            self.page.set_viewport_size({"width": width, "height": 800})
            assert self.page.evaluate(OVERFLOW) == [], (self.page.url, width)

    def download(self, name):
        with self.page.expect_download() as found:
            self.page.get_by_role("link", name=name, exact=True).click()
        return found.value.path()

    def close(self):
        """Check that nothing was complained about, and nothing asked elsewhere."""
        self.context.close()
        assert self.complaints == []
        assert {url for url in self.requests if not url.startswith(f"{self.server.base}/")} == set()


def whole_path(chromium, server, file, k, tmp_path):
    """Go from an uploaded table to files of a model, looking at every page."""
    visit = Visit(chromium, server)
    page = visit.at("/")
    visit.check_page()
    visit.upload(file)
    visit.at("/data").select_option("#target", label="state")
    page.get_by_role("checkbox", name="Leave out patient").check()
    page.get_by_role("checkbox", name="Leave out loss").check()
    page.get_by_text("Groups, results by group").click()
    page.select_option("#by", label="ward")
    visit.check_page()
    visit.press("Go on to costs")
    visit.at("/costs")
    page.fill("#unit", "40")
    page.fill("#currency", "EUR")
    visit.check_page()
    visit.press("Go on to training")
    visit.at("/training")
    visit.check_page()
    visit.train()
    page.wait_for_selector("text=Train again")
    visit.check_page()

    page.get_by_role("link", name="Look at the trade-off").click()
    said = page.locator("output")
    page.wait_for_selector("output:not(:empty)")  # filled by the script
    before = said.inner_text()
    page.focus("#point")
    for _ in range(6):
        page.keyboard.press("ArrowRight")
    assert said.inner_text() != before
    page.get_by_text("All points of the slider").click()
    visit.check_page()
    visit.press("Decide at this point")
    page.wait_for_selector("text=Costs in use: mistakes on")

    page.get_by_role("link", name="Go on to questions").click()
    visit.check_page()
    n = 0
    while page.locator(".choices button").count() and n < 4:
        page.fill("#by", "Ann")
        page.locator(".choices button").nth(1).click()
        n += 1
        page.wait_for_selector(f"ol.words li:nth-child({n})")
    assert n > 0
    visit.check_page()
    visit.press("Take back the last answer")
    expect(page.locator("ol.words li")).to_have_count(n - 1, timeout=SECONDS)
    page.locator(".choices button").nth(1).click()
    page.wait_for_selector(f"ol.words li:nth-child({n})")
    visit.press("Decide by these answers")
    page.wait_for_selector(f"text=Costs in use: {n} answer")

    page.get_by_role("link", name="Rows").click()
    page.get_by_role("link", name="all test rows").click()
    visit.check_page()
    page.locator("tbody a").first.click()
    page.wait_for_selector("text=The row in the table")
    visit.check_page()
    page.get_by_role("link", name="Report", exact=True).click()
    visit.check_page()
    model = load_model(visit.download("model.skops")).model
    assert len(model.classes_) == k
    predicted = pd.read_csv(visit.download("predictions.csv"))["prediction"]
    rows = pd.read_csv(file).drop(columns=["patient", "loss", "state"])
    assert model.predict(rows).tolist() == predicted.tolist()
    assert b"A model that predicts" in visit.download("report.html").read_bytes()
    assert visit.download("model.onnx").stat().st_size > 1000
    with page.expect_popup() as shown:
        page.get_by_role("link", name="Open the report").click()
    shown.value.wait_for_load_state()
    assert shown.value.locator("h1").inner_text() == "A model that predicts state"
    visit.close()


def test_from_a_table_of_two_classes_to_model_and_report(chromium, server, tables, tmp_path):
    whole_path(chromium, server, tables[2], 2, tmp_path)


@pytest.mark.slow
def test_from_a_table_of_five_classes_to_model_and_report(chromium, server, tables, tmp_path):
    whole_path(chromium, server, tables[5], 5, tmp_path)


@pytest.mark.slow
def test_the_path_needs_no_script(chromium, server, tables):
    visit = Visit(chromium, server, java_script_enabled=False)
    visit.upload(tables[2])
    visit.at("/data").select_option("#target", label="state")
    visit.press("Go on to costs")
    visit.at("/costs")
    page = visit.press("Go on to training")
    visit.at("/training")
    visit.press("Start the training")
    page.get_by_role("link", name="Look at the trade-off").click()  # the page renews itself
    visit.press("Decide at this point")
    page.wait_for_selector("text=Costs in use: mistakes on")
    page.get_by_role("link", name="Questions", exact=True).click()
    page.locator(".choices button").first.click()
    page.wait_for_selector("ol.words li")
    page.get_by_role("link", name="Report", exact=True).click()
    assert visit.download("model.skops").stat().st_size > 1000
    visit.close()


def test_a_bad_file_is_refused_in_a_sentence(chromium, server, tmp_path):
    bad = tmp_path / "bad.csv"
    bad.write_bytes(b"\x00\x01\x02\x03" * 100)
    visit = Visit(chromium, server)
    page = visit.upload(bad)
    page.wait_for_selector("[role=alert]")
    assert "The file cannot be used" in page.locator("[role=alert]").inner_text()
    visit.check_page()
    # The browser itself notes the status of the answer.
    visit.complaints = [one for one in visit.complaints if "422" not in one]
    visit.close()


@pytest.mark.slow
def test_a_training_survives_a_reload_and_is_cancelled(chromium, server, tables):
    visit = Visit(chromium, server)
    visit.upload(tables[5])
    visit.at("/data").select_option("#target", label="state")
    visit.press("Go on to costs")
    visit.at("/costs").select_option("#metric", value="gmean")
    visit.press("Go on to training")
    visit.at("/training")
    page = visit.train(LONG)
    stage = page.locator("[data-stage]")
    expect(stage).to_have_text(re.compile(r"generation \d{3,}"), timeout=SECONDS)
    visit.check_page()
    step = r"generation (\d+)"
    before = int(re.search(step, stage.inner_text())[1])
    page.reload()
    assert int(re.search(step, stage.inner_text())[1]) >= before
    other = Visit(chromium, server, address=f"{page.url}?token={server.token}")
    other.page.wait_for_selector("[data-progress]")  # another window shows it as well
    other.close()
    now = stage.inner_text()
    expect(stage).not_to_have_text(now, timeout=SECONDS)  # it goes on
    visit.press("Cancel the training")
    page.wait_for_selector("text=The training was cancelled.")
    visit.close()


def test_markup_in_names_is_text(chromium, server, tmp_path):
    nasty = '<img src=x onerror="document.title=1">'
    frame = pd.DataFrame({nasty: range(60), "<script>alert(1)</script>": [*"<&'"] * 20})
    file = tmp_path / "nasty.csv"
    frame.assign(**{"</title><b>": ["<i>a</i>", '"b"'] * 30}).to_csv(file, index=False)
    visit = Visit(chromium, server)
    visit.upload(file)
    page = visit.at("/data")
    assert page.get_by_text(nasty, exact=True).count() >= 1
    visit.check_page()
    page.select_option("#target", label="</title><b>")
    visit.press("Go on to costs")
    visit.at("/costs")
    assert page.get_by_text("<i>a</i>").count() >= 1
    assert page.locator("i").count() == 0
    visit.press("Go on to training")
    visit.at("/training")
    visit.press("Start the training")
    page.wait_for_selector("text=Train again")
    for step in ("tradeoff", "questions", "rows?show=all", "rows/0", "report"):
        page.goto(re.sub("training$", step, page.url) if "training" in page.url else
                  re.sub(r"(/p/[^/]+/).*", rf"\g<1>{step}", page.url))  # fmt: skip
        assert page.locator("main img, main i, main script").count() == 0
    assert "ecselm studio" in page.title()
    visit.close()


def test_a_second_browser_without_the_token_is_refused(chromium, server):
    stranger = Visit(chromium, server, address=f"{server.base}/")
    assert "has not opened the studio" in stranger.page.locator("[role=alert]").inner_text()
    stranger.check_page()
    stranger.complaints = [one for one in stranger.complaints if "403" not in one]
    stranger.close()


def asked(server, method="GET", path="/", **headers):
    """Return the status and the sentence of an answer."""
    host, _, port = server.base.rpartition("/")[2].partition(":")
    connection = http.client.HTTPConnection(host, int(port), timeout=60)
    given = {"Cookie": server.cookie, **headers}
    connection.request(method, path, headers={key.title(): one for key, one in given.items()})
    answer = connection.getresponse()
    found = re.search(r'role="alert">(.*?)<', answer.read().decode())
    connection.close()
    return answer.status, found[1] if found else ""


def test_a_foreign_host_and_origin_are_refused(server):
    own = server.base
    assert asked(server)[0] == 200
    assert asked(server, host="evil.example") == (403, "This address is not that of the studio.")
    status, sentence = asked(server, "POST", "/projects", origin="https://evil.example")
    assert (status, sentence) == (403, "The request comes from another page than the studio.")
    assert asked(server, origin=own)[0] == 200


def test_a_page_of_another_origin_reaches_nothing(chromium, server):
    """A page elsewhere sends a form, with the cookie of the studio in the same browser."""
    visit = Visit(chromium, server)
    visit.at("/")
    context, page = visit.context, visit.page
    form = (
        f'<form method="post" action="{server.base}/projects" enctype="multipart/form-data">'
        '<input name="table" value="x"><button>go</button></form>'
    )
    context.route("http://evil.example/", lambda route: route.fulfill(
        body=form, content_type="text/html"))  # fmt: skip
    page.goto("http://evil.example/")
    with page.expect_response(re.compile("/projects")) as answer:
        page.get_by_role("button", name="go").click()
    assert answer.value.status == 403
    assert "another page" in page.locator("[role=alert]").inner_text()
    context.close()


@pytest.mark.slow
def test_killing_the_server_loses_no_finished_step(chromium, started, tmp_path, tables):
    server = started(str(tables[2]))
    visit = Visit(chromium, server)
    visit.at("/data").select_option("#target", label="state")
    visit.press("Go on to costs")
    visit.at("/costs").fill("[name=low-0-1]", "3")
    visit.page.fill("[name=high-0-1]", "90")
    visit.press("Go on to training")
    visit.at("/training")
    page = visit.train()
    page.get_by_role("link", name="Look at the trade-off").click()
    page.get_by_role("link", name="Go on to questions").click()
    page.locator(".choices button").nth(1).click()
    page.wait_for_selector("ol.words li")
    answered = page.locator("ol.words").text_content()
    place = page.url.removeprefix(server.base)
    visit.close()
    server.kill()

    server = started(str(tables[2]))
    visit = Visit(chromium, server, address=f"{server.base}{place}?token={server.token}")
    visit.at("/questions")
    assert visit.page.locator("ol.words").text_content() == answered
    visit.page.get_by_role("link", name="Costs", exact=True).click()
    assert visit.page.input_value("[name=high-0-1]") == "90"
    visit.close()
    printed, complaints = server.stop()
    assert "Projects stay in" in printed
    assert complaints == ""
    assert len(list((tmp_path / "studio").iterdir())) == 1


@pytest.mark.slow
@pytest.mark.parametrize("stated", [True, False], ids=["form", "no stated length"])
def test_an_upload_of_200_mb_is_refused_in_a_sentence(chromium, server, tmp_path, stated):
    if not stated:  # which no browser sends
        host, _, port = server.base.rpartition("/")[2].partition(":")
        connection = http.client.HTTPConnection(host, int(port), timeout=60)
        headers = {"Cookie": server.cookie, "Origin": server.base,
                   "Content-Type": "multipart/form-data; boundary=x"}  # fmt: skip
        head = b'--x\r\nContent-Disposition: form-data; name="table"; filename="a.csv"\r\n\r\n'
        blocks = [head, *[b"1,2\n" * 2**18] * 200]
        connection.request("POST", "/projects", iter(blocks), headers, encode_chunked=True)
        answer = connection.getresponse()
        assert answer.status == 413
        assert "at most 100 MB" in answer.read().decode()
        connection.close()
        return
    large = tmp_path / "large.csv"
    with large.open("wb") as file:
        for _ in range(200):
            file.write(b"1,2\n" * 2**18)
    visit = Visit(chromium, server)
    page = visit.upload(large)
    page.wait_for_selector("[role=alert]")
    assert "The file must have at most 100 MB." in page.locator("[role=alert]").inner_text()
    assert resident_mb(server) < 600
    visit.complaints = [one for one in visit.complaints if "413" not in one]
    visit.close()


def resident_mb(server):
    with open(f"/proc/{server.process.pid}/status") as file:  # noqa: PTH123
        return int(re.search(r"VmHWM:\s+(\d+)", file.read())[1]) / 1024


def test_names_of_uploads_stay_in_their_folder(server, tmp_path):
    """A name with folders, as no browser sends it."""
    content = write_table(tmp_path / "a.csv", 2).read_bytes()
    boundary = b"x-x-x"
    body = io.BytesIO()
    body.write(b"--" + boundary + b'\r\nContent-Disposition: form-data; name="table"; ')
    body.write(b'filename="../../../../tmp/escaped.csv"\r\n\r\n' + content)
    body.write(b"\r\n--" + boundary + b"--\r\n")
    host, _, port = server.base.rpartition("/")[2].partition(":")
    connection = http.client.HTTPConnection(host, int(port), timeout=60)
    headers = {"Cookie": server.cookie, "Origin": server.base,
               "Content-Type": f"multipart/form-data; boundary={boundary.decode()}"}  # fmt: skip
    connection.request("POST", "/projects", body.getvalue(), headers)
    place = connection.getresponse().headers["location"]
    connection.close()
    assert re.fullmatch(r"/p/escaped-[0-9a-f]{6}/data", place)
