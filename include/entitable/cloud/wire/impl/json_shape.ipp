// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/cloud/wire/detail/answer_text.hpp>
#include <entitable/cloud/wire/impl/json_scalar.ipp>
#include <entitable/core/date_time.hpp>
#include <entitable/core/detail/base64.hpp>
#include <entitable/core/detail/value_text.hpp>
#include <entitable/core/etag.hpp>
#include <entitable/core/guid.hpp>
#include <entitable/core/row/detail/payload.hpp>
#include <entitable/core/row/row.hpp>

#include <algorithm>
#include <charconv>
#include <limits>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// The role of a member in an entity's object.
enum class member_role : unsigned char {
    passed_over,
    partition_key,
    row_key,
    timestamp,
    etag,
    annotation,
    absent,
    property
};

/// One member of the shape of a row: its name and role.
struct shape_member {
    std::uint32_t name_at; ///< offset in the text of all names
    std::uint32_t name_size;
    member_role role;
    bool annotated{};        ///< a property with a type annotation
    edm_type type{};         ///< type of an annotation, or of an annotated property
    std::uint32_t type_at{}; ///< position of the type of a property in the payload
};

/// The parts of a row that are not in its payload.
struct row_parts {
    std::string_view partition_key;
    std::string_view row_key;
    std::string_view timestamp;
    std::string_view etag;
    bool has_partition_key{};
    bool has_row_key{};
    bool has_etag{}; ///< received, not derived from the Timestamp

    /// Whether the service returned the version of the entity.
    [[nodiscard]] bool is_versioned() const noexcept { return !timestamp.empty() || !etag.empty(); }
};

/// Makes rows from the objects of a text, most of which have the same members in the same order: the shape. Used by one thread at a time.
class entity_shape {
public:
    /// Reads one entity: `parts`, and `payload()`.
    [[nodiscard]] result<void> read(simdjson::dom::object object) {
        result<void> problem;
        if (!follow(object, problem)) {
            if (auto learned = learn(object); !learned) {
                members_.clear(); // an invalid entity is not a model for the next entity
                return learned;
            }
            static_cast<void>(follow(object, problem));
        }
        return problem ? complete() : std::move(problem);
    }

    /// Reads an object in place, in a text that ends at `text_end`, like `read`; it must have the shape of the previous object. Returns
    /// false if it does not, or on any error, because only a document can describe the error.
    [[nodiscard]] bool follow(simdjson::ondemand::object object, char const* text_end) {
        text_end_ = text_end;
        result<void> problem;
        return plain_names_ && follow(object, problem) && problem && complete();
    }

    row_parts parts;

    /// Returns the payload of the last entity; valid until the next entity.
    [[nodiscard]] std::string_view payload() const noexcept { return {payload_.data(), written_}; }
    /// Returns the last entity; valid until the next entity.
    [[nodiscard]] row_view whole() const noexcept {
        return {parts.partition_key, parts.row_key, payload(), parts.etag};
    }

private:
    static constexpr std::size_t max_members = 8192; ///< limit of one object: thousands more than any service allows

    /// Runs the checks that span members: `parts` is complete, and the Timestamp goes into the payload.
    [[nodiscard]] result<void> complete() {
        if (!parts.has_partition_key || !parts.has_row_key) {
            return unreadable({"an entity lacks the ", parts.has_partition_key ? "RowKey" : "PartitionKey"});
        }
        date_time timestamp;
        if (!parts.timestamp.empty()) {
            auto const read = date_time::parse(parts.timestamp);
            if (!read) { return unreadable({"the Timestamp of an entity is not a valid time"}); }
            timestamp = *read;
        }
        row_format::store(payload_.data() + row_format::timestamp_offset, timestamp.ticks);
        parts.has_etag = !parts.etag.empty();
        if (follows_from(parts.etag, parts.timestamp)) { parts.etag = {}; }
        return {};
    }

    /// Returns space for the next bytes of the payload. The string is longer than the written part, and is never shortened.
    char* write(std::size_t bytes) {
        if (payload_.size() - written_ < bytes) { grow(bytes); }
        char* const at = payload_.data() + written_;
        written_ += bytes;
        return at;
    }

    ENTITABLE_COLD void grow(std::size_t bytes) { payload_.resize(2 * (written_ + bytes)); }

    [[nodiscard]] std::string_view name_of(shape_member const& member) const noexcept {
        return {names_.data() + member.name_at, member.name_size};
    }

    /// Reads an entity with the same members as the previous entity, in the same order; false if they differ. No duplicate check is needed
    /// then: the members are known to be distinct.
    template <class Object>
    bool follow(Object object, result<void>& problem) {
        constexpr bool checked =
            std::is_same_v<Object, simdjson::dom::object>; // a document is checked completely before the first read
        parts = {};
        written_ = values_at_;
        shape_member const* next = members_.data();
        shape_member const* const end = next + members_.size();
        for (auto member : object) {
            if (next == end || !is_named(member, name_of(*next))) { return false; }
            shape_member const& expected = *next++;
            json_scalar const value = value_of(member);
            switch (expected.role) {
                case member_role::passed_over:
                    if (!checked && value.is == json_scalar::kind::other) { return false; }
                    break;
                case member_role::partition_key:
                    parts.has_partition_key = take_text(value, parts.partition_key, expected, problem);
                    break;
                case member_role::row_key:
                    parts.has_row_key = take_text(value, parts.row_key, expected, problem);
                    break;
                case member_role::timestamp: take_text(value, parts.timestamp, expected, problem); break;
                case member_role::etag: take_text(value, parts.etag, expected, problem); break;
                case member_role::annotation:
                    if (value.is != json_scalar::kind::text || !same_bytes(value.text, to_string(expected.type))) {
                        return false;
                    }
                    break;
                case member_role::absent:
                    if (value.is != json_scalar::kind::null) { return false; }
                    break;
                case member_role::property:
                    if (!append_value(value, expected)) {
                        if (value.is == json_scalar::kind::null) { return false; }
                        problem = misfit(expected);
                    }
                    break;
            }
            if (!problem) { return true; }
        }
        return next == end && !members_.empty();
    }

    static bool is_named(simdjson::dom::key_value_pair const& member, std::string_view name) noexcept {
        return same_bytes(member.key, name);
    }
    /// The name has no escapes in the text, because names of the shape need no escapes.
    bool is_named(simdjson::simdjson_result<simdjson::ondemand::field>& member, std::string_view name) const noexcept {
        simdjson::ondemand::raw_json_string key;
        if (member.key().get(key) != simdjson::SUCCESS) { return false; }
        char const* const at = key.raw();
        return static_cast<std::size_t>(text_end_ - at) > name.size() && at[name.size()] == '"' &&
            same_bytes(at, name.data(), name.size());
    }
    static json_scalar value_of(simdjson::dom::key_value_pair const& member) noexcept {
        return scalar_of(member.value);
    }
    static json_scalar value_of(simdjson::simdjson_result<simdjson::ondemand::field>& member) noexcept {
        simdjson::ondemand::value value;
        return member.value().get(value) == simdjson::SUCCESS ? scalar_of(value) : json_scalar{};
    }

    bool take_text(json_scalar const& value, std::string_view& out, shape_member const& member, result<void>& problem) {
        if (value.is == json_scalar::kind::text) {
            out = value.text;
            return true;
        }
        problem = misfit(member);
        return false;
    }

    [[nodiscard]] failure misfit(shape_member const& member) const {
        std::string_view const type = member.annotated ? to_string(member.type) : "its type";
        return unreadable(
            {"the value of \"", text::printable(text::shortened(name_of(member))), "\" does not fit ", type});
    }

    /// Derives the shape of an entity, or returns why it is invalid.
    [[nodiscard]] result<void> learn(simdjson::dom::object object) {
        constexpr std::string_view type_suffix = "@odata.type";
        members_.clear();
        names_.clear();
        std::vector<std::string_view> all;
        std::vector<std::pair<std::string_view, edm_type>> types;
        for (auto const member : object) {
            if (all.size() == max_members) {
                return unreadable({"an entity has more than ", std::to_string(max_members), " members"});
            }
            std::string_view const name = member.key;
            all.push_back(name);
            shape_member made{static_cast<std::uint32_t>(names_.size()), static_cast<std::uint32_t>(name.size()),
                member_role::passed_over};
            names_.append(name);
            if (name.size() > type_suffix.size() && name.ends_with(type_suffix)) {
                std::string_view const of = name.substr(0, name.size() - type_suffix.size());
                std::string_view type;
                if (member.value.get(type) != simdjson::SUCCESS || !type_named(type, made.type)) {
                    return unreadable({"\"", text::printable(text::shortened(of)), "\" has an unknown type"});
                }
                made.role = member_role::annotation;
                types.emplace_back(of, made.type);
            } else if (name == "PartitionKey") {
                made.role = member_role::partition_key;
            } else if (name == "RowKey") {
                made.role = member_role::row_key;
            } else if (name == "Timestamp") {
                made.role = member.value.is_null() ? member_role::absent : member_role::timestamp;
            } else if (name == "odata.etag") {
                made.role = member_role::etag;
            } else if (!name.starts_with("odata.") && name.find('@') == std::string_view::npos) {
                made.role = member.value.is_null() ? member_role::absent : member_role::property;
                if (name.size() > 0xFFFF) {
                    return unreadable(
                        {"a property name has an invalid length: ", std::to_string(name.size()), " bytes"});
                }
            }
            members_.push_back(made);
        }
        if (!all_different(all)) { return unreadable({"an entity has a duplicate member"}); }
        std::sort(types.begin(), types.end());
        describe(types);
        for (auto const& [of, type] : types) {
            if (!std::binary_search(all.begin(), all.end(), of)) {
                return unreadable({"\"", text::printable(text::shortened(of)), "\" has a type but no value"});
            }
        }
        return {};
    }

    /// Builds the head of the payload: everything except the Timestamp, the values, and the types that follow from a value.
    void describe(std::vector<std::pair<std::string_view, edm_type>> const& types) {
        written_ = 0;
        std::memset(write(row_format::header_size), 0, row_format::header_size);
        payload_[0] = static_cast<char>(row_format::version);
        std::uint16_t count = 0;
        for (shape_member& member : members_) {
            if (member.role != member_role::property) { continue; }
            std::string_view const name = name_of(member);
            auto const found = std::lower_bound(types.begin(), types.end(), name,
                [](auto const& left, std::string_view right) { return left.first < right; });
            member.annotated = found != types.end() && found->first == name;
            member.type = member.annotated ? found->second : edm_type::string;
            member.type_at = static_cast<std::uint32_t>(written_);
            char* const to = write(3 + name.size());
            *to = static_cast<char>(member.type);
            row_format::store(to + 1, static_cast<std::uint16_t>(name.size()));
            name.copy(to + 3, name.size());
            ++count;
        }
        plain_names_ = names_.find_first_of("\"\\") == std::string::npos;
        values_at_ = written_;
        row_format::store(payload_.data() + 2, count);
        row_format::store(payload_.data() + 4, static_cast<std::uint32_t>(values_at_ - row_format::header_size));
    }

    static bool type_named(std::string_view name, edm_type& out) noexcept {
        for (auto const type : {edm_type::string, edm_type::int32, edm_type::int64, edm_type::float64,
                 edm_type::boolean, edm_type::date_time, edm_type::guid, edm_type::binary}) {
            if (name == to_string(type)) {
                out = type;
                return true;
            }
        }
        return false;
    }

    template <class Number>
    void append_number(Number number) {
        row_format::store(write(sizeof number), number);
    }
    void append_boolean(bool boolean) { *write(1) = static_cast<char>(boolean ? 1 : 0); }
    void append_float64(double number) {
        std::int64_t bits{};
        std::memcpy(&bits, &number, sizeof bits);
        append_number(bits);
    }
    void append_text(std::string_view text) {
        char* const to = write(4 + text.size());
        row_format::store(to, static_cast<std::uint32_t>(text.size()));
        text.copy(to + 4, text.size());
    }

    /// Appends a value with its annotated type. Without an annotation the JSON form decides: a number without point and exponent is an
    /// Int32, or an Int64 if it does not fit.
    bool append_value(json_scalar const& value, shape_member const& member) {
        if (member.annotated) { return append_annotated(value, member.type); }
        edm_type type = edm_type::string;
        switch (value.is) {
            case json_scalar::kind::text: append_text(value.text); break;
            case json_scalar::kind::boolean:
                type = edm_type::boolean;
                append_boolean(value.boolean);
                break;
            case json_scalar::kind::real:
                type = edm_type::float64;
                append_float64(value.real);
                break;
            case json_scalar::kind::integer:
                if (value.integer >= INT32_MIN && value.integer <= INT32_MAX) {
                    type = edm_type::int32;
                    append_number(static_cast<std::int32_t>(value.integer));
                } else {
                    type = edm_type::int64;
                    append_number(value.integer);
                }
                break;
            default: return false;
        }
        payload_[member.type_at] = static_cast<char>(type);
        return true;
    }

    bool append_annotated(json_scalar const& value, edm_type type) {
        std::string_view const text = value.text;
        bool const is_text = value.is == json_scalar::kind::text;
        bool const is_integer = value.is == json_scalar::kind::integer;
        switch (type) {
            case edm_type::string:
                if (is_text) { append_text(text); }
                return is_text;
            case edm_type::boolean:
                if (value.is == json_scalar::kind::boolean) { append_boolean(value.boolean); }
                return value.is == json_scalar::kind::boolean;
            case edm_type::int32:
                if (!is_integer || value.integer < INT32_MIN || value.integer > INT32_MAX) { return false; }
                append_number(static_cast<std::int32_t>(value.integer));
                return true;
            case edm_type::int64: {
                std::int64_t number{};
                auto const end = text.data() + text.size();
                auto const read = std::from_chars(text.data(), end, number);
                if (text.empty() || read.ec != std::errc{} || read.ptr != end) { return false; }
                append_number(number);
                return true;
            }
            case edm_type::float64: {
                double number = is_integer ? static_cast<double>(value.integer) : value.real;
                if (is_text) {
                    constexpr double infinity = std::numeric_limits<double>::infinity();
                    number = text == "Infinity" ? infinity
                        : text == "-Infinity"   ? -infinity
                                                : std::numeric_limits<double>::quiet_NaN();
                    if (number != number && text != "NaN") { return false; }
                } else if (!is_integer && value.is != json_scalar::kind::real && value.is != json_scalar::kind::large) {
                    return false;
                }
                append_float64(number);
                return true;
            }
            case edm_type::date_time: {
                auto const time = date_time::parse(text);
                if (time) { append_number(time->ticks); }
                return time.has_value();
            }
            case edm_type::guid: {
                auto const id = guid::parse(text);
                if (id) { std::memcpy(write(id->bytes.size()), id->bytes.data(), id->bytes.size()); }
                return id.has_value();
            }
            case edm_type::binary: {
                bytes_.clear();
                if (!is_text || !append_from_base64(bytes_, text)) { return false; }
                append_text(bytes_);
                return true;
            }
        }
        return false;
    }

    /// Whether an ETag is the usual ETag of a Timestamp, so that it need not be stored: the same digits with %3A for the colons, and no
    /// zero at the end of the fraction.
    static bool follows_from(std::string_view tag, std::string_view timestamp) noexcept {
        constexpr std::size_t hour_end = 13; // "2026-07-27T12"
        if (tag.empty()) { return true; }
        if (timestamp.size() < 20 || tag.size() != timestamp.size() + etag_prefix.size() + etag_suffix.size() + 4) {
            return false;
        }
        char const* const in_tag = tag.data() + etag_prefix.size();
        char const* const time = timestamp.data();
        bool const trimmed = timestamp.size() == 20 || timestamp[timestamp.size() - 2] != '0';
        return trimmed && timestamp.back() == 'Z' && same_bytes(tag.data(), etag_prefix.data(), etag_prefix.size()) &&
            same_bytes(in_tag + timestamp.size() + 4, etag_suffix.data(), etag_suffix.size()) &&
            same_bytes(in_tag, time, hour_end) && same_bytes(in_tag + hour_end, "%3A", 3) &&
            same_bytes(in_tag + hour_end + 3, time + hour_end + 1, 2) && same_bytes(in_tag + hour_end + 5, "%3A", 3) &&
            same_bytes(in_tag + hour_end + 8, time + hour_end + 4, timestamp.size() - hour_end - 4);
    }

    std::string payload_;   ///< longer than the written part
    std::size_t written_{}; ///< bytes of the payload
    std::string bytes_;     ///< decoded bytes of a binary
    std::vector<shape_member> members_;
    std::string names_;
    std::size_t values_at_{row_format::header_size};
    bool plain_names_{};     ///< no name of the shape has a character that JSON escapes
    char const* text_end_{}; ///< end of the text of the page being read
};

} // namespace detail
ENTITABLE_END_NAMESPACE
