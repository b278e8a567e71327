#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the entitable authors
"""Runs the set-ups for test suites of the guide page "Use it as an emulator" as they are printed there: JavaScript with node's test runner,
Python with its fixtures; and UseDevelopmentStorage=true. 77 where a client is not installed.

    tests/clients/guide_examples.py SERVE
"""
import os
import re
import socket
import subprocess
import sys
import tempfile

root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
page = open(os.path.join(root, "docs/guide/test_server.md"), encoding="utf-8").read()

# The part of pytest that the page uses, for machines without it.
fixtures = '''
import contextlib, inspect, sys, types

made = types.ModuleType("pytest")
made.fixture = lambda *function, scope=None: function[0] if function else (lambda other: other)
sys.modules["pytest"] = made
import test_suite

with contextlib.ExitStack() as ends:
    def value_of(name):
        function = getattr(test_suite, name)
        arguments = [value_of(each) for each in inspect.signature(function).parameters]
        if inspect.isgeneratorfunction(function):
            return ends.enter_context(contextlib.contextmanager(function)(*arguments))
        return function(*arguments)

    tests = [name for name in dir(test_suite) if name.startswith("test_")]
    for name in tests:
        value_of(name)
print(f"{len(tests)} passed")
'''


def block(language, marker):
    found = [each for each in re.findall(rf"```{language}\n(.*?)```", page, re.S) if marker in each]
    assert len(found) == 1, f"{len(found)} blocks of {language} with {marker}"
    return found[0]


ran = 0
with tempfile.TemporaryDirectory() as folder:
    def write(name, text):
        with open(os.path.join(folder, name), "w", encoding="utf-8") as to:
            to.write(text)

    os.symlink(os.path.abspath(sys.argv[1]), os.path.join(folder, "serve"))
    write("seed.jsonl", "".join(line + "\n" for line in page.splitlines() if line.startswith('{"table":"runners"')))
    write("suite.test.js", block("js", "readline"))
    write("test_suite.py", block("python", "@pytest.fixture"))
    write("run_suite.py", fixtures)
    environment = {**os.environ, "PATH": folder + os.pathsep + os.environ["PATH"]}

    def run(command, said, **more):
        done = subprocess.run(command, cwd=folder, env={**environment, **more}, capture_output=True, text=True, timeout=120)
        if done.returncode != 0 or said not in done.stdout:
            sys.exit(f"FAILED: {command[0]}: {done.stdout}{done.stderr}")
        print(f"{command[0]}: {said}")

    # UseDevelopmentStorage=true, which names the port of the emulator, where that is free.
    emulator = None
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", 10002))
        except OSError:
            print("skipped: port 10002 is taken")
        else:
            probe.close()
            emulator = subprocess.Popen([os.path.join(folder, "serve"), "--memory"], stdout=subprocess.PIPE, text=True)
            emulator.stdout.readline()
    write("drop_in.js", 'require("@azure/data-tables").TableServiceClient.fromConnectionString("UseDevelopmentStorage=true")'
                        '.createTable("DropIn").then(() => console.log("created"));')
    write("drop_in.py", "from azure.data.tables import TableServiceClient\n"
                        "service = TableServiceClient.from_connection_string('UseDevelopmentStorage=true')\n"
                        "print([service.create_table_if_not_exists('DropIn').table_name, *[each.name for each in service.list_tables()]])\n")

    javascript = os.environ.get("ENTITABLE_JAVASCRIPT", os.path.join(root, "build/javascript"))
    if os.path.exists(os.path.join(javascript, "version")):
        run(["node", "--test", "suite.test.js"], "pass 1", NODE_PATH=os.path.join(javascript, "node_modules"))
        if emulator:
            run(["node", "drop_in.js"], "created", NODE_PATH=os.path.join(javascript, "node_modules"))
        ran += 1
    python = os.path.join(root, "build/python")
    if os.path.exists(os.path.join(python, "version")):
        run(["/usr/bin/python3", "run_suite.py"], "1 passed", PYTHONPATH=os.path.join(python, "usr/lib/python3/dist-packages"))
        if emulator:
            run(["/usr/bin/python3", "drop_in.py"], "['DropIn', 'DropIn']", PYTHONPATH=os.path.join(python, "usr/lib/python3/dist-packages"))
        ran += 1
    if emulator:
        emulator.terminate()
        emulator.wait()
if ran == 0:
    print("skipped: no client is installed; tests/tools/javascript install and tests/tools/python install get them")
    sys.exit(77)
