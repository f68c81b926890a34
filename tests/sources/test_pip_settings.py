"""Which index pip is set to use."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from cass_pipeline.errors import ConfigurationError
from cass_pipeline.sources.pip_settings import (
    IndexSettings,
    parse_pip_config,
    pip_index_settings,
)


def test_files_and_variables_as_pip_sees_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = tmp_path / "pip.conf"
    config.write_text(
        "[global]\nindex-url = https://one.example/simple\ncert = /ca.pem\n"
        "extra-index-url =\n  https://a.example\n  https://b.example\n"
        "[download]\ntrusted-host = c.example\n[install]\nproxy = http://unused.example\n"
    )
    for name in [name for name in os.environ if name.startswith("PIP_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_CONFIG_FILE", str(config))
    monkeypatch.setenv("PIP_INDEX_URL", "https://two.example/simple")
    found = pip_index_settings()
    assert found.index_url == "https://two.example/simple"
    assert (found.cert, found.proxy) == ("/ca.pem", None)
    assert found.extra_index_url == ("https://a.example", "https://b.example")
    assert found.trusted_host == ("c.example",)


def test_the_stronger_section_wins_in_any_order() -> None:
    listing = (
        ":env:.index-url='e'\nglobal.index-url='g'\ndownload.index-url='d'\nglobal.no-index='1'"
    )
    assert parse_pip_config(listing) == IndexSettings(index_url="e", no_index=True)


@pytest.mark.parametrize("listing", ["", "nonsense", "global.index-url=unquoted'", "=\n.\n"])
def test_other_output_is_no_error(listing: str) -> None:
    assert parse_pip_config(listing).extra_index_url == ()


def test_pip_that_cannot_read_its_configuration(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = tmp_path / "pip.conf"
    config.write_text("no section")
    monkeypatch.setenv("PIP_CONFIG_FILE", str(config))
    with pytest.raises(ConfigurationError, match="mend pip's configuration"):
        pip_index_settings()


def test_nothing_is_read_on_import() -> None:
    code = "import sys; import cass_pipeline.sources.sdist; print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True
    ).stdout.split()
    assert not {"unearth", "httpx2", "licenseclassifier", "license_expression", "pip"} & set(loaded)
