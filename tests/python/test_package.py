import importlib.metadata
import pathlib
import re

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
