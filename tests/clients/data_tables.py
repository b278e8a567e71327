# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the entitable authors
"""The official Python client (azure.data.tables) against a server whose connection string is the argument: its usual operations."""

import datetime
import sys
import uuid

from azure.core import MatchConditions
from azure.core.exceptions import HttpResponseError, ResourceExistsError, ResourceModifiedError, ResourceNotFoundError
from azure.data.tables import EdmType, EntityProperty, TableServiceClient, TableTransactionError, UpdateMode

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
service.delete_table(name)
print(f"{checks} checks passed")
