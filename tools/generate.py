"""Writes what is generated from the code, or checks that it is current: the list of these files."""

import argparse
import sys
from pathlib import Path

from dashboards.source import rules
from dashboards.source.screens import dashboards
from exporter.collectors import discover
from incidents.page import incidents_page
from tools.chart import chart_files
from tools.collector_pages import collector_page, collectors_page
from tools.coverage import coverage_page
from tools.example import example
from tools.markdown import NOTICE
from tools.reference_configuration import configuration_page
from tools.reference_metrics import metrics_page

ROOT = Path(__file__).parent.parent


def generated() -> dict[Path, str]:
    """Return the text of every generated file."""
    files = {
        ROOT / "docs/metrics.md": metrics_page(),
        ROOT / "docs/configuration.md": configuration_page(),
        ROOT / "docs/coverage.md": coverage_page(),
        ROOT / "docs/collectors/README.md": collectors_page(),
        ROOT / "exporter.example.yaml": example(),
        ROOT / "dashboards/rules.yaml": rules.plain(),
        ROOT / "docs/incidents.md": f"{NOTICE}{incidents_page()}",
    }
    files |= {ROOT / "dashboards" / name: text for name, text in dashboards().items()}
    files |= chart_files()
    for name, collector in discover().items():
        files[ROOT / f"docs/collectors/{name}.md"] = collector_page(collector)
    return files


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="say which files are not current, and write nothing")
    check = parser.parse_args().check
    texts = generated()
    stale = [path for path, text in texts.items() if not path.exists() or path.read_text() != text]
    for path in stale:
        print(f"{path.relative_to(ROOT)}: {'is not current; run make docs' if check else 'written'}")
        if not check:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(texts[path])
    return 1 if check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
