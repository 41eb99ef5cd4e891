"""``python -m benchmarks``: race the peers, show and store the figures, remake the documentation's page.

The exit code is 1 when our contestant fails or disagrees with a peer; times never decide it.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks import results
from benchmarks.families import HERE, Entry, discover, select
from benchmarks.page import PAGE, page, text_table
from benchmarks.race import installed, run


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line."""
    options = _parser().parse_args(arguments)
    if options.page:
        _remake_page(options)
        return 0
    try:
        entries = select(list(discover(options.families)), options.names)
    except LookupError as error:
        print(error, file=sys.stderr)
        return 2
    if options.list:
        print(_listing(entries))
        return 0
    records = []
    for entry in entries:
        record = run(entry, quick=options.quick, say=_say)
        records.append(record)
        if record.sound and not options.quick:
            results.save(record, options.results)
    print(text_table(records))
    if not options.quick:
        _remake_page(options)
    unsound = [record.name for record in records if not record.sound]
    if unsound:
        _say(f"not stored, since ours failed or disagrees with a peer: {', '.join(unsound)}")
    return 1 if unsound else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description="Race bisector against the installed peers, and store the figures.",
    )
    parser.add_argument(
        "names",
        nargs="*",
        metavar="name",
        help="family, workload or family/workload; * stands for anything; default: all",
    )
    parser.add_argument(
        "--quick", action="store_true", help="small data, few pairs, nothing stored: does it all work?"
    )
    parser.add_argument(
        "--list", action="store_true", help="show the workloads and their contestants, and stop"
    )
    parser.add_argument(
        "--page", action="store_true", help="remake the page from the stored figures, and stop"
    )
    parser.add_argument("--families", type=Path, default=HERE, help="folder with the workloads")
    parser.add_argument("--results", type=Path, default=results.RESULTS, help="folder for the figures")
    parser.add_argument("--page-file", type=Path, default=PAGE, help="the page")
    return parser


def _listing(entries: Sequence[Entry]) -> str:
    lines = []
    for entry in entries:
        lines.append(f"{entry.name}: {entry.workload.about}")
        for contestant in entry.workload.contestants:
            goal = entry.workload.goals.get(contestant.label)
            remarks = [f"goal {goal}" if goal else "", "" if installed(contestant) else "not installed"]
            lines.append(f"    {contestant.label}" + "".join(f", {remark}" for remark in remarks if remark))
    return "\n".join(lines)


def _remake_page(options: argparse.Namespace) -> None:
    results.write(options.page_file, page(results.load(options.results)))


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
