// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/client/query/impl/predicate.ipp>
#include <entitable/client/query/plan.hpp>
#include <entitable/core/detail/characters.hpp>
#include <entitable/core/request/detail/key_ranges.hpp>
#include <entitable/core/text.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// The constraint of one alternative (a box) on one key component: an interval of its texts. A box without a constraint on a component
/// contains all of its texts.
struct narrowed_component {
    std::size_t box{};
    key_part part{};
    std::uint8_t index{};
    key_interval texts;
};

/// A part of a predicate during planning. Boxes are numbered from 0; `narrowed` is ordered by box.
struct planned_part {
    std::size_t boxes{1}; ///< every row that satisfies the part is in a box
    std::vector<narrowed_component> narrowed;
    std::vector<filter_node> server; ///< a condition that every row of the part satisfies; may be empty
    std::size_t comparisons{};       ///< number of comparisons in that condition
    std::size_t bytes{};             ///< upper bound of that condition's size in a URL
    bool too_long{};                 ///< a comparison was dropped because it would not fit into a URL
    bool on_keys{};
    bool on_properties{};
    bool exact{true}; ///< boxes and condition together accept exactly the rows of the part
    bool too_many{};
};

/// Limits of the service for a query.
struct filter_budget {
    std::size_t comparisons;
    std::size_t bytes;
};

/// Returns the bytes of a text between quotes in a URL.
ENTITABLE_LAZY std::size_t url_size(std::string_view text) noexcept {
    std::size_t size = 0;
    for (char const character : text) {
        size += is_unreserved(character) ? 1U : character == '\'' ? 6U : 3U; // a quote is doubled
    }
    return size;
}

/// Size of an operator with its blanks, brackets and the quotes of an operand.
inline constexpr std::size_t around_comparison = 40;

/// Returns an upper bound of the bytes of a comparison in a URL.
ENTITABLE_LAZY std::size_t comparison_size(filter_node const& node) noexcept {
    value_view const operand = node.operand;
    std::size_t const size = around_comparison + url_size(node.name);
    switch (operand.type()) {
        case edm_type::string: return size + url_size(operand.bytes());
        case edm_type::binary: return size + 2 * operand.bytes().size();
        case edm_type::float64: { // written without an exponent
            double const number = operand.as_float64();
            double const magnitude = number < 0 ? -number : number;
            return size + (magnitude == 0 || (magnitude > 1e-6 && magnitude < 1e18) ? 40U : 400U);
        }
        default: return size + 80;
    }
}

/// Returns an upper bound of the bytes of a key range in a URL.
ENTITABLE_LAZY std::size_t range_size(key_range const& range) noexcept {
    std::size_t size = 0;
    for (key_interval const* keys : {&range.partition, &range.row}) {
        for (key_bound const* bound : {&keys->lower, &keys->upper}) {
            bool const counted = bound->end != key_bound::kind::open && (bound == &keys->lower || !keys->is_point());
            size += counted ? around_comparison + 12 + url_size(bound->key) : 0U;
        }
    }
    return size;
}

/// Returns the longest prefix of whole characters that fits into `bytes` in a URL.
ENTITABLE_LAZY std::string_view url_prefix(std::string_view text, std::size_t bytes) noexcept {
    std::size_t end = 0;
    std::size_t used = 0;
    for (std::size_t at = 0; at < text.size() && used <= bytes; ++at) {
        end = (static_cast<unsigned char>(text[at]) & 0xC0U) != 0x80U ? at : end;
        used += url_size(text.substr(at, 1));
    }
    return used <= bytes ? text : text.substr(0, end);
}

ENTITABLE_LAZY key_interval interval_of(predicate_node const& node) {
    std::string const text{node.operand.view().as_string()};
    key_interval interval;
    if (node.subject == predicate_subject::prefix) {
        interval.lower = key_bound::including(text);
        if (auto successor = text::successor_of_prefix(text)) {
            interval.upper = key_bound::excluding(*std::move(successor));
        }
        return interval;
    }
    if (node.optional && text != absent_key_text) {
        interval.upper = key_bound::excluding(std::string{absent_key_text}); // absent components sort after all others
    }
    switch (node.operation) {
        case filter_operator::equal: return key_interval::only(text);
        case filter_operator::less: interval.upper = key_bound::excluding(text); break;
        case filter_operator::less_equal: interval.upper = key_bound::including(text); break;
        case filter_operator::greater: interval.lower = key_bound::excluding(text); break;
        case filter_operator::greater_equal: interval.lower = key_bound::including(text); break;
        default: break;
    }
    return interval;
}

/// The two keys of an entity.
struct key_layouts {
    key_layout partition;
    key_layout row;

    [[nodiscard]] key_layout of(key_part part) const noexcept { return part == key_part::partition ? partition : row; }
};

/// Whether a key can have the operand as this component. A key that begins with a different text and a separator belongs to a shorter text.
ENTITABLE_LAZY bool could_be_stored(predicate_node const& node, key_layout layout) {
    std::string_view const separator = layout[node.index].separator();
    return static_cast<std::size_t>(node.index) + 1 == layout.size() ||
        splits_at_end(text::joined({node.operand.view().as_string(), separator}), separator);
}

ENTITABLE_LAZY planned_part plan_comparison(
    predicate_node const& node, bool negated, key_layouts const& layouts, filter_budget budget) {
    planned_part part;
    if (node.subject == predicate_subject::nothing) {
        part.boxes = negated ? 1 : 0;
        return part;
    }
    if (node.on_key()) {
        part.on_keys = true;
        part.exact = node.exact;
        if (negated || node.operation == filter_operator::not_equal) {
            part.exact = false; // "all keys except some" is not an interval
        } else if (node.operation == filter_operator::equal && !could_be_stored(node, layouts.of(node.part))) {
            part.boxes = 0;
        } else {
            part.narrowed.push_back({0, node.part, node.index, interval_of(node)});
        }
        return part;
    }
    part.on_properties = true;
    if (node.former != nullptr) {
        part.exact = false; // the service would compare only one of the two properties
        return part;
    }
    filter_node asked{node.operation, node.name, node.operand};
    part.bytes = comparison_size(asked);
    if (part.bytes > budget.bytes) {
        part.bytes = 0;
        part.exact = false;
        part.too_long = true;
        return part;
    }
    part.comparisons = 1;
    part.server.push_back(std::move(asked));
    if (negated) { part.server.push_back({filter_operator::negation, {}, {}}); }
    return part;
}

/// Adds `component` to the last box of `into`; false if the box becomes empty.
ENTITABLE_LAZY bool narrow_last_box(planned_part& into, narrowed_component const& component) {
    for (std::size_t at = into.narrowed.size(); at > 0 && into.narrowed[at - 1].box == into.boxes; --at) {
        narrowed_component& known = into.narrowed[at - 1];
        if (known.part == component.part && known.index == component.index) {
            known.texts = intersection(known.texts, component.texts);
            return !known.texts.is_empty();
        }
    }
    into.narrowed.push_back(component);
    into.narrowed.back().box = into.boxes;
    return true;
}

/// Intersects every box of one side with every box of the other.
ENTITABLE_LAZY void meet_boxes(planned_part const& left, planned_part const& right, planned_part& into) {
    into.boxes = 0;
    std::size_t left_end = 0;
    for (std::size_t ours = 0; ours < left.boxes; ++ours) {
        std::size_t const left_start = left_end;
        while (left_end < left.narrowed.size() && left.narrowed[left_end].box == ours) { ++left_end; }
        std::size_t at = 0;
        for (std::size_t theirs = 0; theirs < right.boxes; ++theirs) {
            std::size_t const kept = into.narrowed.size();
            bool possible = true;
            for (std::size_t index = left_start; index < left_end; ++index) {
                possible = narrow_last_box(into, left.narrowed[index]) && possible;
            }
            for (; at < right.narrowed.size() && right.narrowed[at].box == theirs; ++at) {
                possible = narrow_last_box(into, right.narrowed[at]) && possible;
            }
            if (possible) {
                ++into.boxes;
            } else {
                while (into.narrowed.size() > kept) { into.narrowed.pop_back(); }
            }
        }
    }
}

/// Appends a condition to another; either may be empty.
ENTITABLE_LAZY void join_conditions(planned_part& into, std::vector<filter_node>& other, filter_operator connective) {
    bool const two = !into.server.empty() && !other.empty();
    for (filter_node& node : other) { into.server.push_back(std::move(node)); }
    if (two) { into.server.push_back({connective, {}, {}}); }
}

ENTITABLE_LAZY planned_part plan_all_of(planned_part left, planned_part right, filter_budget budget) {
    planned_part both;
    both.on_keys = left.on_keys || right.on_keys;
    both.on_properties = left.on_properties || right.on_properties;
    both.exact = left.exact && right.exact;
    both.too_many = left.too_many || right.too_many || left.boxes * right.boxes > max_key_ranges;
    if (!both.too_many) { meet_boxes(left, right, both); }
    both.server = std::move(left.server);
    both.comparisons = left.comparisons;
    both.bytes = left.bytes;
    bool const fits = left.bytes + right.bytes <= budget.bytes;
    both.too_long = left.too_long || right.too_long || !fits;
    if (fits && left.comparisons + right.comparisons <= budget.comparisons) {
        join_conditions(both, right.server, filter_operator::all_of);
        both.comparisons += right.comparisons;
        both.bytes += right.bytes;
    } else {
        both.exact = false; // the service accepts no more: the client checks the rest
    }
    return both;
}

ENTITABLE_LAZY planned_part plan_any_of(planned_part left, planned_part right, filter_budget budget) {
    auto const holds_nothing = [](planned_part const& part) { return part.boxes == 0 && !part.too_many; };
    if (holds_nothing(left) || holds_nothing(right)) {
        return holds_nothing(left) ? std::move(right) : std::move(left);
    }
    planned_part either;
    either.on_keys = left.on_keys || right.on_keys;
    either.on_properties = left.on_properties || right.on_properties;
    // Ranges and filter are one conjunction for all boxes: it cannot express alternatives that mix keys and properties.
    either.exact = left.exact && right.exact && !(either.on_keys && either.on_properties);
    either.comparisons = left.comparisons + right.comparisons;
    either.bytes = left.bytes + right.bytes;
    bool const fits = either.bytes <= budget.bytes;
    either.too_long = left.too_long || right.too_long || !fits;
    if (!left.server.empty() && !right.server.empty() && fits && either.comparisons <= budget.comparisons) {
        either.server = std::move(left.server);
        join_conditions(either, right.server, filter_operator::any_of);
    } else {
        either.exact = either.exact && either.comparisons == 0;
        either.comparisons = 0;
        either.bytes = 0;
    }
    // A box without constraints contains all other boxes.
    auto const holds_everything = [](planned_part const& part) { return part.boxes > 0 && part.narrowed.empty(); };
    either.too_many = left.too_many || right.too_many;
    if (!holds_everything(left) && !holds_everything(right)) {
        either.narrowed = std::move(left.narrowed);
        either.boxes = left.boxes + right.boxes;
        for (narrowed_component& component : right.narrowed) {
            component.box += left.boxes;
            either.narrowed.push_back(std::move(component));
        }
        either.too_many = either.too_many || either.boxes > max_key_ranges;
    }
    return either;
}

ENTITABLE_LAZY planned_part plan_nodes(predicate_nodes const& nodes, key_layouts const& layouts, filter_budget budget) {
    std::vector<planned_part> stack;
    for (std::size_t index = 0; index < nodes.size(); ++index) {
        predicate_node const& node = nodes[index];
        if (is_comparison(node.operation)) {
            bool const negated = index + 1 < nodes.size() && nodes[index + 1].operation == filter_operator::negation;
            stack.push_back(plan_comparison(node, negated, layouts, budget));
            index += negated ? 1U : 0U;
            continue;
        }
        planned_part right = std::move(stack.back());
        stack.pop_back();
        planned_part& left = stack.back();
        left = node.operation == filter_operator::all_of ? plan_all_of(std::move(left), std::move(right), budget)
                                                         : plan_any_of(std::move(left), std::move(right), budget);
    }
    return stack.empty() ? planned_part{} : std::move(stack.back());
}

ENTITABLE_LAZY key_bound behind_prefix(std::string const& prefix, bool as_lower) {
    auto successor = text::successor_of_prefix(prefix);
    if (!successor) { return {}; }
    return as_lower ? key_bound::including(*std::move(successor)) : key_bound::excluding(*std::move(successor));
}

/// The constrained components of one box.
struct key_box {
    narrowed_component const* first;
    narrowed_component const* last;

    [[nodiscard]] key_interval const* find(key_part part, std::size_t index) const noexcept {
        for (narrowed_component const* at = first; at != last; ++at) {
            if (at->part == part && at->index == index) { return &at->texts; }
        }
        return nullptr;
    }
};

/// Returns the keys whose components lie in the box; clears `exact` if the interval contains other keys.
ENTITABLE_LAZY key_interval keys_of(key_box const& box, key_part part, key_layout layout, bool& exact) {
    std::string prefix;
    for (std::size_t index = 0; index < layout.size(); ++index) {
        bool const last = index + 1 == layout.size();
        if (layout[index].literal()) {
            prefix += layout[index].name;
            continue;
        }
        key_interval const* const texts = box.find(part, index);
        if (texts != nullptr && texts->is_point()) {
            prefix += texts->lower.key;
            prefix += last ? std::string_view{} : layout[index].separator();
            continue;
        }
        // The interval ends here: it ignores the constraints on later components.
        for (std::size_t later = index + 1; later < layout.size(); ++later) {
            exact = exact && box.find(part, later) == nullptr;
        }
        key_interval keys;
        if (!prefix.empty()) { keys = {key_bound::including(prefix), behind_prefix(prefix, false)}; }
        if (texts == nullptr) { return keys; }
        key_bound const& lower = texts->lower;
        key_bound const& upper = texts->upper;
        if (lower.end != key_bound::kind::open) {
            bool const over_all = lower.end == key_bound::kind::exclusive && !last;
            keys.lower = over_all ? behind_prefix(text::joined({prefix, lower.key, layout[index].separator()}), true)
                                  : key_bound{lower.end, prefix + lower.key};
        }
        if (upper.end != key_bound::kind::open) {
            bool const with_all = upper.end == key_bound::kind::inclusive && !last;
            keys.upper = with_all ? behind_prefix(text::joined({prefix, upper.key, layout[index].separator()}), false)
                                  : key_bound{upper.end, prefix + upper.key};
        }
        return keys;
    }
    return key_interval::only(prefix);
}

/// Ends the row keys before those of system rows, if no key of the layout sorts after these. Returns whether system rows may remain.
ENTITABLE_LAZY bool cut_system_rows(key_interval& rows, bool sorts_before) {
    if (sorts_before) {
        rows = intersection(rows, key_interval::until(key_bound::excluding(std::string{system_row::prefix})));
        return false;
    }
    return !intersection(rows,
        {key_bound::including(std::string{system_row::prefix}), key_bound::excluding(std::string{system_row::end})})
                .is_empty();
}

/// Shortens the bounds of a range that exceeds `bytes` in a URL: it then contains more keys, never fewer.
ENTITABLE_LAZY bool shorten(key_range& range, std::size_t bytes) {
    if (range_size(range) <= bytes) { return false; }
    std::size_t const around = around_comparison + 12;
    std::size_t const each = bytes / 4 > around ? bytes / 4 - around : 0; // there are four bounds
    for (key_interval* keys : {&range.partition, &range.row}) {
        if (keys->lower.end != key_bound::kind::open && url_size(keys->lower.key) > each) {
            keys->lower = key_bound::including(std::string{url_prefix(keys->lower.key, each)});
        }
        if (keys->upper.end != key_bound::kind::open && url_size(keys->upper.key) > each) {
            keys->upper = behind_prefix(std::string{url_prefix(keys->upper.key, each)}, false);
        }
    }
    return true;
}

} // namespace detail

ENTITABLE_LAZY_BODY result<query_plan> make_plan(
    predicate_nodes const& predicate, access_path access, key_layout partition, key_layout row, profile const& limits) {
    for (predicate_node const& node : predicate) {
        if (node.subject == predicate_subject::unplaced) {
            return failure{error_code::out_of_range_input,
                text::joined({"the key component \"", node.name,
                    "\" is compared with a value that cannot be written into a key, so the value has no position in "
                    "key order"})};
        }
    }
    std::size_t const max_bytes = limits.max_filter_size == 0 ? ~std::size_t{0} / 2 : limits.max_filter_size;
    detail::planned_part part = detail::plan_nodes(predicate, {partition, row},
        {max_condition_comparisons(limits), max_bytes / 2}); // the other half is for the keys
    if (part.too_many) {
        return failure{error_code::query_too_complex,
            text::joined({"the predicate needs more than ", std::to_string(max_key_ranges),
                " key ranges; split it into several queries"})};
    }
    query_plan plan;
    plan.access = access;
    bool exact = part.exact;
    bool const sorts_before = sorts_before_system_rows(row);
    detail::narrowed_component const* at = part.narrowed.data();
    detail::narrowed_component const* const end = at + part.narrowed.size();
    for (std::size_t index = 0; index < part.boxes; ++index) {
        detail::key_box box{at, at};
        while (box.last != end && box.last->box == index) { ++box.last; }
        at = box.last;
        key_range range{detail::keys_of(box, key_part::partition, partition, exact),
            detail::keys_of(box, key_part::row, row, exact)};
        bool const shortened = !range.is_empty() && detail::shorten(range, max_bytes - part.bytes);
        part.too_long = part.too_long || shortened;
        exact = exact && !shortened;
        bool const meets = detail::cut_system_rows(range.row, sorts_before);
        if (!range.is_empty()) {
            plan.meets_system_rows = plan.meets_system_rows || meets;
            plan.ranges.push_back(std::move(range));
        }
    }
    detail::make_disjoint(plan.ranges, exact);
    plan.server.nodes = std::move(part.server);
    plan.shortened_to = part.too_long ? limits.max_filter_size : 0;
    if (!exact) { plan.client = predicate; }
    return plan;
}

ENTITABLE_LAZY_BODY projection properties_read(query_plan const& plan, projection wanted) {
    bool const all = wanted.empty();
    for (predicate_node const& node : plan.client) {
        bool known = all || !is_comparison(node.operation) || node.subject != predicate_subject::property;
        for (std::size_t index = 0; index < wanted.size() && !known; ++index) { known = wanted[index] == node.name; }
        if (!known) { wanted.push_back(node.name); }
        if (all || node.former == nullptr || node.former->name.empty()) { continue; }
        known = false;
        for (std::size_t index = 0; index < wanted.size() && !known; ++index) {
            known = wanted[index] == node.former->name;
        }
        if (!known) { wanted.emplace_back(node.former->name); }
    }
    return wanted;
}

ENTITABLE_LAZY_BODY explanation explain(query_plan const& plan, projection wanted) {
    explanation out;
    out.access = plan.access;
    for (key_range const& range : plan.ranges) { out.key_ranges.push_back(range.to_string()); }
    out.server_filter = plan.server.to_string();
    out.client_filter = detail::render_postfix(
        plan.client.size(), [&](std::size_t index) { return plan.client[index].operation; },
        [&](std::size_t index) { return plan.client[index].to_string(); });
    for (predicate_node const& node : plan.client) { out.meets_former = out.meets_former || node.former != nullptr; }
    out.leaves_out_system_rows = plan.meets_system_rows;
    out.properties = properties_read(plan, std::move(wanted));
    out.requests = plan.ranges.size();
    out.never_continues = true;
    for (key_range const& range : plan.ranges) { out.never_continues = out.never_continues && range.is_point(); }
    out.shortened_to = plan.shortened_to;
    return out;
}

ENTITABLE_LAZY_BODY std::string explanation::to_string() const {
    std::string out = text::joined(
        {"access         ", entitable::to_string(access), (never_continues ? ", exactly " : ", begins with "),
            std::to_string(requests), (requests == 1 ? " request\n" : " requests\n")});
    constexpr std::size_t most = 5;
    for (std::size_t index = 0; index < key_ranges.size() && index < most; ++index) {
        out += (index == 0 ? "key range      " : "               ") + text::joined({key_ranges[index], "\n"});
    }
    if (key_ranges.size() > most) {
        out += text::joined({"               and ", std::to_string(key_ranges.size() - most), " more\n"});
    }
    out += text::joined({"server filter  ", (server_filter.empty() ? std::string{"none"} : server_filter), "\n"});
    out += text::joined({"client filter  ", (client_filter.empty() ? std::string{"none"} : client_filter), "\n"});
    out += meets_former
        ? "former names   checked by the client, until migrate(table) has marked the table as migrated\n"
        : "";
    out += leaves_out_system_rows ? "system rows    skipped by the client\n" : "";
    if (shortened_to != 0) {
        out += text::joined({"shortened      the client checks the part that does not fit into ",
            std::to_string(shortened_to), " bytes of a URL\n"});
    }
    for (std::string const& name : properties) {
        out += text::joined({&name == properties.data() ? "properties     " : ", ", name});
    }
    out += properties.empty() ? "" : "\n";
    if (!sorted_by.empty()) {
        out += text::joined({"sorted         in the client by ", sorted_by, ", at most ", std::to_string(sorted_rows),
            (sorted_rows == 1 ? " row in memory\n" : " rows in memory\n")});
    }
    return out;
}

namespace detail {

/// Whether a property satisfies a comparison, under its name or, if that is absent, under its former name. Clears `converted_all` if its
/// value cannot be converted.
ENTITABLE_LAZY bool satisfies_either(row_view const& row, predicate_node const& node, bool& converted_all) {
    auto stored = row.find(node.name);
    if (!stored && !node.former->name.empty()) { stored = row.find(node.former->name); }
    if (!stored) { return false; }
    value converted;
    value_view compared = *stored;
    if (node.former->converts(compared)) {
        if (!node.former->convert(*stored, converted)) {
            converted_all = false;
            return true;
        }
        compared = converted.view();
    }
    return compared.type() == node.operand.type() &&
        holds(node.operation, compare_values(compared, node.operand.view()));
}

} // namespace detail

ENTITABLE_LAZY_BODY bool satisfies(
    row_view const& row, predicate_nodes const& predicate, key_layout partition_layout, key_layout row_layout) {
    key_texts partition_texts;
    key_texts row_texts;
    bool const readable = split_key(row.partition_key, partition_layout, partition_texts) &&
        split_key(row.row_key, row_layout, row_texts);
    bool converted_all = true;
    bool const satisfied = detail::evaluate_postfix(predicate, [&](predicate_node const& node) {
        if (node.subject == predicate_subject::nothing) { return false; }
        if (node.former != nullptr) { return detail::satisfies_either(row, node, converted_all); }
        if (!node.on_key()) { return satisfies(row, node.operation, node.name, node.operand); }
        if (!readable) {
            return true; // decoding the row will report the invalid key
        }
        std::string_view const text = (node.part == key_part::partition ? partition_texts : row_texts)[node.index];
        std::string_view const wanted = node.operand.view().as_string();
        if (node.subject == predicate_subject::prefix) { return text.starts_with(wanted); }
        if (node.optional && (text == absent_key_text) != (wanted == absent_key_text)) {
            return node.operation == filter_operator::not_equal && wanted == absent_key_text;
        }
        return holds(node.operation, compare_values(value_view{text}, value_view{wanted}));
    });
    return satisfied || !converted_all; // reading the row reports a value that cannot be converted
}

ENTITABLE_END_NAMESPACE
