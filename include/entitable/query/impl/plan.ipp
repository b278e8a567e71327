// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/text.hpp>
#include <entitable/query/plan.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// What a box says of one component: an interval of its texts.
struct narrowed_component {
    key_part part{};
    std::uint8_t index{};
    key_interval texts;
};

/// A conjunction of intervals, at most one per component; without any it holds all keys.
struct key_box {
    std::vector<narrowed_component> components;

    [[nodiscard]] narrowed_component const* find(key_part part, std::size_t index) const noexcept {
        for (narrowed_component const& component : components) {
            if (component.part == part && component.index == index) {
                return &component;
            }
        }
        return nullptr;
    }
};

/// A part of a predicate on its way through the planner.
struct planned_part {
    std::vector<key_box> boxes;                   ///< no row outside of them satisfies the part
    std::vector<std::vector<filter_node>> server; ///< conditions that every row of the part satisfies
    bool on_keys{};
    bool on_properties{};
    bool exact{true}; ///< boxes and conditions together let nothing else through
    bool too_many{};
};

ENTITABLE_DECL key_interval interval_of(predicate_node const& node) {
    std::string const text{node.operand.view().as_string()};
    key_interval interval;
    if (node.optional && text != absent_key_text) {
        interval.upper = key_bound::excluding(std::string{absent_key_text}); // the absent ones stand behind all others
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

ENTITABLE_DECL planned_part plan_comparison(predicate_node const& node, bool negated) {
    planned_part part;
    part.boxes.emplace_back();
    if (node.on_key) {
        part.on_keys = true;
        if (negated || node.operation == filter_operator::not_equal) {
            part.exact = false; // all keys but some: no interval says that
        } else {
            part.boxes.front().components.push_back({node.part, node.index, interval_of(node)});
        }
        return part;
    }
    part.on_properties = true;
    part.server.push_back({filter_node{node.operation, node.name, node.operand}});
    if (negated) {
        part.server.back().push_back(filter_node{filter_operator::negation, {}, {}});
    }
    return part;
}

/// The keys in both boxes; false when there are none.
ENTITABLE_DECL bool intersect(key_box& box, key_box const& other) {
    for (narrowed_component const& component : other.components) {
        bool known = false;
        for (narrowed_component& ours : box.components) {
            if (ours.part == component.part && ours.index == component.index) {
                ours.texts = intersection(ours.texts, component.texts);
                known = true;
                if (ours.texts.is_empty()) {
                    return false;
                }
            }
        }
        if (!known) {
            box.components.push_back(component);
        }
    }
    return true;
}

ENTITABLE_DECL planned_part plan_all_of(planned_part left, planned_part right) {
    planned_part both;
    both.on_keys = left.on_keys || right.on_keys;
    both.on_properties = left.on_properties || right.on_properties;
    both.exact = left.exact && right.exact;
    both.too_many = left.too_many || right.too_many || left.boxes.size() * right.boxes.size() > max_key_ranges;
    if (!both.too_many) {
        for (key_box const& ours : left.boxes) {
            for (key_box const& theirs : right.boxes) {
                key_box met = ours;
                if (intersect(met, theirs)) {
                    both.boxes.push_back(std::move(met));
                }
            }
        }
    }
    both.server = std::move(left.server);
    for (auto& condition : right.server) {
        both.server.push_back(std::move(condition));
    }
    return both;
}

/// The conditions as one: c1 && c2 && ...
ENTITABLE_DECL std::vector<filter_node> conjunction(std::vector<std::vector<filter_node>> const& conditions) {
    std::vector<filter_node> all;
    for (std::size_t index = 0; index < conditions.size(); ++index) {
        all.insert(all.end(), conditions[index].begin(), conditions[index].end());
        if (index > 0) {
            all.push_back(filter_node{filter_operator::all_of, {}, {}});
        }
    }
    return all;
}

ENTITABLE_DECL planned_part plan_any_of(planned_part left, planned_part right) {
    planned_part either;
    either.on_keys = left.on_keys || right.on_keys;
    either.on_properties = left.on_properties || right.on_properties;
    // Ranges and filter are one conjunction for all boxes: alternatives that mix keys and properties do not fit into it.
    either.exact = left.exact && right.exact && !(either.on_keys && either.on_properties);
    if (!left.server.empty() && !right.server.empty()) {
        auto condition = conjunction(left.server);
        auto const other = conjunction(right.server);
        condition.insert(condition.end(), other.begin(), other.end());
        condition.push_back(filter_node{filter_operator::any_of, {}, {}});
        either.server.push_back(std::move(condition));
    }
    either.too_many = left.too_many || right.too_many;
    bool everything = false;
    for (planned_part* part : {&left, &right}) {
        for (key_box& box : part->boxes) {
            everything = everything || box.components.empty();
            either.boxes.push_back(std::move(box));
        }
    }
    if (everything) {
        either.boxes.assign(1, key_box{});
    }
    either.too_many = either.too_many || either.boxes.size() > max_key_ranges;
    return either;
}

ENTITABLE_DECL planned_part plan_nodes(predicate_nodes const& nodes) {
    std::vector<planned_part> stack;
    for (std::size_t index = 0; index < nodes.size(); ++index) {
        predicate_node const& node = nodes[index];
        if (is_comparison(node.operation)) {
            bool const negated = index + 1 < nodes.size() && nodes[index + 1].operation == filter_operator::negation;
            stack.push_back(plan_comparison(node, negated));
            index += negated ? 1U : 0U;
            continue;
        }
        planned_part right = std::move(stack.back());
        stack.pop_back();
        planned_part left = std::move(stack.back());
        stack.back() = node.operation == filter_operator::all_of ? plan_all_of(std::move(left), std::move(right))
                                                                 : plan_any_of(std::move(left), std::move(right));
    }
    if (stack.empty()) {
        planned_part everything;
        everything.boxes.emplace_back();
        return everything;
    }
    return std::move(stack.back());
}

ENTITABLE_DECL key_bound behind_prefix(std::string const& prefix, bool as_lower) {
    auto successor = text::successor_of_prefix(prefix);
    if (!successor) {
        return {};
    }
    return as_lower ? key_bound::including(*std::move(successor)) : key_bound::excluding(*std::move(successor));
}

/// The keys whose components lie in the box; `exact` is cleared when the interval lets others through.
ENTITABLE_DECL key_interval keys_of(key_box const& box, key_part part, key_layout layout, bool& exact) {
    std::string prefix;
    for (std::size_t index = 0; index < layout.size(); ++index) {
        bool const last = index + 1 == layout.size();
        if (layout[index].literal) {
            prefix += layout[index].name;
            continue;
        }
        narrowed_component const* const found = box.find(part, index);
        if (found != nullptr && found->texts.is_point()) {
            prefix += found->texts.lower.key;
            prefix += last ? std::string_view{} : key_separator;
            continue;
        }
        // From here on the interval ends: what later components say is not in it.
        for (std::size_t later = index + 1; later < layout.size(); ++later) {
            exact = exact && box.find(part, later) == nullptr;
        }
        key_interval keys;
        if (!prefix.empty()) {
            keys = {key_bound::including(prefix), behind_prefix(prefix, false)};
        }
        if (found == nullptr) {
            return keys;
        }
        key_bound const& lower = found->texts.lower;
        key_bound const& upper = found->texts.upper;
        if (lower.end != key_bound::kind::open) {
            bool const over_all = lower.end == key_bound::kind::exclusive && !last;
            keys.lower = over_all ? behind_prefix(prefix + lower.key + std::string{key_separator}, true)
                                  : key_bound{lower.end, prefix + lower.key};
        }
        if (upper.end != key_bound::kind::open) {
            bool const with_all = upper.end == key_bound::kind::inclusive && !last;
            keys.upper = with_all ? behind_prefix(prefix + upper.key + std::string{key_separator}, false)
                                  : key_bound{upper.end, prefix + upper.key};
        }
        return keys;
    }
    return key_interval::only(prefix);
}

ENTITABLE_DECL key_interval hull(key_interval const& left, key_interval const& right) {
    return {compare_lower(left.lower, right.lower) <= 0 ? left.lower : right.lower,
        compare_upper(left.upper, right.upper) >= 0 ? left.upper : right.upper};
}

[[nodiscard]] ENTITABLE_DECL bool stands_before(key_range const& left, key_range const& right) noexcept {
    int order = compare_lower(left.partition.lower, right.partition.lower);
    order = order != 0 ? order : compare_upper(left.partition.upper, right.partition.upper);
    order = order != 0 ? order : compare_lower(left.row.lower, right.row.lower);
    return order < 0;
}

/// Sorts by merging: a plan has few ranges, and `<algorithm>` would cost every includer more than this.
ENTITABLE_DECL void sort_ranges(std::vector<key_range>& ranges) {
    std::vector<key_range> sorted(ranges.size());
    for (std::size_t width = 1; width < ranges.size(); width *= 2) {
        for (std::size_t start = 0; start < ranges.size(); start += 2 * width) {
            std::size_t const middle = start + width < ranges.size() ? start + width : ranges.size();
            std::size_t const end = middle + width < ranges.size() ? middle + width : ranges.size();
            std::size_t left = start;
            std::size_t right = middle;
            for (std::size_t at = start; at < end; ++at) {
                bool const from_right = left == middle || (right < end && stands_before(ranges[right], ranges[left]));
                sorted[at] = std::move(ranges[from_right ? right++ : left++]);
            }
        }
        ranges.swap(sorted);
    }
}

/// Makes sorted ranges disjoint. Within one partition this is exact; ranges over several partitions that overlap become
/// the one that holds both, and `exact` is cleared.
ENTITABLE_DECL std::vector<key_range> disjoint(std::vector<key_range> ranges, bool& exact) {
    std::vector<key_range> out;
    for (key_range& range : ranges) {
        if (out.empty() || intersection(out.back().partition, range.partition).is_empty()) {
            out.push_back(std::move(range));
            continue;
        }
        key_range& before = out.back();
        bool const one_partition = before.partition.is_point() && before.partition == range.partition;
        if (one_partition && intersection(before.row, range.row).is_empty()) {
            out.push_back(std::move(range));
            continue;
        }
        if (before == range) {
            continue;
        }
        exact = exact && one_partition;
        before = {hull(before.partition, range.partition), hull(before.row, range.row)};
    }
    return out;
}

} // namespace detail

ENTITABLE_DECL result<query_plan> make_plan(
    predicate_nodes const& predicate, access_path access, key_layout partition, key_layout row, profile const& limits) {
    detail::planned_part part = detail::plan_nodes(predicate);
    if (part.too_many) {
        return failure{error_code::query_too_complex,
            "the predicate needs more than " + std::to_string(max_key_ranges) + " key ranges; ask in several queries"};
    }
    query_plan plan;
    plan.access = access;
    bool exact = part.exact;
    std::size_t comparisons = 0;
    for (detail::key_box const& box : part.boxes) {
        key_range range{detail::keys_of(box, key_part::partition, partition, exact),
            detail::keys_of(box, key_part::row, row, exact)};
        if (!range.is_empty()) {
            comparisons = comparisons > range.comparisons() ? comparisons : range.comparisons();
            plan.ranges.push_back(std::move(range));
        }
    }
    detail::sort_ranges(plan.ranges);
    plan.ranges = detail::disjoint(std::move(plan.ranges), exact);

    // As many conditions as the service takes; the client checks the rest.
    std::vector<std::vector<filter_node>> taken;
    for (auto& condition : part.server) {
        std::size_t count = 0;
        for (filter_node const& node : condition) {
            count += is_comparison(node.operation) ? 1U : 0U;
        }
        if (limits.max_comparisons != 0 && comparisons + count > limits.max_comparisons) {
            exact = false;
            continue;
        }
        comparisons += count;
        taken.push_back(std::move(condition));
    }
    plan.server.nodes = detail::conjunction(taken);
    if (!exact) {
        plan.client = predicate;
    }
    return plan;
}

ENTITABLE_DECL explanation explain(query_plan const& plan) {
    explanation out;
    out.access = plan.access;
    for (key_range const& range : plan.ranges) {
        out.key_ranges.push_back(range.to_string());
    }
    out.server_filter = plan.server.to_string();
    out.client_filter = detail::render_postfix(plan.client, [](predicate_node const& node) {
        return node.name + " " + std::string{to_string(node.operation)} + " " + node.operand.to_string();
    });
    out.requests = plan.ranges.size();
    return out;
}

ENTITABLE_DECL std::string explanation::to_string() const {
    std::string out = "access         " + std::string{entitable::to_string(access)} + ", begins with " +
        std::to_string(requests) + (requests == 1 ? " request\n" : " requests\n");
    std::size_t shown = 0;
    for (std::string const& range : key_ranges) {
        if (++shown > 5) {
            out += "               and " + std::to_string(key_ranges.size() - 5) + " more\n";
            break;
        }
        out += (shown == 1 ? "key range      " : "               ") + range + "\n";
    }
    out += "server filter  " + (server_filter.empty() ? std::string{"none"} : server_filter) + "\n";
    out += "client filter  " + (client_filter.empty() ? std::string{"none"} : client_filter) + "\n";
    return out;
}

ENTITABLE_DECL bool satisfies(
    row_view const& row, predicate_nodes const& predicate, key_layout partition_layout, key_layout row_layout) {
    key_texts partition_texts;
    key_texts row_texts;
    bool const readable = split_key(row.partition_key, partition_layout, partition_texts) &&
        split_key(row.row_key, row_layout, row_texts);
    return detail::evaluate_postfix(predicate, [&](predicate_node const& node) {
        if (!node.on_key) {
            return satisfies(row, node.operation, node.name, node.operand);
        }
        if (!readable) {
            return true; // decoding the row will name the key that is not ours
        }
        std::string_view const text = (node.part == key_part::partition ? partition_texts : row_texts)[node.index];
        std::string_view const wanted = node.operand.view().as_string();
        if (node.optional && (text == absent_key_text) != (wanted == absent_key_text)) {
            return node.operation == filter_operator::not_equal && wanted == absent_key_text;
        }
        return holds(node.operation, compare_values(value_view{text}, value_view{wanted}));
    });
}

ENTITABLE_END_NAMESPACE
