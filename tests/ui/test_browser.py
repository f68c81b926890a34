"""What somebody sees who opens the Dagster UI: a real server, a real browser."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from playwright.sync_api import Page, expect, sync_playwright

from cass_pipeline.definitions import defs
from tests.checkout import Checkout
from tests.ui.server import dagster_dev

CHAIN_MS = 300_000  # the whole chain, on a machine that is busy with other tests
ASSETS = sorted(key.to_user_string() for key in defs.resolve_all_asset_keys())


@dataclass(frozen=True)
class Ui:
    """A checkout, the address of its web page and a browser's window."""

    checkout: Checkout
    address: str
    page: Page

    def open(self, path: str) -> Page:
        """The window, at another page."""
        self.page.goto(self.address + path)
        return self.page


@pytest.fixture(scope="module")
def ui(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ui]:
    """The UI after "Materialize all" was pressed and its run has ended."""
    folder = tmp_path_factory.mktemp("ui")
    checkout = Checkout.make(folder / "checkout")
    checkout.kernel(1)
    checkout.kernel(2)
    with dagster_dev(checkout, folder / "dagster.log") as address, sync_playwright() as playwright:
        # Chromium refuses its own sandbox to root, whom continuous integration runs as.
        browser = playwright.chromium.launch(
            executable_path="/usr/bin/chromium", args=["--no-sandbox"]
        )
        page = browser.new_page(viewport={"width": 1500, "height": 3000})
        page.set_default_timeout(60_000)
        ui = Ui(checkout, address, page)
        ui.open("/asset-groups").get_by_role("button", name="Materialize all").click()
        expect(page.get_by_text("Launched run")).to_be_visible()
        ui.open("/runs")
        expect(page.get_by_text("Manually launched")).to_be_visible(timeout=60_000)
        expect(page.get_by_text(re.compile("^(Success|Failure)$"))).to_be_visible(timeout=CHAIN_MS)
        yield ui
        browser.close()


def test_materialize_all_makes_every_asset_green(ui: Ui) -> None:
    page = ui.open("/assets")
    for asset in ASSETS:
        expect(page.locator(f'a[href$="/assets/{asset}"]').first).to_be_visible()
    expect(page.get_by_text("Materialized", exact=True)).to_have_count(len(ASSETS))


def test_the_ledger_shows_its_plot(ui: Ui) -> None:
    page = ui.open("/assets/stage_ledger?view=overview")
    page.get_by_text("[Show Markdown]").first.click()
    picture = page.get_by_role("img", name="funnel")
    expect(picture).to_be_visible()
    assert picture.evaluate("image => image.complete && image.naturalWidth") > 500


def test_the_nightly_schedule_is_on(ui: Ui) -> None:
    page = ui.open("/automation")
    expect(page.get_by_text("refresh_corpus_nightly")).to_be_visible()
    expect(page.get_by_text("02:00 AM UTC")).to_be_visible()
    # Two boxes choose rows; the third is the switch.
    expect(page.get_by_role("checkbox").last).to_be_checked()


def test_a_run_logs_its_rate_and_the_time_left(ui: Ui) -> None:
    page = ui.open("/runs")
    page.locator('a[href^="/runs/"]').first.click()
    logs = page.get_by_text(re.compile(r"hip_objects: 2/2 done \(2 kept\), [\d.]+/s, \d+ s left"))
    page.get_by_placeholder("Filter…").fill("hip_objects")
    expect(logs.first).to_be_visible()


def test_a_failed_check_says_which_expectation_and_how_many_rows(ui: Ui) -> None:
    path = ui.checkout.local / "add_1.cu"
    path.write_text(path.read_text().split("\n", 1)[1])  # without its SPDX line
    settings = ui.checkout.folder / "run.yaml"
    settings.write_text("ops: {raw_kernels: {config: {allow_unknown_licence: true}}}\n")
    assert ui.checkout.run("-c", str(settings))[0] == 1
    page = ui.open("/assets/corpus?view=checks&checkDetail=pairs_are_valid")
    expect(page.get_by_text("Failed", exact=True).first).to_be_visible()
    expect(page.get_by_text("The licence is one of the permitted ones.").first).to_be_visible()
    page.get_by_text("[Show Markdown]").first.click()
    expect(
        page.get_by_role("row", name="The licence is one of the permitted ones. critical no")
    ).to_be_visible()
