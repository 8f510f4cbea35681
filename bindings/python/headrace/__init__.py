"""Events and durable jobs between programs on a LAN, with no broker to run."""

from ._headrace import __version__

__all__ = ["__version__"]
