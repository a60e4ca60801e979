"""From what a person writes to a source of pairs."""

from pathlib import Path

from regard.data.hub import HuggingFace
from regard.data.json_lines import JsonLines
from regard.data.sources import OnError, Pairs, data_error
from regard.data.tables import Table
from regard.data.text_files import Parallel, existing, kind


def as_pairs(spec: Pairs | str | Path | list[str], *, on_error: OnError = "stop") -> Pairs:
    """Take pairs as they are, one path by its suffix, two paths as parallel files.

    With `skip`, bad lines are left out and counted, whatever a source itself says.
    """
    pairs = _chosen(spec)
    return pairs.skipping() if on_error == "skip" else pairs


def _chosen(spec: Pairs | str | Path | list[str]) -> Pairs:
    if isinstance(spec, list | tuple):
        if len(spec) != 2:
            problem = f"wanted two parallel files, got {len(spec)} paths"
            raise data_error(" ".join(map(str, spec)) or "data", problem, "name source and target")
        return Parallel(spec[0], spec[1])
    if not isinstance(spec, str | Path):
        return spec
    path = Path(spec).expanduser()
    if path.is_dir():
        return HuggingFace(path)
    match kind(path):
        case ".tsv" | ".csv":
            return Table(existing(path))
        case ".jsonl" | ".ndjson":
            return JsonLines(existing(path))
        case ".parquet" | ".arrow":
            return HuggingFace(existing(path))
    existing(path)
    problem = f"the suffix {kind(path)!r} does not tell the format"
    remedy = "use .tsv, .csv or .jsonl, two parallel files, or data.Table with a separator"
    raise data_error(path, problem, remedy)
