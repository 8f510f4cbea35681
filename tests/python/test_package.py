from __future__ import annotations

import ast
import importlib.metadata
import pathlib
import re
import subprocess
import sys

import headrace

ROOT = pathlib.Path(__file__).resolve().parents[2]


def test_the_version_is_the_one_that_cmake_states() -> None:
    lists = (ROOT / "CMakeLists.txt").read_text()
    stated = re.search(r"project\(headrace VERSION ([0-9.]+)", lists)
    assert stated is not None
    assert headrace.__version__ == stated.group(1)
    assert importlib.metadata.version("headrace") == stated.group(1)


def test_the_package_tells_type_checkers_that_it_is_typed() -> None:
    assert (pathlib.Path(headrace.__file__).parent / "py.typed").is_file()


def test_the_package_offers_all_that_its_stubs_name() -> None:
    stubs = ast.parse((pathlib.Path(headrace.__file__).parent / "_headrace.pyi").read_text())
    classes = {item.name for item in stubs.body if isinstance(item, ast.ClassDef)}
    assert classes <= set(headrace.__all__)
    assert all(hasattr(headrace, name) for name in headrace.__all__)


def run_tool(*arguments: str, cwd: pathlib.Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", *arguments], cwd=cwd, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


# What is pybind11's own way: its metaclass, an __init__ that always raises, buffers in C only. And
# stubtest takes a Literal for a Union.
PYBIND11 = r"""
headrace\._headrace\.\w+
headrace\._headrace\.(?!Node|Ext)\w+\.__init__
headrace\._headrace\.RunningJob\.__buffer__
headrace\._types\.\w+
"""


def test_the_stubs_are_what_the_module_is(tmp_path: pathlib.Path) -> None:
    allowed = tmp_path / "allowed"
    allowed.write_text(PYBIND11)
    run_tool("mypy.stubtest", "headrace", "--concise", "--allowlist", str(allowed), cwd=tmp_path)


def test_the_package_passes_a_strict_type_check(tmp_path: pathlib.Path) -> None:
    run_tool("mypy", "--strict", "--cache-dir", str(tmp_path), "-p", "headrace", cwd=tmp_path)
