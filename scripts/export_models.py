"""Exports the models that tests and examples need, each once per content.

usage: python3 scripts/export_models.py [NAME ...] [--examples | --tests]

A model is one Python file with `def export(directory: pathlib.Path) -> None`:
  packages/testing/models/<name>.py             -> .cache/models/<name>/
  examples/model_repository/<name>/export.py    -> examples/model_repository/<name>/1/    (--examples: what `npm start` serves)
  examples/<name>/export.py                     -> examples/<name>/model_repository/      (with C++; by name, or with neither option)
What is already there for the same files and PyTorch version is skipped; a run that was cut off leaves nothing half-written.
"""
import argparse
import concurrent.futures
import hashlib
import importlib.util
import os
import pathlib
import shutil
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
STAMPS = ROOT / ".cache" / "stamps"


def find_models():
    """(name, script, output directory) of every model, tests first."""
    for script in sorted((ROOT / "packages/testing/models").glob("[!_]*.py")):
        yield "tests", script.stem, script, ROOT / ".cache/models" / script.stem
    for script in sorted((ROOT / "examples/model_repository").glob("*/export.py")):
        yield "examples", script.parent.name, script, script.parent / "1"
    for script in sorted((ROOT / "examples").glob("*/export.py")):
        yield "repositories", script.parent.name, script, script.parent / "model_repository"


def torch_version(python):
    """Version from the installed metadata: importing torch takes seconds."""
    code = "import importlib.metadata as m; print(m.version('torch'))"
    return subprocess.run([python, "-c", code], capture_output=True, text=True, check=True).stdout.strip()


def sources(script, output):
    """A script, the helper modules (`_*.py`) beside it and one directory above, and what a whole repository is made of."""
    kinds = ["*.cc", "*.pbtxt"] if output.name == "model_repository" else []
    return [script, *(file for kind in ["_*.py", "../_*.py", *kinds] for file in sorted(script.parent.glob(kind)))]


def digest(script, output, torch):
    """Content hash of a model: its sources and the PyTorch that exports it."""
    sha = hashlib.sha256(torch.encode())
    for file in sources(script, output):
        sha.update(file.read_bytes())
    return sha.hexdigest()


def stamp_of(output):
    return STAMPS / ("_".join(output.relative_to(ROOT).parts) + ".sha256")


def is_current(output, want):
    stamp = stamp_of(output)
    return output.is_dir() and stamp.is_file() and stamp.read_text() == want


def export(script, output, want):
    """Runs in the environment that has PyTorch. Writes beside the target and renames, so that it is there whole or not at all."""
    sys.path[:0] = [str(script.parent), str(script.parent.parent)]
    spec = importlib.util.spec_from_file_location(f"model_{script.stem}", script)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    partial = output.with_name(output.name + ".partial")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    stamp_of(output).unlink(missing_ok=True)
    module.export(partial)
    shutil.rmtree(output, ignore_errors=True)
    partial.rename(output)
    STAMPS.mkdir(parents=True, exist_ok=True)
    stamp_of(output).write_text(want)


def run_export(python, name, script, output, want):
    """Exports one model in a process of its own; (name, seconds, error text)."""
    start = time.monotonic()
    environment = {**os.environ, "TORCHINDUCTOR_CACHE_DIR": str(ROOT / ".cache/inductor")}
    command = [python, __file__, "--one", str(script), str(output), want]
    run = subprocess.run(command, capture_output=True, text=True, env=environment)
    return name, time.monotonic() - start, run.stderr.strip()[-4000:] if run.returncode else ""


def find_python():
    own = ROOT / ".venv" / "bin" / "python"
    return str(own) if own.exists() else sys.executable


def main():
    parser = argparse.ArgumentParser(description="Exports the models that tests and examples need, each once per content.")
    parser.add_argument("names", nargs="*", metavar="NAME", help="only these models")
    only = parser.add_mutually_exclusive_group()
    only.add_argument("--examples", action="store_true", help="only the example models")
    only.add_argument("--tests", action="store_true", help="only the test models")
    parser.add_argument("--one", nargs=3, metavar=("SCRIPT", "OUTPUT", "HASH"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        script, output, want = options.one
        return export(pathlib.Path(script), pathlib.Path(output), want)

    group = "examples" if options.examples else "tests" if options.tests else None
    models = [(n, s, o) for g, n, s, o in find_models() if group in (None, g) and (not options.names or n in options.names)]
    unknown = set(options.names) - {name for name, _, _ in models}
    if unknown:
        known = ", ".join(sorted(name for _, name, _, _ in find_models()))
        sys.exit(f"no model named {', '.join(sorted(unknown))}; there are: {known}")
    python = find_python()
    torch = torch_version(python)
    todo = [(name, script, output, digest(script, output, torch)) for name, script, output in models]
    todo = [entry for entry in todo if not is_current(entry[2], entry[3])]
    with concurrent.futures.ThreadPoolExecutor(max_workers=min(4, os.cpu_count() or 1)) as pool:
        runs = [pool.submit(run_export, python, *entry) for entry in todo]
        for done, future in enumerate(concurrent.futures.as_completed(runs), 1):
            name, seconds, error = future.result()
            if error:
                pool.shutdown(cancel_futures=True)
                sys.exit(f"exporting {name} failed:\n{error}")
            print(f"  exported {name} in {seconds:.1f} s ({done} of {len(todo)})", flush=True)


if __name__ == "__main__":
    main()
