#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the entitable authors
"""The options of the program that serves tables, as tools use them: accounts, seed, reset, health, log, clean stop, kill.

    tests/clients/serve_command.py SERVE
    tests/clients/serve_command.py ENTITABLE serve    the command entitable
"""
import base64
import email.utils
import hashlib
import hmac
import http.client
import json
import os
import shutil
import signal
import ssl
import subprocess
import sys
import tempfile
import time

problems = []
passed = 0


def check(good, what):
    global passed
    if good:
        passed += 1
    else:
        problems.append(what)
        print("failed:", what)


is_tool = len(sys.argv) > 2  # PROGRAM serve: the command entitable


def command(arguments):
    """The command line: the command entitable takes the address of a store, and asks before --reset."""
    if not is_tool:
        return [sys.argv[1], *arguments]
    words = ["memory:" if each == "--memory" else each for each in arguments]
    return [*sys.argv[1:], *words, *(["--yes"] if "--reset" in words else [])]


class server:
    def __init__(self, *arguments):
        self.process = subprocess.Popen(command([*arguments, "--port", "0", "--json"]),
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        line = self.process.stdout.readline()
        self.said = json.loads(line) if line else {}

    def stop(self, how=signal.SIGTERM):
        self.process.send_signal(how)
        out, err = self.process.communicate(timeout=30)
        return self.process.returncode, out, err

    def line_of_errors(self):
        return self.process.stderr.readline()

    def by_token(self, account, path, token, trusted=None):
        """Status, the body, and WWW-Authenticate of a request with a token; over HTTPS with a trusted certificate."""
        address = ("127.0.0.1", self.said["port"])
        connection = http.client.HTTPSConnection(*address, timeout=10, context=ssl.create_default_context(cafile=trusted)) \
            if trusted else http.client.HTTPConnection(*address, timeout=10)
        connection.request("GET", f"/{account}{path}", headers={"Authorization": f"Bearer {token}", "Accept": "application/json"})
        answer = connection.getresponse()
        return answer.status, answer.read().decode(), answer.getheader("WWW-Authenticate", "")

    def admin(self, method, path, **fields):
        connection = http.client.HTTPConnection("127.0.0.1", self.said["adminPort"], timeout=10)
        connection.request(method, path, headers={name.replace("_", "-"): value for name, value in fields.items()})
        answer = connection.getresponse()
        return answer.status, answer.read().decode()

    def ask(self, account, method, path, body=None, query="", key=None):
        """A request signed with SharedKeyLite."""
        text = self.said["accounts"][account]
        key = key or text.split("AccountKey=")[1].split(";")[0]
        date = email.utils.formatdate(usegmt=True)
        path = f"/{account}{path}"
        to_sign = f"{date}\n/{account}{path}" + (f"?{query}" if query.startswith("comp=") else "")
        signature = base64.b64encode(hmac.new(base64.b64decode(key), to_sign.encode(), hashlib.sha256).digest()).decode()
        connection = http.client.HTTPConnection("127.0.0.1", self.said["port"], timeout=10)
        connection.request(method, path + (f"?{query}" if query else ""), body, {
            "x-ms-date": date, "Authorization": f"SharedKeyLite {account}:{signature}",
            "Accept": "application/json;odata=nometadata", "Content-Type": "application/json"})
        answer = connection.getresponse()
        return answer.status, answer.read().decode()


def refused(*arguments):
    done = subprocess.run(command(arguments), capture_output=True, text=True, timeout=30)
    return done.returncode, done.stderr


with tempfile.TemporaryDirectory() as folder:
    def file(name, text):
        path = os.path.join(folder, name)
        with open(path, "w", encoding="utf-8") as to:
            to.write(text)
        return path

    seed = file("seed.jsonl", '{"table":"runners","PartitionKey":"Berlin","RowKey":"Ada","age":36}\n\n'
                              '{"table":"runners","PartitionKey":"Berlin","RowKey":"Eva","now":1790000000000}\n')
    accounts = file("accounts", "# name key second key\nfirst Zmlyc3Qga2V5\nsecond c2Vjb25kIGtleQ== aXRzIG90aGVyIGtleQ==  # two\n")

    by = server("--memory", "--admin-port", "0", "--accounts", accounts, "--seed", seed, "--reset", "--log")
    check(sorted(by.said) == ["accounts", "adminPort", "connectionString", "port"], "JSON")
    check(by.said["connectionString"] == by.said["accounts"]["first"], "the first account")
    check(by.admin("GET", "/health") == (200, "healthy\n"), "health")
    status, rows = by.ask("first", "GET", "/runners")
    check(status == 200 and len(json.loads(rows)["value"]) == 2, "seed")
    check(by.ask("second", "GET", "/runners")[0] == 404, "accounts have separate tables")
    check(by.ask("second", "GET", "/Tables", key="aXRzIG90aGVyIGtleQ==")[0] == 200, "the second key")
    check(by.ask("first", "GET", "/Tables", key="c2Vjb25kIGtleQ==")[0] == 403, "the key of another account")
    check(by.ask("first", "POST", "/runners", '{"PartitionKey":"p","RowKey":"r"}')[0] == 201, "insert")
    check(by.ask("second", "POST", "/Tables", '{"TableName":"other"}')[0] == 201, "another table")
    check(by.admin("POST", "/reset")[0] == 400, "a page in a browser cannot reset")
    check(by.admin("GET", "/reset", x_reset="1")[0] == 404, "GET does not reset")
    check(len(json.loads(by.ask("first", "GET", "/runners")[1])["value"]) == 3, "nothing was reset")
    for method, path in [("POST", "/reset"), ("GET", "/metrics"), ("GET", "/health")]:  # a name that an attacker's page points here
        check(by.admin(method, path, x_reset="1", Host="rebound.example")[0] == 403, f"{path} for another host")
    check(by.admin("GET", "/health", Host="localhost:1")[0] == 200, "health for localhost")
    check(len(json.loads(by.ask("first", "GET", "/runners")[1])["value"]) == 3, "still nothing was reset")
    check(by.admin("POST", "/reset", x_reset="1")[0] == 204, "reset")
    check(len(json.loads(by.ask("first", "GET", "/runners")[1])["value"]) == 2, "the seed after a reset")
    check(by.ask("second", "GET", "/other")[0] == 404, "a reset empties each account")
    metrics = by.admin("GET", "/metrics")
    check(metrics[0] == 200 and metrics[1].endswith("# EOF\n") and "entitable_answers_total" in metrics[1], "metrics")
    code, out, err = by.stop()
    check(code == 0 and out.endswith("stopped\n"), "clean stop")
    lines = err.splitlines()
    check(any(" 403 " in line and "AuthenticationFailed" in line for line in lines), "a line for a refusal")
    check(any("201 write_entity runners" in line for line in lines), "a line for a request")
    check("Zmlyc3Qga2V5" not in err and "c2Vjb25kIGtleQ" not in err and "Berlin" not in err, "no secrets, no user data")

    # Settings and rows of an acknowledged request survive a kill, on a file.
    database = os.path.join(folder, "served.db")
    by = server(database, "--accounts", accounts, "--seed", seed)
    check(by.ask("second", "POST", "/Tables", '{"TableName":"other"}')[0] == 201, "a table of the second account")
    policy = ("<SignedIdentifiers><SignedIdentifier><Id>readers</Id><AccessPolicy><Permission>r</Permission>"
              "</AccessPolicy></SignedIdentifier></SignedIdentifiers>")
    check(by.ask("first", "PUT", "/runners", policy, "comp=acl")[0] == 204, "a policy")
    by.stop(signal.SIGKILL)
    by = server(database, "--accounts", accounts, "--seed", seed, "--admin-port", "0")
    check("readers" in by.ask("first", "GET", "/runners", None, "comp=acl")[1], "the policy after a kill")
    check(by.ask("second", "GET", "/other")[0] == 200, "the table of the second account after a kill")
    check(by.ask("first", "GET", "/other")[0] == 404, "files are not mixed up")
    check(len(json.loads(by.ask("first", "GET", "/runners")[1])["value"]) == 2, "a seed keeps rows that exist")
    check(by.admin("POST", "/reset", x_reset="1")[0] == 404, "no reset without --reset")
    check(by.stop(signal.SIGINT)[0] == 0, "clean stop by Ctrl-C")

    # An export is a seed with the same entities and types.
    exported = os.path.join(folder, "exported.jsonl")
    by = server("--memory", "--seed", seed, "--export", exported, "--admin-port", "0")
    account = next(iter(by.said["accounts"]))
    for number in range(1200):  # more than a page
        by.ask(account, "POST", "/runners", json.dumps({"PartitionKey": "many", "RowKey": f"{number:04} {{", "n": number, "t": '"}{\\'}))
    by.ask(account, "POST", "/runners", '{"PartitionKey":"types","RowKey":"1","L@odata.type":"Edm.Int64","L":"5","B@odata.type":"Edm.Binary","B":"AAEC",'
                                        '"D@odata.type":"Edm.DateTime","D":"2026-01-01T00:00:00.1234567Z","F":1.0}')
    by.ask(account, "PUT", "/runners", policy, "comp=acl")
    meanwhile = by.admin("GET", "/export")
    check(meanwhile[0] == 200 and meanwhile[1].count("\n") == 1203, "an export meanwhile")
    before = by.ask(account, "GET", "/runners", query="$filter=PartitionKey%20eq%20'types'")[1]
    check(by.stop()[0] == 0, "a stop with an export")
    with open(exported, encoding="utf-8") as text:
        check(text.read().count("\n") == 1203, "an export at the end")
    by = server("--memory", "--seed", exported, "--admin-port", "0")
    after = by.ask(account, "GET", "/runners", query="$filter=PartitionKey%20eq%20'types'")[1]
    drop = lambda rows: [{name: value for name, value in row.items() if name != "Timestamp"} for row in json.loads(rows)["value"]]
    check(drop(before) == drop(after) and len(drop(after)) == 1, "an export is a seed with the same types")
    row = by.ask(account, "GET", "/runners", query="$filter=PartitionKey%20eq%20'many'%20and%20n%20eq%201199")[1]
    check(len(json.loads(row)["value"]) == 1, "the last entity of an export")
    check(by.admin("GET", "/export")[0] == 404, "no export without --export")
    by.stop()
    code, text = refused("--memory", "--port", "0", "--tls-key", seed)
    check(code == 2, "a key without its certificate")

    # TLS, tokens, and files that are replaced.
    if shutil.which("openssl"):
        certificate, key = os.path.join(folder, "certificate.pem"), os.path.join(folder, "key.pem")

        def make_certificate():
            subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj",
                            "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", certificate],
                           check=True, capture_output=True)

        def token(**claims):
            part = lambda object: base64.urlsafe_b64encode(json.dumps(object).encode()).decode().rstrip("=")
            said = {"iss": "https://sts.windows.net/0000/", "aud": "https://storage.azure.com", "exp": int(time.time()) + 3600, **claims}
            return f"{part({'alg': 'none'})}.{part(said)}."

        make_certificate()
        by = server("--memory", "--tls-certificate", certificate, "--tls-key", key, "--oauth", "basic")
        check(by.said["connectionString"].startswith("DefaultEndpointsProtocol=https;") and
              "TableEndpoint=https://127.0.0.1:" in by.said["connectionString"], "a connection string with https")
        check(by.by_token(account, "/Tables", token(), certificate)[0] == 200, "a token over TLS")
        status, text, challenge = by.by_token(account, "/Tables", token(exp=1), certificate)
        check(status == 401 and "InvalidAuthenticationInfo" in text and "expired" in text and challenge.startswith("Bearer authorization_uri="),
              "an expired token")
        check("HTTPS" in by.by_token(account, "/Tables", token())[1], "a request without TLS")
        old = certificate + ".old"
        shutil.copy(certificate, old)
        make_certificate()
        check(by.by_token(account, "/Tables", token(), old)[0] == 200, "the old certificate before SIGHUP")
        by.process.send_signal(signal.SIGHUP)
        check("certificate: read again" in by.line_of_errors() and "token keys: read again" in by.line_of_errors(), "SIGHUP")
        check(by.by_token(account, "/Tables", token(), certificate)[0] == 200, "the new certificate")
        file("key.pem", "half a key")
        by.process.send_signal(signal.SIGHUP)
        check("key.pem" in by.line_of_errors(), "a malformed key at SIGHUP")
        check(by.by_token(account, "/Tables", token(), certificate)[0] == 200, "the certificate is kept")
        check(by.stop()[0] == 0, "a clean stop with TLS")
        code, err = refused("--memory", "--port", "0", "--tls-certificate", certificate, "--tls-key", key)
        check(code == 1 and "key.pem" in err, f"a malformed key at the start: {err}")
        by = server("--memory", "--oauth", "basic", "--oauth-over-http", "--oauth-audience", "api://tables", "--oauth-object", "me")
        check(by.by_token(account, "/Tables", token(aud="api://tables", oid="me"))[0] == 200, "a token without TLS, where allowed")
        check(by.by_token(account, "/Tables", token(oid="me"))[0] == 401, "another audience")
        check(by.by_token(account, "/Tables", token(aud="api://tables", oid="you"))[0] == 401, "another identity")
        by.stop()
    for wrong in [["--oauth", "basic"], ["--oauth-issuer", "x"], ["--oauth-over-http"], ["--tls-certificate", "x"], ["--oauth"], ["--tls-other", "x"]]:
        check(refused("--memory", *wrong)[0] == 2, f"usage: {wrong}")
    check(refused("--memory", "--oauth", seed, "--oauth-over-http")[0] == 1, "keys without an issuer")

    for wrong in [[], ["--memory", "x.db"], ["--memory", "--port", "65536"], ["--memory", "--port"], ["--memory", "--port", "x"],
                  ["--memory", "--reset"], ["--memory", "--unknown"], ["a.db", "b.db"]]:
        code, text = refused(*wrong)
        check(code == 2 and text.startswith("entitable:" if is_tool else "usage:"), f"usage: {wrong}")
    for name, text, said in [("no_key", "first\n", "line 1"), ("empty", "# none\n", "names no account"),
                             ("many", "a b c d\n", "at most two keys"), ("bad", "first ???\n", "key must be base64"),
                             ("twice", "first Zmlyc3Qga2V5\nfirst Zmlyc3Qga2V5\n", "same name"),
                             ("upper", "first Zmlyc3Qga2V5\nSecond Zmlyc3Qga2V5\n", "lower-case")]:
        code, err = refused("--memory", "--port", "0", "--accounts", file(name, text))
        check(code == 1 and said in err and "Zmlyc3Q" not in err, f"accounts: {name}: {err}")
    place = os.path.join(folder, "refused.db")  # a name of an account becomes part of the name of its file
    code, err = refused(place, "--port", "0", "--accounts", file("reaches", "first Zmlyc3Qga2V5\n/../reached Zmlyc3Qga2V5\n"))
    check(code == 1 and "lower-case" in err, f"accounts: a name with a path: {err}")
    made = [name for name in os.listdir(folder) if "reached" in name or (not is_tool and "refused" in name)]
    check(not made, f"no file of refused accounts: {made}")
    for option in ["--accounts", "--seed"]:
        for path in [folder, os.path.join(folder, "absent")]:
            code, err = refused("--memory", "--port", "0", option, path)
            check(code in (1, 2) and ("cannot be read" in err or "cannot read" in err), f"{option} {path}: {err}")
    for name, text, said in [("seed1", '{"PartitionKey":"p"}\n', "line 1"), ("seed2", '\n{"table":"t1x","RowKey":"r"}\n', "line 2"),
                             ("seed3", '{"table":"a/b","PartitionKey":"p","RowKey":"r"}\n', "line 1"),
                             ("seed4", '{"table":"run ners","PartitionKey":"p","RowKey":"r"}\n', "line 1"),
                             ("seed5", '{"table":"a#b","PartitionKey":"p","RowKey":"r"}\n', "line 1"),
                             ("seed6", '{"table":"run\\u006eers","PartitionKey":"p","RowKey":"r"}\n', "line 1")]:
        code, err = refused("--memory", "--port", "0", "--seed", file(name, text))
        check(code == 1 and said in err, f"seed: {name}: {err}")

print(f"{passed} passed, {len(problems)} failed")
sys.exit(1 if problems else 0)
