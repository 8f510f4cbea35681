// The extension module headrace._headrace: the C++ facade as Python objects. The package headrace
// dresses it.
#include <pybind11/pybind11.h>

PYBIND11_MODULE(_headrace, module) { module.attr("__version__") = HEADRACE_VERSION; }
