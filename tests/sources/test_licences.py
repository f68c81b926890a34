"""Licences with their evidence, in the order of precedence."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cass_pipeline.sources.licences import (
    LARGEST_TEXT,
    RESTRICTIONS,
    LicenceReader,
    is_licence_file,
    stated_in,
)
from cass_pipeline.sources.spdx import Licence, is_permitted, normalised
from tests.sources.trees import MIT, tree_of

APACHE_NOTICE = """/*
 * Licensed under the Apache License, Version 2.0 (the "License");
 * you may not use this file except in compliance with the License.
 * You may obtain a copy of the License at
 *     http://www.apache.org/licenses/LICENSE-2.0
 * Unless required by applicable law or agreed to in writing, software
 * distributed under the License is distributed on an "AS IS" BASIS,
 * WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
 * See the License for the specific language governing permissions and
 * limitations under the License.
 */
"""
NVIDIA_NOTICE = """/*
 * Copyright 1993-2015 NVIDIA Corporation.  All rights reserved.
 * Please refer to the NVIDIA end user license agreement (EULA) associated
 * with this source code for terms and conditions that govern your use.
 */
"""
OWN_TERMS = "You may look at this software on Tuesdays, provided that you are seated. " * 10


def licence_of(files: Mapping[str, str], *paths: str) -> Licence:
    return LicenceReader(tree_of(files)).of_unit([(path, files[path]) for path in paths])


def test_a_tag_in_the_file_wins() -> None:
    text = "// SPDX-License-Identifier: Apache-2.0\n"
    licence = licence_of({"src/a.cu": text, "LICENSE": MIT}, "src/a.cu")
    assert licence == Licence("Apache-2.0", ("src/a.cu: SPDX tag Apache-2.0",))


def test_then_a_notice_at_its_top() -> None:
    files = {"a.cu": APACHE_NOTICE + "int x;", "LICENSE": MIT}
    assert licence_of(files, "a.cu").expression == "Apache-2.0"


def test_then_the_nearest_licence_file() -> None:
    files = {"lib/x/a.cu": "", "lib/LICENSE.txt": MIT, "COPYING": OWN_TERMS}
    licence = licence_of(files, "lib/x/a.cu")
    assert licence.expression == "MIT"
    assert licence.evidence[0].startswith("lib/LICENSE.txt: MIT (9")


def test_then_the_metadata_of_a_package() -> None:
    files = {"a.cu": "", "PKG-INFO": "Metadata-Version: 2.4\nLicense-Expression: ISC\n\nText\n"}
    assert licence_of(files, "a.cu") == Licence("ISC", ("PKG-INFO: License-Expression: ISC",))


@pytest.mark.parametrize(
    ("metadata", "expression"),
    [
        ("License: BSD-3-Clause", "BSD-3-Clause"),
        ("License: see file\nClassifier: License :: OSI Approved :: MIT License", "MIT"),
        ("Classifier: License :: OSI Approved\nClassifier: Topic :: X", None),
        ("Classifier: License :: OSI Approved :: BSD License", None),
        ("", None),
    ],
)
def test_fields_of_the_metadata(metadata: str, expression: str | None) -> None:
    assert licence_of({"a.cu": "", "PKG-INFO": metadata}, "a.cu").expression == expression


def test_an_unknown_text_hides_what_is_above_it() -> None:
    files = {"vendor/a.cu": "", "vendor/LICENSE": OWN_TERMS, "LICENSE": MIT}
    licence = licence_of(files, "vendor/a.cu")
    assert licence == Licence(None, ("vendor/LICENSE: licence text not recognised",))


def test_a_pointer_to_a_licence_hides_nothing() -> None:
    files = {"vendor/a.cu": "", "vendor/LICENSE": "See the file above.", "LICENSE": MIT}
    assert licence_of(files, "vendor/a.cu").expression == "MIT"


def test_two_licence_files_of_a_folder_both_hold() -> None:
    files = {"a.cu": "", "LICENSE": MIT, "LICENSE.third-party": OWN_TERMS}
    assert licence_of(files, "a.cu").expression is None


def test_a_unit_stands_under_the_licences_of_all_its_files() -> None:
    files = {"a.cu": "", "v/b.h": "// SPDX-License-Identifier: ISC OR Zlib", "LICENSE": MIT}
    assert licence_of(files, "a.cu", "v/b.h").expression == "(ISC OR Zlib) AND MIT"
    files["v/LICENSE"] = OWN_TERMS
    files["v/c.h"] = ""
    assert licence_of(files, "a.cu", "v/c.h").expression is None


def test_without_any_licence() -> None:
    assert licence_of({"a.cu": ""}, "a.cu") == Licence(None, ("a.cu: no licence found",))


@pytest.mark.parametrize("phrase", RESTRICTIONS)
def test_a_restriction_makes_a_known_text_unknown(phrase: str) -> None:
    files = {"a.cu": "", "LICENSE": MIT + f"\nThe above holds for {phrase.upper()}.\n"}
    assert licence_of(files, "a.cu") == Licence(None, (f"LICENSE: says {phrase!r}",))


def test_a_proprietary_notice_hides_the_trees_licence() -> None:
    files = {"a.cu": NVIDIA_NOTICE, "LICENSE": MIT}
    assert licence_of(files, "a.cu").expression is None


@pytest.mark.parametrize("data", [b"\0\0", b"x" * (LARGEST_TEXT + 1)])
def test_a_licence_file_that_is_no_text_is_unknown(data: bytes) -> None:
    tree = tree_of({"a.cu": "", "LICENSE": data})
    assert LicenceReader(tree).of_unit([("a.cu", "")]).expression is None


@pytest.mark.parametrize(
    ("tag", "expression"),
    [
        ("// SPDX-License-Identifier: MIT", "MIT"),
        ("/* SPDX-License-Identifier: GPL-2.0+ */", "GPL-2.0-or-later"),
        ("//SPDX-License-Identifier:MIT OR Apache-2.0\r\n", "MIT OR Apache-2.0"),
        ("// SPDX-License-Identifier: LicenseRef-Ours", "LicenseRef-Ours"),
        ("// SPDX-License-Identifier: Ours", None),
        ("// SPDX-License-Identifier: (((", None),
        ("// SPDX-License-Identifier: " + "(" * 3000, None),
    ],
)
def test_tags(tag: str, expression: str | None) -> None:
    licence = stated_in("a.cu", tag)
    assert licence is not None
    assert licence.expression == expression


@given(st.text(max_size=200))
def test_no_text_makes_the_reader_fail(text: str) -> None:
    stated_in("a.cu", f"// SPDX-License-Identifier: {text}")
    stated_in("a.cu", f"/* {text}")
    normalised(text)


@pytest.mark.parametrize("name", ["LICENSE", "licence.md", "COPYING.LESSER", "MIT-LICENSE.txt"])
def test_names_of_licence_files(name: str) -> None:
    assert is_licence_file(f"x/{name}")


@pytest.mark.parametrize("name", ["license.py", "LICENSE.cu", "relicensed.txt", "README"])
def test_other_names(name: str) -> None:
    assert not is_licence_file(name)


@pytest.mark.parametrize(
    ("expression", "permitted"),
    [
        ("MIT", True),
        ("MIT AND Apache-2.0", True),
        ("MIT AND GPL-3.0-only", False),
        ("MIT OR GPL-3.0-only", True),
        ("(MIT OR GPL-3.0-only) AND Apache-2.0", True),
        ("Apache-2.0 WITH LLVM-exception", True),
        ("GPL-2.0-only WITH Classpath-exception-2.0", False),
        ("LicenseRef-X", False),
        ("MIT AND", False),
    ],
)
def test_permission(expression: str, permitted: bool) -> None:
    listed = ("MIT", "Apache-2.0", "Apache-2.0 WITH LLVM-exception")
    assert is_permitted(expression, listed) is permitted
