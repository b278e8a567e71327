// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Every operation of the official client for JavaScript on one server: node data_tables.mjs CONNECTION_STRING
//
// With --differences FILE the checks that fail have to be those that the file names, one a line.

import { createRequire } from "node:module";
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";

const require = createRequire(process.env.ENTITABLE_JAVASCRIPT + "/node_modules/");
const {
    TableClient, TableServiceClient, TableTransaction, AzureNamedKeyCredential, AzureSASCredential, generateTableSas,
    generateAccountSas, odata,
} = require("@azure/data-tables");

const connection = process.argv[2];
const known = process.argv[3] === "--differences"
    ? readFileSync(process.argv[4], "utf8").split("\n").filter((line) => line && !line.startsWith("#")) : [];
const settings = Object.fromEntries(connection.split(";").filter(Boolean).map((pair) => {
    const at = pair.indexOf("=");
    return [pair.slice(0, at), pair.slice(at + 1)];
}));
const options = { allowInsecureConnection: true, retryOptions: { maxRetries: 0 } };
const key = new AzureNamedKeyCredential(settings.AccountName, settings.AccountKey);
const tableName = "js" + randomUUID().replaceAll("-", "").slice(0, 20);
const service = TableServiceClient.fromConnectionString(connection, options);
const table = TableClient.fromConnectionString(connection, tableName, options);

let failures = 0;
let passed = 0;
function say(name, outcome, expected) {
    const text = typeof outcome === "string" ? outcome : JSON.stringify(outcome);
    const wanted = typeof expected === "string" ? expected : JSON.stringify(expected);
    const at = known.findIndex((line) => line.startsWith(name + ": "));
    if (at >= 0 && text !== wanted) {
        known.splice(at, 1);
        ++passed;
    } else if (text !== wanted) {
        ++failures;
        console.log(`${name}: expected ${wanted}, got ${text}`);
    } else {
        ++passed;
    }
}
// "409 EntityAlreadyExists", or what `act` makes of success.
async function outcome(act) {
    try {
        return (await act()) ?? "success";
    } catch (problem) {
        const code = problem.details?.odataError?.code ?? problem.details?.code ?? problem.code ?? problem.message;
        return `${problem.statusCode ?? "no status"} ${code}`;
    }
}
async function check(name, act, expected = "success") {
    say(name, await outcome(act), expected);
}
const nothing = (act) => async () => { await act(); };
async function keysOf(client, query, page) {
    const keys = [];
    let pages = 0;
    for await (const one of client.listEntities({ queryOptions: query }).byPage(page ? { maxPageSize: page } : {})) {
        ++pages;
        keys.push(...one.map((entity) => entity.rowKey));
    }
    return (page ? `${pages} pages: ` : "") + keys.join(" ");
}

// ---- tables ----
await check("create table", nothing(() => service.createTable(tableName)));
await check("create it again", async () => { await table.createTable(); }); // the client passes over 409
await check("create one with a bad name", nothing(() => service.createTable("1x-")), "400 InvalidResourceName");
await check("list tables by filter", async () => {
    const found = [];
    for await (const one of service.listTables({ queryOptions: { filter: odata`TableName eq ${tableName}` } })) {
        found.push(one.name === tableName);
    }
    return JSON.stringify(found);
}, "[true]");

// ---- values ----
const when = new Date("2020-06-01T12:00:00.123Z");
const all = {
    partitionKey: "p", rowKey: "all", text: "it's \u65e5\u672c \u{1F600}\n\"", empty: "", yes: true, no: false, whole: 42, real: 3.25,
    large: { type: "Int64", value: "9007199254740993" }, exact: { type: "Double", value: "3.0" },
    none: { type: "Double", value: "NaN" }, id: { type: "Guid", value: "c9da6455-213d-42c9-9a79-3e9149a57833" },
    bytes: new Uint8Array([0, 255, 1]), time: when, long: 12345678901234n,
    ticks: { type: "DateTime", value: "2020-06-01T12:00:00.1234567Z" },
};
await check("insert an entity of every type", nothing(() => table.createEntity(all)));
await check("read it back", async () => {
    const read = await table.getEntity("p", "all");
    return JSON.stringify([read.text === all.text, read.empty, read.yes, read.no, read.whole, read.real, String(read.large), read.exact,
        String(read.none), read.id.type + read.id.value, [...read.bytes], read.time, String(read.long), read.ticks, read.etag.startsWith("W/"),
        typeof read.timestamp]);
}, JSON.stringify([true, "", true, false, 42, 3.25, "9007199254740993", 3, "NaN",
    "Guidc9da6455-213d-42c9-9a79-3e9149a57833", [0, 255, 1], when, "12345678901234", when, true, "string"]));
await check("insert it again", nothing(() => table.createEntity(all)), "409 EntityAlreadyExists");
await check("select two properties", async () => {
    const read = await table.getEntity("p", "all", { queryOptions: { select: ["whole", "yes"] } });
    return JSON.stringify([read.whole, read.yes, read.text]);
}, "[42,true,null]");
await check("read one that is missing", nothing(() => table.getEntity("p", "nothing")), "404 ResourceNotFound");

// ---- changes ----
await check("merge by ETag", async () => {
    const read = await table.getEntity("p", "all");
    await table.updateEntity({ partitionKey: "p", rowKey: "all", whole: 43 }, "Merge", { etag: read.etag });
    const after = await table.getEntity("p", "all");
    return JSON.stringify([after.whole, after.yes, after.etag !== read.etag]);
}, "[43,true,true]");
await check("merge by an old ETag", nothing(() => table.updateEntity({ partitionKey: "p", rowKey: "all", whole: 44 }, "Merge",
    { etag: "W/\"datetime'2020-01-01T00%3A00%3A00Z'\"" })), "412 UpdateConditionNotSatisfied");
await check("replace", async () => {
    await table.updateEntity({ partitionKey: "p", rowKey: "all", only: 1 }, "Replace");
    const after = await table.getEntity("p", "all");
    return JSON.stringify([after.whole, after.only]);
}, "[null,1]");
await check("replace one that is missing", nothing(() =>
    table.updateEntity({ partitionKey: "p", rowKey: "nothing" }, "Replace")), "404 ResourceNotFound");
await check("upsert, both modes", async () => {
    await table.upsertEntity({ partitionKey: "p", rowKey: "up", a: 1 }, "Merge");
    await table.upsertEntity({ partitionKey: "p", rowKey: "up", b: 2 }, "Merge");
    const merged = await table.getEntity("p", "up");
    await table.upsertEntity({ partitionKey: "p", rowKey: "up", c: 3 }, "Replace");
    const replaced = await table.getEntity("p", "up");
    return JSON.stringify([merged.a, merged.b, replaced.a, replaced.c]);
}, "[1,2,null,3]");
await check("delete", nothing(() => table.deleteEntity("p", "up")));
await check("delete it again", nothing(() => table.deleteEntity("p", "up")), "404 ResourceNotFound");
for (const odd of ["", "a b", "O'Brien", "''", "%", "%25", "+", "a+b", "~@,;=&()!*$:", "\u65e5\u672c", "\u{1F600}", "\u00e9"]) {
    await check(`the key ${JSON.stringify(odd)}`, async () => {
        await table.upsertEntity({ partitionKey: "k" + odd, rowKey: odd, at: odd }, "Replace");
        const read = await table.getEntity("k" + odd, odd);
        const found = await keysOf(table, { filter: odata`PartitionKey eq ${"k" + odd} and RowKey eq ${odd}` });
        await table.deleteEntity("k" + odd, odd, { etag: read.etag });
        return JSON.stringify([read.rowKey === odd, read.at === odd, found === odd]);
    }, "[true,true,true]");
}

// ---- queries ----
for (const [partition, row, n] of [["q", "a", 1], ["q", "b", 2], ["q", "c", 3], ["r", "d", 4]]) {
    await table.createEntity({ partitionKey: partition, rowKey: row, n, s: row, big: { type: "Int64", value: String(n) }, odd: n % 2 === 1 });
}
await check("query a partition", () => keysOf(table, { filter: "PartitionKey eq 'q'" }), "a b c");
await check("query by pages", () => keysOf(table, { filter: "PartitionKey ge 'q'" }, 1), "4 pages: a b c d");
await check("resume by a token", async () => {
    const pages = table.listEntities({ queryOptions: { filter: "PartitionKey ge 'q'" } }).byPage({ maxPageSize: 2 });
    const first = (await pages.next()).value;
    const rest = [];
    const again = table.listEntities({ queryOptions: { filter: "PartitionKey ge 'q'" } }).byPage(
        { maxPageSize: 2, continuationToken: first.continuationToken });
    for await (const page of again) {
        rest.push(...page.map((entity) => entity.rowKey));
    }
    return rest.join(" ");
}, "c d");
await check("a token of another query", async () => {
    const pages = table.listEntities({ queryOptions: { filter: "PartitionKey ge 'q'" } }).byPage({ maxPageSize: 2 });
    const first = (await pages.next()).value;
    const other = table.listEntities({ queryOptions: { filter: "n eq 1" } }).byPage(
        { maxPageSize: 2, continuationToken: first.continuationToken });
    await other.next();
}, "400 InvalidInput");
const filters = {
    "n gt 1 and n le 3": "b c", "not (n eq 1) and PartitionKey eq 'q'": "b c", "big gt 2L": "c d", "odd and PartitionKey eq 'q'": "a c",
    "s lt 'b' and PartitionKey eq 'q'": "a", "(n eq 1 or n eq 4)": "a d", "1 lt n and n lt 3": "b",
    "PartitionKey eq 'q' and (RowKey eq 'c' or RowKey eq 'a')": "a c", "missing ne 1 and PartitionKey eq 'q'": "", "n eq 1.0": "",
};
for (const [filter, expected] of Object.entries(filters)) {
    await check(`the filter ${filter}`, () => keysOf(table, { filter }), expected);
}
for (const [filter, expected] of [["n EQ 1", "400 InvalidInput"], ["startswith(s,'a')", "501 NotImplemented"], ["s eq null", "400 InvalidInput"],
    ["s eq 'x", "400 InvalidInput"]]) {
    await check(`the filter ${filter}`, () => keysOf(table, { filter }), expected);
}
await check("no filter at all", async () => (await keysOf(table, { filter: "" })).length > 5 ? "success" : "too few");
await check("select over a query", async () => {
    for await (const entity of table.listEntities({ queryOptions: { filter: "RowKey eq 'a'", select: ["n", "rowKey"] } })) {
        return JSON.stringify([entity.n, entity.partitionKey]);
    }
}, "[1,null]");

// ---- transactions ----
await check("a transaction of every kind", async () => {
    const work = new TableTransaction();
    work.createEntity({ partitionKey: "q", rowKey: "t1", n: 1 });
    work.upsertEntity({ partitionKey: "q", rowKey: "a", n: 10 }, "Merge");
    work.upsertEntity({ partitionKey: "q", rowKey: "b", n: 20 }, "Replace");
    work.updateEntity({ partitionKey: "q", rowKey: "c", n: 30 }, "Merge");
    work.deleteEntity("q", "t0");
    await table.createEntity({ partitionKey: "q", rowKey: "t0" });
    const done = await table.submitTransaction(work.actions);
    return JSON.stringify([done.status, done.subResponses.map((one) => one.status), typeof done.getResponseForEntity("t1")?.etag]);
}, '[202,[204,204,204,204,204],"string"]');
await check("a transaction that fails changes nothing", async () => {
    try {
        await table.submitTransaction([["create", { partitionKey: "q", rowKey: "t2" }], ["create", { partitionKey: "q", rowKey: "t1" }]]);
        return "was done";
    } catch (problem) {
        const left = await outcome(() => table.getEntity("q", "t2"));
        return `${problem.statusCode} ${problem.details?.odataError?.code ?? problem.code}, then ${left}`;
    }
}, "409 EntityAlreadyExists, then 404 ResourceNotFound");
await check("100 changes", async () => {
    const done = await table.submitTransaction([...Array(100).keys()].map((n) => ["upsert", { partitionKey: "h", rowKey: String(n), n }, "Replace"]));
    return String(done.subResponses.length);
}, "100");
await check("101 changes", nothing(() => table.submitTransaction(
    [...Array(101).keys()].map((n) => ["upsert", { partitionKey: "h", rowKey: String(n) }, "Replace"]))), "400 InvalidInput");
await check("one entity twice", nothing(() => table.submitTransaction(
    [["upsert", { partitionKey: "h", rowKey: "0" }], ["upsert", { partitionKey: "h", rowKey: "0" }]])), "400 InvalidDuplicateRow");
await check("1,000 entities in a page", async () => {
    for (let at = 0; at < 1000; at += 100) {
        await table.submitTransaction([...Array(100).keys()].map((n) => ["upsert", { partitionKey: "page", rowKey: String(at + n).padStart(4, "0"), n }, "Replace"]));
    }
    return (await keysOf(table, { filter: "PartitionKey eq 'page'" }, 1000)).slice(0, 12) + ", " + (await keysOf(table, { filter: "PartitionKey eq 'page'" }, 300)).slice(0, 8);
}, "1 pages: 000, 4 pages:");

// ---- signatures ----
const address = settings.TableEndpoint;
const soon = new Date(Date.now() + 3_600_000);
await check("a signature for the table, read only", async () => {
    const sas = generateTableSas(tableName, key, { permissions: { query: true }, expiresOn: soon });
    const reader = new TableClient(address, tableName, new AzureSASCredential(sas), options);
    const read = await reader.getEntity("q", "a");
    return `${read.n}, then ${await outcome(() => reader.createEntity({ partitionKey: "q", rowKey: "no" }))}`;
}, "10, then 403 AuthorizationPermissionMismatch");
await check("a signature for a range of keys", async () => {
    const sas = generateTableSas(tableName, key, { permissions: { query: true }, expiresOn: soon, startPartitionKey: "q", startRowKey: "b",
        endPartitionKey: "q", endRowKey: "c" });
    const reader = new TableClient(address, tableName, new AzureSASCredential(sas), options);
    return `${await keysOf(reader, {})}, then ${await outcome(() => reader.getEntity("q", "a"))}`;
}, "b c, then 403 AuthorizationFailure");
await check("a transaction by a signature for the table", nothing(async () => {
    const sas = generateTableSas(tableName, key, { permissions: { query: true, add: true, update: true }, expiresOn: soon });
    const writer = new TableClient(address, tableName, new AzureSASCredential(sas), options);
    await writer.submitTransaction([["upsert", { partitionKey: "s", rowKey: "1" }, "Replace"]]);
}));
await check("a signature for the account", nothing(async () => {
    const sas = generateAccountSas(key, { expiresOn: soon });
    const other = new TableServiceClient(address, new AzureSASCredential(sas), options);
    for await (const one of other.listTables()) {
        if (one.name === tableName) {
            return;
        }
    }
    throw new Error("not listed");
}));
await check("a signature that has expired", nothing(async () => {
    const sas = generateTableSas(tableName, key, { permissions: { query: true }, startsOn: new Date(Date.now() - 7_200_000),
        expiresOn: new Date(Date.now() - 3_600_000) });
    await new TableClient(address, tableName, new AzureSASCredential(sas), options).getEntity("q", "a");
}), "403 AuthenticationFailed");
await check("another key", nothing(async () => {
    const other = new AzureNamedKeyCredential(settings.AccountName, Buffer.from("another").toString("base64"));
    await new TableClient(address, tableName, other, options).getEntity("q", "a");
}), "403 AuthenticationFailed");

// ---- the service ----
await check("access policies", async () => {
    await table.setAccessPolicy([{ id: "one", accessPolicy: { permission: "r", start: new Date(Date.now() - 60_000), expiry: soon } }]);
    const held = await table.getAccessPolicy();
    return JSON.stringify(held.map((each) => [each.id, each.accessPolicy?.permission]));
}, '[["one","r"]]');
await check("properties of the service", async () => {
    await service.setProperties({ cors: [{ allowedOrigins: "http://a.example", allowedMethods: "GET", allowedHeaders: "*", exposedHeaders: "*",
        maxAgeInSeconds: 5 }] });
    const held = await service.getProperties();
    return JSON.stringify([held.cors?.length, held.cors?.[0]?.allowedOrigins, typeof held.logging]);
}, '[1,"http://a.example","object"]');
// ---- bearer tokens ----
if (address.startsWith("https:")) { // the server checks what they say, and not their signatures
    const token = (claims) => {
        const now = Math.floor(Date.now() / 1000);
        const part = (object) => Buffer.from(JSON.stringify(object)).toString("base64url");
        return [part({ alg: "RS256", kid: "any" }), part({ iss: "https://sts.windows.net/0000/", aud: "https://storage.azure.com",
            nbf: now - 60, exp: now + 3600, ...claims }), "c2lnbmF0dXJl"].join(".");
    };
    const by = (claims) => new TableClient(address, tableName,
        { getToken: async () => ({ token: token(claims), expiresOnTimestamp: Date.now() + 3_600_000 }) }, options);
    await check("a token", nothing(() => by({}).createEntity({ partitionKey: "token", rowKey: "a" })));
    await check("read by a token", async () => (await by({}).getEntity("token", "a")).rowKey, "a");
    await check("an expired token", nothing(() => by({ exp: 1 }).getEntity("token", "a")), "401 InvalidAuthenticationInfo");
    await check("a token for something else", nothing(() => by({ aud: "https://vault.azure.net" }).getEntity("token", "a")),
        "401 InvalidAuthenticationInfo");
}
await check("delete the table", nothing(() => service.deleteTable(tableName)));
await check("query it", () => keysOf(table, {}), "404 TableNotFound");

for (const line of known) { // which are none any more
    ++failures;
    console.log(`no difference any more: ${line}`);
}
console.log(`${passed} passed, ${failures} failed`);
process.exitCode = failures === 0 ? 0 : 1;
