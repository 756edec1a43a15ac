"""The machine and the versions that a measurement was made with."""

from __future__ import annotations

import os
import platform

from shoal._version import versions


def machine_note() -> dict[str, str]:
    """What a reader needs to know to judge seconds and to repeat a run."""
    return {
        "system": f"{platform.system()} {platform.machine()}",
        "processor": _processor(),
        "cores": str(os.cpu_count()),
        "load": _load(),
        **versions(),
    }


def _load() -> str:
    """How busy the machine was, in processes: above the cores, seconds are too long."""
    try:
        return f"{os.getloadavg()[2]:.1f}"
    except (AttributeError, OSError):
        return "unknown"


def _processor() -> str:
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:  # noqa: PTH123
            for line in file:
                if line.startswith("model name"):
                    return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()
