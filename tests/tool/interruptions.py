#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the entitable authors
"""Kills the command entitable while it imports, copies and synchronises, and closes what it writes to. The rows are the same in the end."""

import os
import random
import signal
import subprocess
import sys
import tempfile
import time

PROGRAM = os.path.abspath(sys.argv[1])
ROWS = int(sys.argv[2]) if len(sys.argv) > 2 else 8_000
SEED = int(sys.argv[3]) if len(sys.argv) > 3 else int(time.time())


def run(*words, **options):
    return subprocess.run([PROGRAM, *words], capture_output=True, text=True, timeout=300, **options)


def expect(good, what):
    if not good:
        sys.exit(f"FAILED: {what} (seed {SEED})")


def run_with_kills(words, seconds, kills, resume=("--resume",)):
    """Runs the command; stops it at random moments by SIGKILL and SIGINT; returns its last run."""
    for kill in range(kills + 1):
        running = subprocess.Popen([PROGRAM, *words, *resume], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        try:
            limit = 300 if kill == kills else random.uniform(0.02, seconds)
            out, err = running.communicate(timeout=limit)
            if running.returncode in (0, 3):
                return running.returncode, out, err
            expect(False, f"{words[0]} ended with {running.returncode}: {err}")
        except subprocess.TimeoutExpired:
            running.send_signal(signal.SIGINT if kill % 3 == 2 else signal.SIGKILL)
            running.communicate()
    return None


def main():
    random.seed(SEED)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        with open("rows.csv", "w", encoding="utf-8", newline="") as file:
            file.write("id,station,text\n")
            for row in range(ROWS):
                key = row if row % 9_973 else 7  # some rows have the key of another
                file.write(f'{key},station {row % 50},"t ""{row}"""{",extra" if row % 7_001 == 5 else ""}\n')
        keys = ["--partition", "station", "--row", "id"]
        began = time.monotonic()
        whole = run("import", "whole.db", "rows", "rows.csv", *keys, "--refused", "whole.refused")
        seconds = time.monotonic() - began
        expect(whole.returncode == 3, f"the import ended with {whole.returncode}: {whole.stderr}")
        rows = run("export", "whole.db", "rows").stdout
        expect(len(rows.splitlines()) > ROWS * 9 // 10, "rows are missing")

        ended = run_with_kills(["import", "killed.db", "rows", "rows.csv", *keys], seconds, 6)
        expect(ended[0] == 3, f"the resumed import ended with {ended}")
        expect(run("export", "killed.db", "rows").stdout == rows, "a killed import ended with other rows")
        for end in ("", ".reasons"):
            with open("whole.refused" + end, encoding="utf-8") as one, open("rows.csv.refused" + end, encoding="utf-8") as other:
                expect(one.read() == other.read(), "a killed import refused other rows")
        expect(not os.path.exists("rows.csv.import"), "the state of the import is left behind")

        began = time.monotonic()
        expect(run("copy", "whole.db", "rows", "copy.db", "rows").returncode == 0, "the copy failed")
        seconds = time.monotonic() - began
        ended = run_with_kills(["copy", "whole.db", "rows", "killed copy.db", "rows"], seconds, 6)
        expect(ended[0] == 0, f"the resumed copy ended with {ended}")
        expect(run("export", "killed copy.db", "rows").stdout == rows, "a killed copy ended with other rows")
        expect(not os.path.exists("rows-to-rows.copy"), "the state of the copy is left behind")

        words = ["sync", "whole.db", "rows", "cloud.db", "rows", "--whole-table", "--create"]
        began = time.monotonic()
        expect(run("sync", "copy.db", "rows", "other.db", "rows", "--whole-table", "--create").returncode == 0, "sync failed")
        seconds = time.monotonic() - began
        ended = run_with_kills(words, seconds, 6, ())
        expect(ended[0] == 0, f"the repeated sync ended with {ended}")
        expect(run("export", "cloud.db", "rows").stdout == rows, "a killed sync ended with other rows in the cloud")
        ended = run_with_kills(["sync", "device.db", *words[2:]], seconds, 6, ())
        expect(ended[0] == 0, f"the repeated sync ended with {ended}")
        expect(run("export", "device.db", "rows").stdout == rows, "a killed sync ended with other rows here")
        again = run(*words).stdout
        expect(": 0 rows pulled, 0 pushed\n" in again and "conflict" not in again, f"a killed sync is repeated: {again}")

        # A reader that closes the pipe is not an error; a full disk is.
        piped = subprocess.run(["bash", "-c", '"$1" export whole.db rows | head -n 1; echo "code ${PIPESTATUS[0]}"', "bash", PROGRAM],
            capture_output=True, text=True, timeout=300)
        expect(piped.stdout.endswith("code 0\n") and piped.stderr == "", f"a closed pipe: {piped.stdout[-80:]} {piped.stderr}")
        if os.path.exists("/dev/full"):
            with open("/dev/full", "w", encoding="utf-8") as full:
                ended = subprocess.run([PROGRAM, "export", "whole.db", "rows"], stdout=full, stderr=subprocess.PIPE, text=True, timeout=300)
            expect(ended.returncode == 1, "an export to a full disk succeeded")
            expect("No space left on device" in ended.stderr, f"an export to a full disk: {ended.stderr}")
            os.symlink("/dev/full", "full.csv.new")
            ended = run("export", "whole.db", "rows", "-o", "full.csv")
            expect(ended.returncode == 1 and not os.path.exists("full.csv"), f"an export to a full disk: {ended}")
    print("killed imports, copies and synchronisations ended the same")


main()
