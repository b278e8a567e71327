// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/cloud/wire/detail/answer_text.hpp>
#include <entitable/cloud/wire/detail/json_reader.hpp>
#include <entitable/cloud/wire/impl/json_shape.ipp>
#include <entitable/core/try.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

class json_reader::state {
public:
    static constexpr std::size_t max_depth = 16;

    simdjson::dom::parser parser;
    simdjson::ondemand::parser walker; ///< parser of pages
    std::size_t capacity{};            ///< capacity of the document parser

    /// Parses the whole text as one document.
    [[nodiscard]] result<simdjson::dom::element> parse(char const* bytes, std::size_t size, bool padded) {
        if (size > capacity) {
            std::size_t const wanted = size < 65'536 ? 65'536 : size;
            if (parser.allocate(wanted, max_depth) != simdjson::SUCCESS) {
                capacity = 0;
                return unreadable({"out of memory for ", std::to_string(size), " bytes"});
            }
            capacity = wanted;
        }
        simdjson::dom::element root;
        if (auto const problem = parser.parse(bytes, size, !padded).get(root); problem != simdjson::SUCCESS) {
            return unreadable({"it is not a complete JSON document (", simdjson::error_message(problem), ")"});
        }
        return root;
    }
    [[nodiscard]] result<simdjson::dom::object> parse_object(std::string const& body) {
        ENTITABLE_TRY(
            auto root, parse(body.data(), body.size(), body.capacity() - body.size() >= simdjson::SIMDJSON_PADDING));
        simdjson::dom::object object;
        if (root.get(object) != simdjson::SUCCESS) { return unreadable({"it is not a JSON object"}); }
        return object;
    }

    /// Returns the array called "value" of a list; each other member must be metadata of the list.
    [[nodiscard]] result<simdjson::dom::array> parse_list(std::string const& body) {
        ENTITABLE_TRY(auto object, parse_object(body));
        std::vector<std::string_view> names;
        simdjson::dom::array list;
        bool found = false;
        for (auto const member : object) {
            names.push_back(member.key);
            if (member.key == "value") {
                found = true;
                if (member.value.get(list) != simdjson::SUCCESS) {
                    return unreadable({"its \"value\" is not an array"});
                }
            }
        }
        if (!all_different(names)) { return unreadable({"it has a duplicate member"}); }
        if (!found) { return unreadable({"it lacks \"value\""}); }
        return list;
    }

    /// Reads a page in one pass over its text, without building a document. Checks every part of the text, and returns false for everything
    /// unusual or invalid: then the page must be read from a document, which reports the error. An entity whose shape differs from the
    /// previous one is read from its own document.
    [[nodiscard]] bool walk(std::string const& body, page& rows) {
        simdjson::ondemand::document document;
        simdjson::ondemand::object whole;
        if (!begin(body, document, whole)) { return false; }
        bool described = false;
        bool listed = false;
        for (auto member : whole) {
            std::string_view name;
            simdjson::ondemand::array list;
            if (member.unescaped_key().get(name) != simdjson::SUCCESS) { return false; }
            if (name == "odata.metadata" && !described) {
                described = true;
                if (member.value().get_string().get(name) != simdjson::SUCCESS) { return false; }
            } else if (name == "value" && !listed && member.value().get_array().get(list) == simdjson::SUCCESS) {
                listed = true;
                for (auto element : list) {
                    simdjson::ondemand::object object;
                    if (element.get_object().get(object) != simdjson::SUCCESS ||
                        !walk(document, object, end_of(body))) {
                        return false;
                    }
                    rows.append(entity.whole());
                }
            } else {
                return false;
            }
        }
        return listed && is_at_end(document);
    }
    /// Reads one entity the same way; it must have the shape of the previous one.
    [[nodiscard]] bool walk(std::string const& body) {
        simdjson::ondemand::document document;
        simdjson::ondemand::object whole;
        return begin(body, document, whole) && entity.follow(whole, end_of(body)) && is_at_end(document);
    }

    entity_shape entity; ///< the last entity read

    /// Returns the size of the largest response to keep memory for.
    [[nodiscard]] std::size_t largest() const noexcept {
        return capacity > walker.capacity() ? capacity : walker.capacity();
    }

private:
    [[nodiscard]] static char const* end_of(std::string const& body) noexcept { return body.data() + body.size(); }
    [[nodiscard]] bool begin(
        std::string const& body, simdjson::ondemand::document& document, simdjson::ondemand::object& whole) {
        return walker.iterate(body.data(), body.size(), body.capacity()).get(document) == simdjson::SUCCESS &&
            document.get_object().get(whole) == simdjson::SUCCESS;
    }
    [[nodiscard]] static bool is_at_end(simdjson::ondemand::document& document) {
        char const* rest = nullptr;
        return document.current_location().get(rest) == simdjson::OUT_OF_BOUNDS;
    }
    [[nodiscard]] bool walk(
        simdjson::ondemand::document& document, simdjson::ondemand::object object, char const* text_end) {
        if (entity.follow(object, text_end)) { return entity.parts.is_versioned(); }
        std::string_view text;
        if (!document.is_alive() ||
            object.reset().error() != simdjson::SUCCESS || // the reader may not be able to continue
            object.raw_json().get(text) != simdjson::SUCCESS) {
            return false;
        }
        auto const alone = parse(text.data(), text.size(), true); // the rest of the page follows this entity
        simdjson::dom::object members;
        return alone && alone->get(members) == simdjson::SUCCESS && entity.read(members) && entity.parts.is_versioned();
    }
};

ENTITABLE_DECL json_reader::json_reader() : state_(new state) {}
ENTITABLE_DECL json_reader::~json_reader() { delete state_; }
ENTITABLE_DECL std::size_t json_reader::capacity() const noexcept { return state_->largest(); }

ENTITABLE_DECL result<void> json_reader::read_page(std::string const& body, page& rows) {
    if (rows.empty()) {
        rows.reserve(0, body.size());
        if (state_->walk(body, rows)) { return {}; }
        rows.clear();
    }
    ENTITABLE_TRY(auto list, state_->parse_list(body));
    rows.reserve(rows.size() + list.size(), rows.bytes() + body.size());
    for (simdjson::dom::element const element : list) {
        simdjson::dom::object object;
        if (element.get(object) != simdjson::SUCCESS) { return unreadable({"an entity is not a JSON object"}); }
        if (auto read = state_->entity.read(object); !read) { return read; }
        if (!state_->entity.parts.is_versioned()) { return unreadable({"an entity lacks both Timestamp and ETag"}); }
        rows.append(state_->entity.whole());
    }
    return {};
}

ENTITABLE_DECL result<get_entity::response> json_reader::read_entity(std::string const& body) {
    if (!state_->walk(body)) {
        ENTITABLE_TRY(auto object, state_->parse_object(body));
        ENTITABLE_CHECK(state_->entity.read(object));
    }
    row_view const read = state_->entity.whole();
    return get_entity::response{row{read}, state_->entity.parts.has_etag ? read.etag() : etag{}};
}

ENTITABLE_DECL result<std::vector<std::string>> json_reader::read_tables(std::string const& body) {
    ENTITABLE_TRY(auto list, state_->parse_list(body));
    std::vector<std::string> tables;
    for (simdjson::dom::element const element : list) {
        std::string_view name;
        if (element["TableName"].get(name) != simdjson::SUCCESS) { return unreadable({"a table lacks a name"}); }
        tables.emplace_back(name);
    }
    return tables;
}

ENTITABLE_DECL bool json_reader::read_error(std::string_view body, error_text& out) {
    auto const root = state_->parse(body.data(), body.size(), false);
    simdjson::dom::element problem;
    if (!root || (*root)["odata.error"].get(problem) != simdjson::SUCCESS) { return false; }
    std::string_view text;
    if (problem["code"].get(text) == simdjson::SUCCESS) { out.code = text; }
    if (problem["message"]["value"].get(text) == simdjson::SUCCESS ||
        problem["message"].get(text) == simdjson::SUCCESS) {
        out.message = text;
    }
    return true;
}

} // namespace detail
ENTITABLE_END_NAMESPACE
