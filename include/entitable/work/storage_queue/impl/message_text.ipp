// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/cloud/wire/detail/entity_reader.hpp>
#include <entitable/cloud/wire/detail/json_writer.hpp>
#include <entitable/core/detail/base64.hpp>
#include <entitable/work/storage_queue/detail/service_queue.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

inline constexpr std::string_view queue_id_property = "Queue_Id"; // String: the id chosen by the sender

/// Returns an entity with the queue's properties, which replace the entity's properties of the same names.
ENTITABLE_DECL row with_queue_properties(row_view entity, std::string_view id, std::string_view why) {
    row_builder made{entity.partition_key, entity.row_key};
    property_cursor cursor{entity.payload};
    property_view each;
    while (cursor.next(each)) {
        if (each.present && each.name != queue_id_property && each.name != queue_property::why) {
            made.add(each.name, each.value);
        }
    }
    made.add(queue_id_property, value_view{id});
    if (!why.empty()) { made.add(queue_property::why, value_view{why}); }
    return made.build();
}

/// Returns the text of a message. XML cannot express U+FFFE and U+FFFF; JSON can escape them.
ENTITABLE_DECL std::string message_text(row_view entity, queue_text how) {
    std::string json;
    append_json_entity(json, entity);
    std::string made;
    if (how == queue_text::base64) {
        append_base64(made, json);
        return made;
    }
    for (std::size_t at = 0; at < json.size(); ++at) {
        if (json.compare(at, 2, "\xEF\xBF") == 0 && at + 2 < json.size() && (json[at + 2] & 0xFE) == 0xBE) {
            made.append(json[at + 2] == '\xBE' ? "\\uFFFE" : "\\uFFFF");
            at += 2;
        } else {
            made += json[at];
        }
    }
    return made;
}

/// Parses the entity in the text of a message; false if it is malformed.
ENTITABLE_DECL bool read_message_text(std::string_view text, queue_text how, entity_reader& reader, row& out) {
    std::string json;
    if (how == queue_text::base64 && !append_from_base64(json, text)) { return false; }
    sent_entity found;
    if (!reader.read(how == queue_text::base64 ? std::string_view{json} : text, found) || !found.partition_key ||
        !found.row_key) {
        return false;
    }
    out = row{row_view{*found.partition_key, *found.row_key, found.payload}};
    return true;
}

} // namespace detail
ENTITABLE_END_NAMESPACE
