// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/cloud/wire/detail/entity_reader.hpp>
#include <entitable/cloud/wire/impl/json_scalar.ipp>
#include <entitable/cloud/wire/impl/sent_literal.ipp>
#include <entitable/cloud/wire/impl/service_error.ipp>
#include <entitable/core/detail/base64.hpp>
#include <entitable/core/detail/double_text.hpp>
#include <entitable/core/row/detail/payload.hpp>
#include <entitable/core/row/row.hpp>
#include <entitable/core/text.hpp>

#include <algorithm>
#include <charconv>
#include <limits>
#include <utility>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

ENTITABLE_DECL failure invalid_json() { return refused_input("One of the request inputs is not valid."); }

ENTITABLE_DECL std::optional<edm_type> edm_type_named(std::string_view name) noexcept {
    for (auto const type : {edm_type::string, edm_type::int32, edm_type::int64, edm_type::float64, edm_type::boolean,
             edm_type::date_time, edm_type::guid, edm_type::binary}) {
        if (name == to_string(type)) { return type; }
    }
    return std::nullopt;
}

/// Parses the whole text as a number.
template <class Number>
std::optional<Number> number_in(std::string_view text) noexcept {
    Number number{};
    auto const read = std::from_chars(text.data(), text.data() + text.size(), number);
    bool const whole = !text.empty() && read.ec == std::errc{} && read.ptr == text.data() + text.size();
    return whole ? std::optional{number} : std::nullopt;
}

/// Converts a value with a type annotation. Values other than numbers are written to `bytes`.
ENTITABLE_DECL std::optional<value_view> annotated_value(json_scalar const& value, edm_type type, std::string& bytes) {
    using kind = json_scalar::kind;
    bool const is_text = value.is == kind::text;
    std::string_view const text = is_text ? value.text : std::string_view{};
    switch (type) {
        case edm_type::string: return is_text ? std::optional{value_view{text}} : std::nullopt;
        case edm_type::boolean:
            if (value.is == kind::boolean) { return value_view{value.boolean}; }
            if (text == "true" || text == "True" || text == "false" || text == "False") {
                return value_view{text.size() == 4};
            }
            return std::nullopt;
        case edm_type::int32: {
            if (value.is == kind::integer && value.integer >= INT32_MIN && value.integer <= INT32_MAX) {
                return value_view{static_cast<std::int32_t>(value.integer)};
            }
            auto const number = number_in<std::int32_t>(text);
            return number ? std::optional{value_view{*number}} : std::nullopt;
        }
        case edm_type::int64: {
            auto const number = number_in<std::int64_t>(text);
            return number ? std::optional{value_view{*number}} : std::nullopt;
        }
        case edm_type::float64: {
            if (value.is == kind::integer) { return value_view{static_cast<double>(value.integer)}; }
            if (value.is == kind::real || value.is == kind::large) { return value_view{value.real}; }
            constexpr double infinity = std::numeric_limits<double>::infinity();
            if (text == "NaN" || text == "Infinity" || text == "-Infinity") {
                return value_view{text == "NaN" ? std::numeric_limits<double>::quiet_NaN()
                        : text == "Infinity"    ? infinity
                                                : -infinity};
            }
            auto const number = double_in(text);
            return number ? std::optional{value_view{*number}} : std::nullopt;
        }
        case edm_type::date_time: {
            auto const time = sent_time(text);
            return time && time->is_valid() ? std::optional{value_view{*time}} : std::nullopt;
        }
        case edm_type::guid: {
            auto const id = guid::parse(text);
            if (!id) { return std::nullopt; }
            bytes.assign(reinterpret_cast<char const*>(id->bytes.data()), id->bytes.size());
            return value_view{edm_type::guid, std::string_view{bytes}};
        }
        case edm_type::binary:
            bytes.clear();
            return is_text && append_from_base64(bytes, text)
                ? std::optional{value_view{edm_type::binary, std::string_view{bytes}}}
                : std::nullopt;
    }
    return std::nullopt;
}

/// Converts a value by its JSON form: a number without point and exponent is an Int32, or a Double if it does not fit.
ENTITABLE_DECL std::optional<value_view> plain_value(json_scalar const& value) {
    using kind = json_scalar::kind;
    switch (value.is) {
        case kind::text: return value_view{value.text};
        case kind::boolean: return value_view{value.boolean};
        case kind::real:
        case kind::large: return value_view{value.real};
        case kind::integer:
            return value.integer >= INT32_MIN && value.integer <= INT32_MAX
                ? value_view{static_cast<std::int32_t>(value.integer)}
                : value_view{static_cast<double>(value.integer)};
        default: return std::nullopt;
    }
}

class entity_reader::state {
public:
    static constexpr std::size_t max_depth = 4;
    static constexpr std::size_t max_members = 2048; ///< hundreds more than any service allows

    /// The role of a member.
    enum class role : unsigned char { partition_key, row_key, passed_over, annotation, property };
    /// A member of the last entity. The next entity usually has the same members, which are then not checked again.
    struct known_member {
        std::size_t name_at; ///< offset in `known_names`
        std::size_t name_size;
        role is;
        bool annotated;                  ///< a property with a type annotation
        edm_type type{edm_type::string}; ///< type of an annotation, or of the annotated property
        // What `descriptor` says of a property.
        bool present{};
        edm_type stored{edm_type::string};
    };

    simdjson::dom::parser parser;
    std::size_t capacity{};
    std::vector<known_member> known;
    std::string known_names;
    bool described{}; ///< whether `descriptor` is that of the last entity, as `known` says
    std::string descriptor;
    std::string values;
    std::string bytes;
    std::string payload;

    [[nodiscard]] bool parse(std::string_view body, simdjson::dom::object& out) {
        if (body.empty()) { // an empty body may be a null pointer, and simdjson copies from it
            return false;
        }
        if (body.size() > capacity) {
            std::size_t const wanted = body.size() < 16'384 ? 16'384 : body.size();
            if (parser.allocate(wanted, max_depth) != simdjson::SUCCESS) {
                capacity = 0;
                return false;
            }
            capacity = wanted;
        }
        return parser.parse(body.data(), body.size(), true).get(out) == simdjson::SUCCESS;
    }

    [[nodiscard]] result<void> read(simdjson::dom::object object, sent_entity& out) {
        if (auto good = read_known(object, out); !good || *good) {
            return good ? result<void>{} : std::move(good).as_failure();
        }
        if (auto learned = learn(object); !learned) {
            known.clear();
            return learned;
        }
        auto good = read_known(object, out);
        return good ? result<void>{} : std::move(good).as_failure();
    }

private:
    [[nodiscard]] std::string_view name_of(known_member const& member) const noexcept {
        return {known_names.data() + member.name_at, member.name_size};
    }

    /// Reads an entity. Returns false if it has other members than the previous one, in another order, or with other types.
    [[nodiscard]] result<bool> read_known(simdjson::dom::object object, sent_entity& out) {
        bool same = std::exchange(described, false);
        values.clear();
        out.partition_key.reset();
        out.row_key.reset();
        std::uint16_t count = 0;
        known_member* next = known.data();
        known_member* const end = next + known.size();
        bool wrong = false; // reported at the end: the members may be unknown
        for (auto const member : object) {
            if (next == end || !same_bytes(member.key, name_of(*next))) { return false; }
            known_member& as = *next++;
            if (as.is == role::annotation) {
                std::string_view type;
                if (member.value.get(type) != simdjson::SUCCESS || !same_bytes(type, to_string(as.type))) {
                    return false;
                }
                continue;
            }
            if (as.is == role::passed_over) { continue; }
            json_scalar const held = scalar_of(member.value);
            if (held.is == json_scalar::kind::null) {
                same = same && !as.present;
                as.present = false;
                continue;
            }
            if (as.is != role::property) {
                auto& key = as.is == role::row_key ? out.row_key : out.partition_key;
                if (held.is == json_scalar::kind::text) {
                    key = held.text;
                } else {
                    wrong = true;
                }
                continue;
            }
            auto const found = as.annotated ? annotated_value(held, as.type, bytes) : plain_value(held);
            if (!found) {
                wrong = true;
                continue;
            }
            edm_type const type = found->type();
            same = same && as.present && as.stored == type;
            as.present = true;
            as.stored = type;
            append_stored_value(values, type, *found);
            ++count;
        }
        if (next != end) { return false; }
        if (wrong) { return invalid_json(); }
        if (!same) { describe(); }
        described = true;
        write_payload(payload, count, descriptor, values);
        out.payload = payload;
        return true;
    }

    void describe() {
        descriptor.clear();
        for (known_member const& each : known) {
            if (each.present) { append_descriptor(descriptor, name_of(each), each.stored, false); }
        }
    }

    [[nodiscard]] result<void> learn(simdjson::dom::object object) {
        constexpr std::string_view suffix = "@odata.type";
        std::vector<std::string_view> names;
        std::vector<std::pair<std::string_view, edm_type>> types;
        known.clear();
        known_names.clear();
        for (auto const member : object) {
            if (names.size() == max_members) {
                return refused(400, "TooManyProperties", "The entity contains more properties than allowed.");
            }
            std::string_view const name = member.key;
            names.push_back(name);
            known_member made{known_names.size(), name.size(), role::property, false};
            known_names += name;
            std::string_view type;
            if (name.size() > suffix.size() && name.ends_with(suffix)) {
                auto const named = member.value.get(type) == simdjson::SUCCESS ? edm_type_named(type) : std::nullopt;
                if (!named) { return invalid_json(); }
                made.is = role::annotation;
                made.type = *named;
                types.emplace_back(name.substr(0, name.size() - suffix.size()), *named);
            } else if (name == "PartitionKey") {
                made.is = role::partition_key;
            } else if (name == "RowKey") {
                made.is = role::row_key;
            } else if (name == "Timestamp" || name.starts_with("odata.") || name == suffix) {
                made.is = role::passed_over;
            } else if (name.size() > 0xFFFF) {
                return refused(
                    400, "PropertyNameTooLong", "The property name exceeds the maximum allowed length (255).");
            }
            known.push_back(made);
        }
        if (!all_different(names)) {
            return refused(400, "DuplicatePropertiesSpecified", "A property is specified more than one time.");
        }
        std::sort(types.begin(), types.end());
        for (known_member& each : known) {
            auto const type = std::lower_bound(types.begin(), types.end(), name_of(each),
                [](auto const& left, std::string_view right) { return left.first < right; });
            if (each.is == role::property && type != types.end() && type->first == name_of(each)) {
                each.annotated = true;
                each.type = type->second;
            }
        }
        return {};
    }
};

ENTITABLE_DECL entity_reader::entity_reader() : state_(new state) {}
ENTITABLE_DECL entity_reader::~entity_reader() { delete state_; }
ENTITABLE_DECL std::size_t entity_reader::capacity() const noexcept { return state_->capacity; }

ENTITABLE_DECL result<void> entity_reader::read(std::string_view body, sent_entity& out) {
    simdjson::dom::object object;
    if (!state_->parse(body, object)) { return invalid_json(); }
    return state_->read(object, out);
}

ENTITABLE_DECL result<std::string> entity_reader::read_table_name(std::string_view body) {
    simdjson::dom::object object;
    std::string_view name;
    std::size_t names = 0;
    if (!state_->parse(body, object)) { return invalid_json(); }
    for (auto const member : object) {
        if (member.key == "TableName") {
            ++names;
            if (member.value.get(name) != simdjson::SUCCESS) { return invalid_json(); }
        }
    }
    if (names != 1) { return invalid_json(); }
    return std::string{name};
}

} // namespace detail
ENTITABLE_END_NAMESPACE
