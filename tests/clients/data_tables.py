# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the entitable authors
"""The official Python client (azure.data.tables) against a server whose connection string is the argument: its operations."""

import datetime
import sys
import uuid

from azure.core import MatchConditions
from azure.core.exceptions import HttpResponseError, ResourceExistsError, ResourceModifiedError, ResourceNotFoundError
from azure.core.credentials import AzureNamedKeyCredential, AzureSasCredential
from azure.data.tables import (EdmType, EntityProperty, ResourceTypes, TableAccessPolicy, TableClient, TableCorsRule, TableServiceClient,
                               TableTransactionError, UpdateMode, generate_account_sas, generate_table_sas)

checks = 0


def check(condition, what):
    global checks
    checks += 1
    if not condition:
        sys.exit(f"FAILED: {what}")


def refused(error, call, what):
    try:
        call()
    except error as problem:
        check(True, what)
        return problem
    sys.exit(f"FAILED: {what}: was not refused")


service = TableServiceClient.from_connection_string(sys.argv[1])
name = "Runners" + uuid.uuid4().hex[:12]
table = service.create_table(name)
refused(ResourceExistsError, lambda: service.create_table(name), "a table is created once")
check(name in [each.name for each in service.query_tables(f"TableName eq '{name}'")], "a list of tables with a filter")

born = datetime.datetime(1970, 1, 2, 3, 4, 5, 678901, tzinfo=datetime.timezone.utc)
john = {
    "PartitionKey": "Boston's", "RowKey": "01234 a+b", "Name": "John \u00e9 \U0001F600", "Age": 55,
    "Hours": 4.25, "Here": True, "Born": born, "Id": uuid.UUID("c9da6455-213d-42c9-9a79-3e9149a57833"),
    "Bytes": b"\x00\xff", "Large": EntityProperty(2**40, EdmType.INT64),
}
table.create_entity(john)
refused(ResourceExistsError, lambda: table.create_entity(john), "an entity is inserted once")
found = table.get_entity("Boston's", "01234 a+b")
check(found["Name"] == john["Name"] and found["Age"] == 55 and found["Hours"] == 4.25 and found["Here"] is True, "plain types")
check(found["Large"].value == 2**40 and found["Large"].edm_type == EdmType.INT64, "Int64")
check(found["Born"] == born and found["Id"] == john["Id"] and found["Bytes"] == b"\x00\xff", "DateTime, Guid and Binary")

table.update_entity({"PartitionKey": "Boston's", "RowKey": "01234 a+b", "Age": 56}, mode=UpdateMode.MERGE)
merged = table.get_entity("Boston's", "01234 a+b")
check(merged["Age"] == 56 and merged["Name"] == john["Name"], "a merge")
refused(ResourceModifiedError,
        lambda: table.update_entity({"PartitionKey": "Boston's", "RowKey": "01234 a+b", "Age": 1}, mode=UpdateMode.REPLACE,
                                    etag=found.metadata["etag"], match_condition=MatchConditions.IfNotModified),
        "a replacement under an old ETag")
table.update_entity({"PartitionKey": "Boston's", "RowKey": "01234 a+b", "Age": 57}, mode=UpdateMode.REPLACE,
                    etag=merged.metadata["etag"], match_condition=MatchConditions.IfNotModified)
check("Name" not in table.get_entity("Boston's", "01234 a+b"), "a replacement")
table.upsert_entity({"PartitionKey": "Boston's", "RowKey": "new", "Age": 1})

table.submit_transaction([("create", {"PartitionKey": "many", "RowKey": f"{each:03}", "Number": each}) for each in range(100)])
problem = refused(TableTransactionError, lambda: table.submit_transaction(
    [("create", {"PartitionKey": "many", "RowKey": "new"}), ("create", {"PartitionKey": "many", "RowKey": "007"})]),
    "a transaction is all or nothing")
check(problem.index == 1, "the operation that was refused")
refused(ResourceNotFoundError, lambda: table.get_entity("many", "new"), "nothing of it was made")

pages = table.query_entities("PartitionKey eq @key and Number ge 10", parameters={"key": "many"}, results_per_page=30).by_page()
sizes = [len(list(page)) for page in pages]
check(sizes == [30, 30, 30], f"pages with continuation: {sizes}")
chosen = list(table.query_entities("Number lt 3", select=["Number"]))
check([each["Number"] for each in chosen] == [0, 1, 2] and "RowKey" not in chosen[0], "a projection")

table.delete_entity("many", "000")
check(refused(ResourceNotFoundError, lambda: table.get_entity("many", "000"), "a removal").error_code == "ResourceNotFound", "its code")
refused(HttpResponseError, lambda: list(table.query_entities("Number lt")), "a filter that ends early")

# Merges, upserts and removals of a transaction, and what two of the same partition must not do.
table.submit_transaction([
    ("upsert", {"PartitionKey": "many", "RowKey": "new", "Number": 500}, {"mode": UpdateMode.REPLACE}),
    ("update", {"PartitionKey": "many", "RowKey": "001", "More": "text"}, {"mode": UpdateMode.MERGE}),
    ("delete", {"PartitionKey": "many", "RowKey": "002"})])
check(table.get_entity("many", "001")["More"] == "text" and table.get_entity("many", "001")["Number"] == 1, "a merge in a transaction")
refused(ResourceNotFoundError, lambda: table.get_entity("many", "002"), "a removal in a transaction")
refused((HttpResponseError, ValueError, TableTransactionError), lambda: table.submit_transaction(
    [("create", {"PartitionKey": "a", "RowKey": "1"}), ("create", {"PartitionKey": "b", "RowKey": "1"})]), "two partitions")
refused((HttpResponseError, ValueError, TableTransactionError), lambda: table.submit_transaction(
    [("upsert", {"PartitionKey": "a", "RowKey": "1"}), ("upsert", {"PartitionKey": "a", "RowKey": "1"})]), "one entity twice")

# Every type in a filter, by parameters as the client writes them.
table.upsert_entity({**john, "RowKey": "all"}, mode=UpdateMode.REPLACE)
for each in ["Age", "Hours", "Here", "Born", "Id", "Bytes", "Large", "Name"]:
    value = 2**40 if each == "Large" else john[each]
    rows = list(table.query_entities(f"RowKey eq 'all' and {each} eq @value", parameters={"value": value}))
    check([row["RowKey"] for row in rows] == ["all"], f"a filter by {each}")
long = "\u20ac" * 32768
table.upsert_entity({"PartitionKey": "long", "RowKey": "", "Text": long, "None": None})
check(table.get_entity("long", "")["Text"] == long and "None" not in table.get_entity("long", ""), "64 KiB, an empty key, a null")
refused(HttpResponseError, lambda: table.upsert_entity({"PartitionKey": "long", "RowKey": "r", "Text": long + "a"}), "more than 64 KiB")
table.delete_entity("many", "not there")  # the client takes 404 for done
check(table.get_table_access_policy() == {}, "no policies")

# Policies and signatures.
now = datetime.datetime.now(datetime.timezone.utc)
table.set_table_access_policy({
    "readers": TableAccessPolicy(permission="r", start=now - datetime.timedelta(hours=1), expiry=now + datetime.timedelta(hours=1)), "none": None})
policies = table.get_table_access_policy()
check(sorted(policies) == ["none", "readers"] and policies["readers"].permission == "r", "policies")
key = AzureNamedKeyCredential(service.account_name, dict(part.split("=", 1) for part in sys.argv[1].split(";") if part)["AccountKey"])


def by_signature(signature):
    return TableClient(service.url, name, credential=AzureSasCredential(signature))


reader = by_signature(generate_table_sas(key, name, policy_id="readers"))
check(reader.get_entity("long", "")["PartitionKey"] == "long", "a signature by a policy")
refused(HttpResponseError, lambda: reader.delete_entity("long", ""), "a removal by a reader")
writer = by_signature(generate_table_sas(key, name, permission="au", expiry=now + datetime.timedelta(hours=1)))
writer.create_entity({"PartitionKey": "signed", "RowKey": "1"})
check(refused(HttpResponseError, lambda: writer.get_entity("signed", "1"), "a read by a writer").status_code == 403, "its status")
bounded = by_signature(generate_table_sas(key, name, permission="r", expiry=now + datetime.timedelta(hours=1), start_pk="many", end_pk="many"))
check({row["PartitionKey"] for row in bounded.list_entities()} == {"many"}, "a signature with key bounds")
refused(HttpResponseError, lambda: by_signature(generate_table_sas(key, name, permission="r", expiry=now - datetime.timedelta(hours=1)))
        .get_entity("long", ""), "an expired signature")
account = TableServiceClient(service.url, credential=AzureSasCredential(generate_account_sas(
    key, ResourceTypes(service=True, object=True), "rl", now + datetime.timedelta(hours=1))))
check(account.get_table_client(name).get_entity("signed", "1")["RowKey"] == "1", "a signature of the account")
table.set_table_access_policy({})
refused(HttpResponseError, lambda: reader.get_entity("long", ""), "a signature by a policy that is gone")

# The settings of the service.
before = service.get_service_properties()
service.set_service_properties(cors=[TableCorsRule(["http://a.example"], ["GET"], max_age_in_seconds=5)])
rules = service.get_service_properties()["cors"]
check(len(rules) == 1 and "http://a.example" in str(vars(rules[0])), f"a rule for browsers: {[vars(rule) for rule in rules]}")
service.set_service_properties(cors=[])
check(service.get_service_properties()["cors"] == [] and "analytics_logging" in before, "no rules")
with TableClient.from_table_url(f"{service.url}/{name}", credential=key) as same:
    check(same.table_name == name and len(list(same.list_entities(select=["RowKey"]))) > 90, "a client of an address")
check(name in [each.name for each in service.list_tables()], "a list of tables")
service.delete_table(name)
print(f"{checks} checks passed")
