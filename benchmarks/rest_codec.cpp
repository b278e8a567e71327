// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// The client's own work for the REST backend, compared with hand-written code on simdjson and OpenSSL: pages of 1,000 entities
// decoded, entities serialized, and whole signed requests with a canned answer. The hand-written forms are as strict. Every field of
// an answer is read, times digit by digit, and the end of the text is checked. Duplicate names, a type without its value, a number
// that does not fit and an entity other than the requested one are refused. Requests are checked for everything that the service
// refuses: characters not allowed in keys, and text that is not UTF-8 or too long. CPU time of the process, in turns, medians.
//
// With arguments it measures the rows of `benchmarks/run` whose names contain one of them.
//
//     g++ -std=c++20 -O3 -DNDEBUG -I . -I include -I tests benchmarks/rest_codec.cpp -o rest_codec -lcurl -lssl -lcrypto -lsimdjson

#include <entitable/client/mapping/entity.hpp>
#include <entitable/cloud/rest/rest_backend.hpp>
#include <entitable/cloud/wire/detail/json_writer.hpp>
#include <entitable/entitable.hpp>

#include <benchmarks/support/business.hpp>
#include <benchmarks/support/count_allocations.hpp>
#include <benchmarks/support/peers.hpp>
#include <openssl/evp.h>
#include <openssl/params.h>
#include <simdjson.h>

#include <charconv>
#include <cstring>
#include <variant>

using namespace entitable;
using measure::business;

namespace {

constexpr std::size_t page_rows = 1000;
std::uint64_t checksum = 0; ///< so that nothing is optimised away

// ---- the workload, as the service sends it ----

std::string answer_entity(std::size_t index) {
    std::string text;
    detail::append_json_entity(text, to_row(measure::make_business(index, page_rows)).value());
    date_time const time{134'000'000'000'000'001 + static_cast<std::int64_t>(index) * 1234};
    std::string tag = etag::of(time).to_string();
    for (std::size_t at = tag.find('"'); at != std::string::npos; at = tag.find('"', at + 2)) {
        tag.insert(at, 1, '\\');
    }
    // A Double has no type annotation in answers; ETag and Timestamp come with the keys.
    for (std::string_view const name : {"rating", "turnover"}) {
        std::string const type = "\"" + std::string{name} + "@odata.type\":\"Edm.Double\",";
        text.erase(text.find(type), type.size());
    }
    text.insert(text.find(",\"name\""), ",\"Timestamp\":\"" + time.to_string(true) + "\"");
    return "{\"odata.etag\":\"" + tag + "\"," + text.substr(1);
}

std::string padded(std::string text) {
    text.reserve(text.size() + http_response::padding);
    return text;
}

std::string const page_body = [] {
    std::string text = R"({"odata.metadata":"https://a.table.core.windows.net/$metadata#Businesses","value":[)";
    for (std::size_t index = 0; index < page_rows; ++index) { text += (index == 0 ? "" : ",") + answer_entity(index); }
    return padded(text + "]}");
}();
std::string const entity_body = [] {
    std::string text = answer_entity(7);
    return padded(
        R"({"odata.metadata":"https://a.table.core.windows.net/$metadata#Businesses/@Element",)" + text.substr(1));
}();

// ---- by hand ----

namespace hand {

[[noreturn]] void damaged() {
    std::puts("the hand-written reader found damage");
    std::exit(1);
}

template <class T>
T number_of(std::string_view text) {
    T number{};
    auto const read = std::from_chars(text.data(), text.data() + text.size(), number);
    if (read.ec != std::errc{} || read.ptr != text.data() + text.size()) { damaged(); }
    return number;
}

std::int64_t ticks_of(std::string_view text) {
    auto const time = date_time::parse(text);
    if (!time) { damaged(); }
    return time->ticks;
}

guid guid_of(std::string_view text) {
    auto const id = guid::parse(text);
    if (!id) { damaged(); }
    return *id;
}

/// The parts of an answer other than the entity.
struct stored {
    business entity;
    std::int64_t timestamp{};
    std::string tag;
};

using field_value = simdjson::simdjson_result<simdjson::ondemand::value>;

std::string_view text_in(field_value value) {
    std::string_view text;
    if (value.get_string().get(text) != simdjson::SUCCESS) { damaged(); }
    return text;
}

void expect(field_value value, std::string_view type) {
    if (text_in(value) != type) { damaged(); }
}

/// Nothing follows the document.
bool at_end(simdjson::ondemand::document& document) {
    char const* rest = nullptr;
    return document.current_location().get(rest) == simdjson::OUT_OF_BOUNDS;
}

/// Tries the usual order first, so that each name is searched once.
constexpr std::string_view names[] = {"odata.etag", "PartitionKey", "RowKey", "Timestamp", "name", "description",
    "city", "category", "employees", "founded", "rating", "turnover", "open", "visits@odata.type", "visits",
    "changed@odata.type", "changed", "owner@odata.type", "owner", "odata.metadata"};

void read_object(simdjson::ondemand::object object, stored& out, bool keep_tag) {
    std::uint32_t seen = 0;
    std::size_t next = 0;
    for (auto field : object) {
        std::string_view key;
        if (field.unescaped_key().get(key) != simdjson::SUCCESS) { damaged(); }
        std::size_t const tried = next;
        while (key != names[next]) {
            next = (next + 1) % std::size(names);
            if (next == tried) { damaged(); }
        }
        if ((seen >> next & 1U) != 0) { damaged(); }
        seen |= 1U << next;
        field_value value = field.value();
        business& to = out.entity;
        double real{};
        std::int64_t integer{};
        switch (next) {
            case 0:
                if (std::string_view const tag = text_in(value); keep_tag) { out.tag = tag; }
                break;
            case 1: to.region = text_in(value); break;
            case 2: to.id = text_in(value); break;
            case 3: out.timestamp = ticks_of(text_in(value)); break;
            case 4: to.name = text_in(value); break;
            case 5: to.description = text_in(value); break;
            case 6: to.city = text_in(value); break;
            case 7: to.category = text_in(value); break;
            case 8:
            case 9:
                if (value.get_int64().get(integer) != simdjson::SUCCESS ||
                    integer != static_cast<std::int32_t>(integer)) {
                    damaged();
                }
                (next == 8 ? to.employees : to.founded) = static_cast<std::int32_t>(integer);
                break;
            case 10:
            case 11:
                if (value.get_double().get(real) != simdjson::SUCCESS) { damaged(); }
                (next == 10 ? to.rating : to.turnover) = real;
                break;
            case 12:
                if (value.get_bool().get(to.open) != simdjson::SUCCESS) { damaged(); }
                break;
            case 13: expect(value, "Edm.Int64"); break;
            case 14: to.visits = number_of<std::int64_t>(text_in(value)); break;
            case 15: expect(value, "Edm.DateTime"); break;
            case 16: to.changed.ticks = ticks_of(text_in(value)); break;
            case 17: expect(value, "Edm.Guid"); break;
            case 18: to.owner = guid_of(text_in(value)); break;
            default: static_cast<void>(text_in(value)); break;
        }
        next = (next + 1) % std::size(names);
    }
    if ((seen & 0x7'FFFFU) != 0x7'FFFFU) { damaged(); }
}

/// Opens the list of a page.
template <class Visit>
void each_of_page(simdjson::ondemand::parser& parser, std::string const& body, Visit visit) {
    simdjson::ondemand::document document;
    if (parser.iterate(body.data(), body.size(), body.capacity()).get(document) != simdjson::SUCCESS) { damaged(); }
    bool listed = false;
    simdjson::ondemand::object whole;
    if (document.get_object().get(whole) != simdjson::SUCCESS) { damaged(); }
    for (auto field : whole) {
        std::string_view key;
        if (field.unescaped_key().get(key) != simdjson::SUCCESS) { damaged(); }
        if (key == "value" && !listed) {
            listed = true;
            simdjson::ondemand::array list;
            if (field.value().get_array().get(list) != simdjson::SUCCESS) { damaged(); }
            for (auto element : list) {
                simdjson::ondemand::object object;
                if (element.get_object().get(object) != simdjson::SUCCESS) { damaged(); }
                visit(object);
            }
        } else {
            static_cast<void>(text_in(field.value()));
        }
    }
    if (!listed || !at_end(document)) { damaged(); }
}

void read_page(simdjson::ondemand::parser& parser, std::vector<business>& out) {
    stored one;
    out.reserve(page_rows);
    each_of_page(parser, page_body, [&](simdjson::ondemand::object object) {
        read_object(object, one, false);
        out.push_back(std::move(one.entity));
        one.entity = {};
    });
}

using flat_value = std::variant<std::string, std::int32_t, std::int64_t, double, bool, date_time, guid>;

struct flat_entity {
    std::string region;
    std::string id;
    std::int64_t timestamp{};
    std::vector<std::pair<std::string, flat_value>> properties;
};

/// Any entity: values by their annotated type or by their own form, each name once.
void read_flat(simdjson::ondemand::parser& parser, std::vector<flat_entity>& out) {
    out.reserve(page_rows);
    each_of_page(parser, page_body, [&](simdjson::ondemand::object object) {
        flat_entity& to = out.emplace_back();
        to.properties.reserve(12);
        std::string_view type;
        std::string_view typed; // the name that the type belongs to
        unsigned seen = 0;
        auto const once = [&seen](unsigned bit) {
            if ((seen & bit) != 0) { damaged(); }
            seen |= bit;
        };
        for (auto field : object) {
            std::string_view key;
            if (field.unescaped_key().get(key) != simdjson::SUCCESS) { damaged(); }
            field_value value = field.value();
            if (key.ends_with("@odata.type")) {
                type = text_in(value);
                typed = key.substr(0, key.size() - 11);
                continue;
            }
            if (key.starts_with("odata.")) {
                static_cast<void>(text_in(value));
                continue;
            }
            if (key == "PartitionKey") {
                once(1);
                to.region = text_in(value);
                continue;
            }
            if (key == "RowKey") {
                once(2);
                to.id = text_in(value);
                continue;
            }
            if (key == "Timestamp") {
                once(4);
                to.timestamp = ticks_of(text_in(value));
                continue;
            }
            for (auto const& [name, held] : to.properties) {
                if (name == key) { damaged(); }
            }
            if (!type.empty() && typed != key) { damaged(); }
            flat_value made;
            simdjson::ondemand::json_type kind{};
            if (value.type().get(kind) != simdjson::SUCCESS) { damaged(); }
            if (type == "Edm.Int64") {
                made = number_of<std::int64_t>(text_in(value));
            } else if (type == "Edm.DateTime") {
                made = date_time{ticks_of(text_in(value))};
            } else if (type == "Edm.Guid") {
                made = guid_of(text_in(value));
            } else if (kind == simdjson::ondemand::json_type::string) {
                made = std::string{text_in(value)};
            } else if (kind == simdjson::ondemand::json_type::boolean) {
                made = value.get_bool().value();
            } else {
                simdjson::ondemand::number number = value.get_number().value();
                if (number.is_int64() && number.get_int64() == static_cast<std::int32_t>(number.get_int64())) {
                    made = static_cast<std::int32_t>(number.get_int64());
                } else if (number.is_int64()) {
                    made = number.get_int64();
                } else {
                    made = number.get_double();
                }
            }
            type = {};
            to.properties.emplace_back(std::string{key}, std::move(made));
        }
        if (!type.empty() || (seen & 3U) != 3U) { damaged(); }
    });
}

[[gnu::noinline]] void append_escape(std::string& out, char each) {
    switch (each) {
        case '"': out += "\\\""; break;
        case '\\': out += "\\\\"; break;
        case '\n': out += "\\n"; break;
        case '\t': out += "\\t"; break;
        default: {
            char code[8];
            std::snprintf(code, sizeof code, "\\u%04x", static_cast<unsigned>(each));
            out += code;
            break;
        }
    }
}

void append_quoted(std::string& out, std::string_view text) {
    out += '"';
    for (char const each : text) {
        if (static_cast<unsigned char>(each) < 0x20 || each == '"' || each == '\\') {
            append_escape(out, each);
        } else {
            out += each;
        }
    }
    out += '"';
}

void check_key(std::string_view key) {
    for (char const each : key) {
        auto const byte = static_cast<unsigned char>(each);
        if (byte < 0x20 || byte == 0x7F || each == '/' || each == '\\' || each == '#' || each == '?') { damaged(); }
    }
    if (key.size() > 512 || !simdjson::validate_utf8(key.data(), key.size())) { damaged(); }
}

void check_text(std::string_view text) {
    if (text.size() > 32768 || !simdjson::validate_utf8(text.data(), text.size())) { damaged(); }
}

/// Everything that the service would refuse.
void check(business const& each) {
    check_key(each.region);
    check_key(each.id);
    check_text(each.name);
    check_text(each.description);
    check_text(each.city);
    check_text(each.category);
    if (!each.changed.is_valid() || each.rating - each.rating != 0 || each.turnover - each.turnover != 0) { damaged(); }
}

template <class Number>
void append_number(std::string& out, Number number) {
    char text[40];
    out.append(text, static_cast<std::size_t>(std::to_chars(text, text + sizeof text, number).ptr - text));
}

void append_json(std::string& out, business const& from) {
    out += "{\"PartitionKey\":";
    append_quoted(out, from.region);
    out += ",\"RowKey\":";
    append_quoted(out, from.id);
    out += ",\"name\":";
    append_quoted(out, from.name);
    out += ",\"description\":";
    append_quoted(out, from.description);
    out += ",\"city\":";
    append_quoted(out, from.city);
    out += ",\"category\":";
    append_quoted(out, from.category);
    out += ",\"employees\":";
    append_number(out, from.employees);
    out += ",\"founded\":";
    append_number(out, from.founded);
    for (auto const& [name, number] : {std::pair{"rating", from.rating}, std::pair{"turnover", from.turnover}}) {
        out.append(",\"").append(name).append("@odata.type\":\"Edm.Double\",\"").append(name).append("\":");
        std::size_t const at = out.size();
        append_number(out, number);
        if (out.find_first_of(".e", at) == std::string::npos) { out += ".0"; }
    }
    out += from.open ? ",\"open\":true" : ",\"open\":false";
    out += ",\"visits@odata.type\":\"Edm.Int64\",\"visits\":\"";
    append_number(out, from.visits);
    out += "\",\"changed@odata.type\":\"Edm.DateTime\",\"changed\":\"";
    from.changed.append_to(out);
    out += "\",\"owner@odata.type\":\"Edm.Guid\",\"owner\":\"";
    from.owner.append_to(out);
    out += "\"}";
}

/// Signs as Shared Key with a reused context.
class signer {
public:
    explicit signer(std::string const& key) {
        EVP_MAC* const mac = EVP_MAC_fetch(nullptr, "HMAC", nullptr);
        context_ = EVP_MAC_CTX_new(mac);
        EVP_MAC_free(mac);
        char digest[] = "SHA256";
        OSSL_PARAM const parameters[] = {
            OSSL_PARAM_construct_utf8_string("digest", digest, 0), OSSL_PARAM_construct_end()};
        EVP_MAC_init(context_, reinterpret_cast<unsigned char const*>(key.data()), key.size(), parameters);
    }
    signer(signer const&) = delete;
    signer& operator=(signer const&) = delete;
    ~signer() { EVP_MAC_CTX_free(context_); }

    void append(std::string& out, std::string_view text) {
        unsigned char mac[32];
        std::size_t size = 0;
        EVP_MAC_init(context_, nullptr, 0, nullptr);
        EVP_MAC_update(context_, reinterpret_cast<unsigned char const*>(text.data()), text.size());
        EVP_MAC_final(context_, mac, &size, sizeof mac);
        unsigned char base64[48];
        EVP_EncodeBlock(base64, mac, 32);
        out.append(reinterpret_cast<char const*>(base64), 44);
    }

private:
    EVP_MAC_CTX* context_{};
};

/// A request as an author would write it: header lines in one text.
struct sent {
    std::string url;
    std::string headers;
    std::string body;
    std::string to_sign;
};

void append_date(std::string& out) {
    static std::time_t second = 0;
    static char text[32];
    std::time_t const now = std::time(nullptr);
    if (now != second) {
        second = now;
        std::tm parts{};
        gmtime_r(&now, &parts);
        std::strftime(text, sizeof text, "%a, %d %b %Y %H:%M:%S GMT", &parts);
    }
    out += text;
}

void append_path(std::string& out, std::string_view partition_key, std::string_view row_key) {
    auto const escaped = [&out](std::string_view text) {
        constexpr char digits[] = "0123456789ABCDEF";
        for (char const each : text) {
            if (std::isalnum(static_cast<unsigned char>(each)) != 0 || each == '-' || each == '.' || each == '_' ||
                each == '~') {
                out += each;
            } else {
                for (int times = each == '\'' ? 2 : 1; times > 0; --times) {
                    out += '%';
                    out += digits[static_cast<unsigned char>(each) >> 4U];
                    out += digits[static_cast<unsigned char>(each) & 15U];
                }
            }
        }
    };
    out += "Businesses(PartitionKey='";
    escaped(partition_key);
    out += "',RowKey='";
    escaped(row_key);
    out += "')";
}

void finish(sent& to, signer& with, std::string_view verb, std::string_view type, std::string_view path) {
    static std::uint64_t id = 0;
    to.headers +=
        "Accept: application/json;odata=minimalmetadata\r\nDataServiceVersion: 3.0\r\nx-ms-version: 2019-02-02\r\n"
        "x-ms-client-request-id: 01234567-89ab-4cde-8f01-";
    char text[24];
    std::snprintf(text, sizeof text, "%012llx", static_cast<unsigned long long>(++id));
    to.headers.append(text).append("\r\nx-ms-date: ");
    std::size_t const date_at = to.headers.size();
    append_date(to.headers);
    to.to_sign.assign(verb).append("\n\n").append(type).append("\n");
    to.to_sign.append(to.headers, date_at).append("\n/account/").append(path);
    to.headers += "\r\nAuthorization: SharedKey account:";
    with.append(to.headers, to.to_sign);
    to.headers += "\r\n";
}

} // namespace hand

// ---- whole requests ----

/// Returns the same answer to every request, like a server, in a new body.
struct canned {
    using is_http_client = void;
    http_response answer;
    [[nodiscard]] result<http_response> send(http_request const& request, http_call const&) const {
        checksum += request.url.size() + request.body.size() + request.headers.text().size();
        http_response made;
        made.status = answer.status;
        made.headers = answer.headers;
        made.body.reserve(answer.body.size() + http_response::padding);
        made.body = answer.body;
        return made;
    }
};

http_response answer_of(std::uint16_t status, std::string body, std::string_view type, std::string_view tag = {}) {
    http_response made;
    made.status = status;
    made.body = std::move(body);
    auto const add = [&](std::string_view name, std::string_view value) {
        if (!made.headers.add(name, value)) { hand::damaged(); }
    };
    add("Cache-Control", "no-cache");
    add("Content-Type", type);
    add("Server", "Windows-Azure-Table/1.0 Microsoft-HTTPAPI/2.0");
    add("x-ms-request-id", "11111111-2222-3333-4444-555555555555");
    add("x-ms-version", "2019-02-02");
    add("X-Content-Type-Options", "nosniff");
    add("Date", "Mon, 27 Jul 2026 12:28:53 GMT");
    if (!tag.empty()) { add("ETag", tag); }
    return made;
}

std::string const one_tag = "W/\"datetime'2026-07-27T12%3A28%3A53.1234567Z'\"";

std::string const batch_body = [] {
    std::string text = "--batchresponse_b\r\nContent-Type: multipart/mixed; boundary=changesetresponse_c\r\n\r\n";
    for (int part = 0; part < 100; ++part) {
        text += "--changesetresponse_c\r\nContent-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n\r\n"
                "HTTP/1.1 204 No Content\r\nX-Content-Type-Options: nosniff\r\nCache-Control: no-cache\r\n"
                "Preference-Applied: return-no-content\r\nDataServiceVersion: 3.0;\r\n"
                "Location: https://a.table.core.windows.net/Businesses(PartitionKey='p',RowKey='1')\r\n"
                "DataServiceId: https://a.table.core.windows.net/Businesses(PartitionKey='p',RowKey='1')\r\nETag: " +
            one_tag + "\r\n\r\n\r\n";
    }
    return text + "--changesetresponse_c--\r\n--batchresponse_b--\r\n";
}();

endpoint account() {
    endpoint made;
    made.primary = "https://account.table.core.windows.net";
    made.account = "account";
    return made;
}

std::string const key = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==";

rest<canned> backend(http_response answer) {
    return rest<canned>{canned{std::move(answer)}, account(), credential::account_key("account", key).value()};
}

std::string raw_key() {
    std::string bytes(66, '\0');
    EVP_DecodeBlock(reinterpret_cast<unsigned char*>(bytes.data()), reinterpret_cast<unsigned char const*>(key.data()),
        static_cast<int>(key.size()));
    bytes.resize(64);
    return bytes;
}

template <class Work>
std::uint64_t allocations_of(Work const& work) {
    std::uint64_t const before = measure::allocations;
    work();
    return measure::allocations - before;
}

void print_allocations(char const* name, double ours, double limit) {
    std::printf(
        "  allocations, %-31s %8.2f            limit %.2f%s\n", name, ours, limit, ours <= limit ? "" : "  MISSED");
}

void pages(measure::peers* compared) {
    simdjson::ondemand::parser parser;
    detail::json_reader reader;
    auto const by_hand = [&] {
        std::vector<business> out;
        hand::read_page(parser, out);
        checksum += out.size();
    };
    auto const typed = [&] {
        page rows;
        if (!reader.read_page(page_body, rows)) { hand::damaged(); }
        std::vector<business> out;
        out.reserve(rows.size());
        for (std::size_t index = 0; index < rows.size(); ++index) {
            if (!from_row(rows[index], out.emplace_back())) { hand::damaged(); }
        }
        checksum += out.size();
    };
    if (compared != nullptr) {
        compared->reads(
            "REST: page of 1,000 into structs, a row, compared with code by hand", 1, page_rows, by_hand, typed);
        return;
    }
    auto const flat = [&] {
        std::vector<hand::flat_entity> out;
        hand::read_flat(parser, out);
        checksum += out.size();
    };
    auto const dynamic = [&] {
        page rows;
        if (!reader.read_page(page_body, rows)) { hand::damaged(); }
        std::vector<entity> out;
        out.reserve(rows.size());
        for (std::size_t index = 0; index < rows.size(); ++index) { out.emplace_back(rows[index]); }
        checksum += out.size();
    };
    auto const entities = [](auto const& work) {
        return [&work] {
            return measure::timed(5 * page_rows, [&] {
                for (int times = 0; times < 5; ++times) { work(); }
            });
        };
    };
    measure::compare("page into user structs, an entity", 1.3, 21, entities(by_hand), entities(typed));
    print_allocations("an entity", static_cast<double>(allocations_of(typed)) / page_rows, 6);
    measure::compare("page into dynamic entities, an entity", 1.3, 21, entities(flat), entities(dynamic));
    print_allocations("an entity", static_cast<double>(allocations_of(dynamic)) / page_rows, 8);

    auto const heap_of = [](auto const& make) {
        std::size_t const before = measure::allocated_bytes();
        auto const kept = make();
        return static_cast<double>(measure::allocated_bytes() - before);
    };
    double const flat_heap = heap_of([&] {
        std::vector<hand::flat_entity> out;
        hand::read_flat(parser, out);
        return out;
    });
    double const page_heap = heap_of([&] {
        page rows;
        checksum += reader.read_page(page_body, rows) ? 1U : 0U;
        return rows;
    });
    std::printf("%-46s %8.0f %8.0f   %5.2f   limit 1.50%s\n", "heap of a decoded page, bytes", flat_heap, page_heap,
        page_heap / flat_heap, page_heap <= 1.5 * flat_heap ? "" : "  MISSED");
}

void serialization() {
    std::vector<business> all;
    std::vector<row> rows;
    for (std::size_t index = 0; index < page_rows; ++index) {
        all.push_back(measure::make_business(index, page_rows));
        rows.push_back(to_row(all.back()).value());
    }
    std::string first;
    std::string second;
    auto const run = [&](auto const& work) { return [&work] { return measure::timed(page_rows, work); }; };
    auto const by_hand = [&] {
        for (business const& each : all) {
            first.clear();
            hand::append_json(first, each);
            checksum += first.size();
        }
    };
    auto const ours = [&] {
        for (row const& each : rows) {
            second.clear();
            detail::append_json_entity(second, each);
            checksum += second.size();
        }
    };
    row made;
    auto const whole = [&] {
        for (business const& each : all) {
            second.clear();
            if (!to_row(each, made)) { hand::damaged(); }
            detail::append_json_entity(second, made);
            checksum += second.size();
        }
    };
    by_hand();
    ours();
    if (first != second) {
        std::printf("not the same JSON:\n%s\n%s\n", first.c_str(), second.c_str());
        std::exit(1);
    }
    measure::compare("entity as JSON, from its row", 1.5, 41, run(by_hand), run(ours));
    print_allocations("an entity", static_cast<double>(allocations_of(ours)) / page_rows, 0);
    measure::compare("entity as JSON, from the user's struct", 1.5, 41, run(by_hand), run(whole));
    print_allocations("an entity", static_cast<double>(allocations_of(whole)) / page_rows, 0);
}

void requests(measure::peers* compared) {
    constexpr std::size_t count = 2000;
    hand::signer with{raw_key()};
    simdjson::ondemand::parser parser;
    business const sample = measure::make_business(7, page_rows);
    http_call const how;

    // By hand the answer comes from the same client, and its results are read from header fields and body.
    canned const reads{answer_of(200, entity_body, "application/json;odata=minimalmetadata", one_tag)};
    auto const store = backend(reads.answer);
    http_request request; // represents the data passed to the client
    hand::sent sent;
    auto const hand_read = [&] {
        for (std::size_t times = 0; times < count; ++times) {
            hand::check_key(sample.region);
            hand::check_key(sample.id);
            sent.url.assign("https://account.table.core.windows.net/");
            hand::append_path(sent.url, sample.region, sample.id);
            sent.headers.clear();
            hand::finish(sent, with, "GET", "", std::string_view{sent.url}.substr(39));
            checksum += sent.headers.size();
            auto answer = reads.send(request, how);
            hand::stored out;
            simdjson::ondemand::document document;
            simdjson::ondemand::object object;
            if (answer->status != 200 || answer->headers.find("x-ms-client-request-id") ||
                parser.iterate(answer->body.data(), answer->body.size(), answer->body.capacity()).get(document) !=
                    simdjson::SUCCESS ||
                document.get_object().get(object) != simdjson::SUCCESS) {
                hand::damaged();
            }
            hand::read_object(object, out, true);
            if (!hand::at_end(document) || out.entity.region != sample.region || out.entity.id != sample.id) {
                hand::damaged();
            }
            checksum += out.tag.size();
        }
    };
    auto const our_read = [&] {
        for (std::size_t times = 0; times < count; ++times) {
            call context;
            auto const read = store.execute(get_entity{"Businesses", sample.region, sample.id, {}}, context);
            business out;
            if (!read || !from_row(read->entity.view(), out)) { hand::damaged(); }
            checksum += out.name.size();
        }
    };
    canned const inserts{answer_of(204, "", "application/json", one_tag)};
    auto const insert_store = backend(inserts.answer);
    auto const hand_insert = [&] {
        for (std::size_t times = 0; times < count; ++times) {
            sent.url.assign("https://account.table.core.windows.net/Businesses");
            sent.body.clear();
            hand::check(sample);
            hand::append_json(sent.body, sample);
            sent.headers.assign("Content-Type: application/json\r\nPrefer: return-no-content\r\n");
            hand::finish(sent, with, "POST", "application/json", std::string_view{sent.url}.substr(39));
            auto answer = inserts.send(request, how);
            if (answer->status != 204 || answer->headers.find("x-ms-client-request-id")) { hand::damaged(); }
            std::string const tag{*answer->headers.find("ETag")};
            checksum += tag.size() + sent.body.size();
        }
    };
    auto const our_insert = [&] {
        for (std::size_t times = 0; times < count; ++times) {
            call context;
            auto const done =
                insert_store.execute(write_entity{"Businesses", mutation::insert(to_row(sample).value())}, context);
            if (!done) { hand::damaged(); }
            checksum += done->etag.empty() ? 0U : 1U;
        }
    };
    if (compared != nullptr) {
        compared->reads("REST: point read, compared with code by hand", 1.2, count, hand_read, our_read);
        compared->reads("REST: insert, compared with code by hand", 1.2, count, hand_insert, our_insert);
        return;
    }
    std::vector<business> hundred;
    for (std::size_t index = 0; index < 100; ++index) { hundred.push_back(measure::make_business(index, page_rows)); }
    canned const batches{answer_of(202, batch_body, "multipart/mixed; boundary=batchresponse_b")};
    auto const batch_store = backend(batches.answer);
    auto const hand_batch = [&] {
        for (std::size_t times = 0; times < count / 100; ++times) {
            sent.url.assign("https://account.table.core.windows.net/$batch");
            sent.body.assign("--batch_b\r\nContent-Type: multipart/mixed; boundary=changeset_c\r\n\r\n");
            for (business const& each : hundred) {
                sent.body +=
                    "--changeset_c\r\nContent-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n\r\n"
                    "POST https://account.table.core.windows.net/Businesses HTTP/1.1\r\n"
                    "Accept: application/json;odata=minimalmetadata\r\nDataServiceVersion: 3.0\r\n"
                    "Content-Type: application/json\r\nPrefer: return-no-content\r\n\r\n";
                hand::check(each);
                hand::append_json(sent.body, each);
                sent.body += "\r\n";
            }
            sent.body += "--changeset_c--\r\n--batch_b--\r\n";
            sent.headers.assign("Content-Type: multipart/mixed; boundary=batch_b\r\n");
            hand::finish(sent, with, "POST", "multipart/mixed; boundary=batch_b", "/$batch");
            auto answer = batches.send(request, how);
            std::vector<std::pair<int, std::string>> results;
            std::string_view rest = answer->body;
            for (std::size_t at = rest.find("HTTP/1.1 "); at != std::string_view::npos; at = rest.find("HTTP/1.1 ")) {
                if (rest.substr(0, at).find("--changesetresponse_c\r\n") == std::string_view::npos) { hand::damaged(); }
                rest.remove_prefix(at + 9);
                int const status = hand::number_of<int>(rest.substr(0, 3));
                std::size_t const end = rest.find("\r\n\r\n");
                std::size_t const tag = rest.find("ETag: ");
                if (end == std::string_view::npos || tag > end) { hand::damaged(); }
                results.emplace_back(status, rest.substr(tag + 6, rest.find("\r\n", tag) - tag - 6));
                rest.remove_prefix(end);
            }
            if (results.size() != hundred.size() || rest.find("--batchresponse_b--") == std::string_view::npos) {
                hand::damaged();
            }
            checksum += results.size();
        }
    };
    auto const our_batch = [&] {
        for (std::size_t times = 0; times < count / 100; ++times) {
            transact request_of_all{"Businesses", {}};
            request_of_all.changes.reserve(hundred.size());
            for (business const& each : hundred) {
                request_of_all.changes.push_back(mutation::insert(to_row(each).value()));
            }
            call context;
            auto const done = batch_store.execute(request_of_all, context);
            if (!done || done->results.size() != hundred.size()) { hand::damaged(); }
            checksum += done->results.size();
        }
    };
    auto const run = [](auto const& work) { return [&work] { return measure::timed(count, work); }; };
    measure::compare("point read, signed, canned answer", 1.5, 21, run(hand_read), run(our_read));
    std::printf("  allocations %.2f, by hand %.2f\n", static_cast<double>(allocations_of(our_read)) / count,
        static_cast<double>(allocations_of(hand_read)) / count);
    measure::compare("insert, signed, canned answer", 1.5, 21, run(hand_insert), run(our_insert));
    std::printf("  allocations %.2f, by hand %.2f\n", static_cast<double>(allocations_of(our_insert)) / count,
        static_cast<double>(allocations_of(hand_insert)) / count);
    measure::compare("batch of 100, signed, canned, an entity", 1.5, 21, run(hand_batch), run(our_batch));
    std::printf("  allocations %.2f, by hand %.2f\n", static_cast<double>(allocations_of(our_batch)) / count,
        static_cast<double>(allocations_of(hand_batch)) / count);
}

} // namespace

int main(int count, char** arguments) {
    // Freed memory stays with the process, so that neither side pays the system for getting it again. By default, which
    // side pays depends on which of the two frees more at once.
    mallopt(M_TRIM_THRESHOLD, 1 << 30);
    mallopt(M_MMAP_THRESHOLD, 1 << 25);
    if (count > 1) {
        measure::peers compared{count, arguments};
        pages(&compared);
        requests(&compared);
        return 0;
    }
    std::printf(
        "page of %zu entities: %zu bytes; entity: %zu bytes\n", page_rows, page_body.size(), entity_body.size());
    measure::heading();
    pages(nullptr);
    serialization();
    requests(nullptr);
    return checksum == 0 ? 1 : 0;
}
