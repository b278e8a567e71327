// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// A workload in a JSON file, for programs that give advice on a table whose entities they do not know:
///
///     {"queries": [{"name": "of a year", "where": [["year", "==", 1999]],
///                   "per_second": 900, "latency_ms": 20, "priority": 2}],
///      "writes":  [{"name": "import", "per_second": 300, "per_transaction": 1},
///                  {"name": "transfer", "per_second": 10, "together": ["tx"]}]}

#include "json.hpp"
#include <entitable/advice.hpp>
#include <entitable/core/try.hpp>

#include <chrono>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace examples {

/// The rules of such a file, for helps.
constexpr char const* workload_help =
    R"(All conditions of a query must hold; the operators are ==, !=, <, <=, >, >= and starts_with. In a query of
equalities alone, a value stands for every existing value, each as often as entities have it ("values":
"as_stored"); a query with other conditions is taken as written ("given"). With "each_alike" all values are
queried equally often. A query without conditions reads the whole table. Writes that are "together" are one
transaction for all entities with the same values of these members.
)";

/// Keys of members whose names are only known at run time. Must outlive its builder.
struct named_keys {
    std::vector<entitable::key_component> partition, row;
    entitable::key_declaration declared;

    named_keys(std::string const& entity, std::vector<std::string> const& of_partition,
        std::vector<std::string> const& of_row, auto is_number) {
        declared.entity = entity;
        auto const describe = [&](std::vector<std::string> const& names, auto& layout, auto& components) {
            for (std::string const& each : names) {
                entitable::key_component component;
                component.name = each;
                component.optional = true;
                layout.push_back(component);
                entitable::declared_component made;
                made.member = each;
                made.text = !is_number(each);
                made.ordered = !made.text || &each == &names.back();
                components.push_back(made);
            }
        };
        describe(of_partition, partition, declared.partition);
        describe(of_row, row, declared.row);
    }
};

/// Reads workloads of one sample.
class workload_reader {
public:
    explicit workload_reader(entitable::table_sample const& sample) : sample_(&sample) {}

    /// Errors: InvalidInput with what is wrong.
    [[nodiscard]] entitable::result<entitable::workload> read(std::string_view text) const {
        json_reader reader;
        auto const read = reader.read(text);
        if (!read) { return refused("line " + std::to_string(reader.line()) + ": this is no JSON"); }
        entitable::workload load;
        if (json_value const* const queries = read->find("queries")) {
            for (json_member const& each : queries->members) {
                ENTITABLE_TRY(auto query, query_of(each.value));
                load.add(std::move(query));
            }
        }
        if (json_value const* const writes = read->find("writes")) {
            for (json_member const& each : writes->members) { ENTITABLE_CHECK(add_writes(load, each.value)); }
        }
        return load;
    }

private:
    [[nodiscard]] static entitable::failure refused(std::string why) {
        return entitable::failure{entitable::error_code::invalid_input, std::move(why)};
    }
    [[nodiscard]] static std::string text_of(json_value const& of, char const* name) {
        json_value const* const found = of.find(name);
        return found == nullptr ? std::string{} : found->text;
    }
    [[nodiscard]] static entitable::result<double> number_of(json_value const& of, char const* name, double otherwise) {
        constexpr double most = 1e9;
        json_value const* const found = of.find(name);
        if (found == nullptr) { return otherwise; }
        if (found->is != json_value::kind::number || !(found->number >= 0 && found->number <= most)) {
            std::string why = "'";
            why.append(text_of(of, "name")).append("': ").append(name);
            return refused(why.append(" must be a number from 0 to 1,000,000,000"));
        }
        return found->number;
    }

    /// In the form that the member has in the sample: numbers in keys are text.
    [[nodiscard]] entitable::result<entitable::value> operand_for(
        std::string const& member, json_value const& given) const {
        if (given.is == json_value::kind::text) { return entitable::value{entitable::value_view{given.text}}; }
        if (given.is == json_value::kind::boolean) {
            return entitable::value{entitable::value_view{given.number != 0}};
        }
        if (given.is != json_value::kind::number) {
            return refused("the value of a condition on " + member + " is not a text, a number, true or false");
        }
        entitable::sample_column const* const column = sample_->find(member);
        if (column == nullptr || column->values.size() == 0) {
            return entitable::value{entitable::value_view{given.number}};
        }
        entitable::value_view const one = column->value(0);
        if (one.type() == entitable::edm_type::int32) {
            ENTITABLE_TRY(auto const whole, (whole_number<std::int32_t>(member, given.number)));
            return entitable::value{entitable::value_view{whole}};
        }
        if (one.type() == entitable::edm_type::int64) {
            ENTITABLE_TRY(auto const whole, (whole_number<std::int64_t>(member, given.number)));
            return entitable::value{entitable::value_view{whole}};
        }
        if (one.type() != entitable::edm_type::string) { return entitable::value{entitable::value_view{given.number}}; }
        std::string text;
        std::size_t const digits = one.as_string().size();
        if (digits >= 19) {
            ENTITABLE_TRY(auto const whole, (whole_number<std::int64_t>(member, given.number)));
            entitable::key_codec<std::int64_t>::append(text, whole);
        } else if (digits >= 10) {
            ENTITABLE_TRY(auto const whole, (whole_number<std::int32_t>(member, given.number)));
            entitable::key_codec<std::int32_t>::append(text, whole);
        } else {
            ENTITABLE_TRY(auto const whole, (whole_number<std::int64_t>(member, given.number)));
            text = std::to_string(whole);
            text.insert(0, digits > text.size() ? digits - text.size() : 0, '0');
        }
        return entitable::value{entitable::value_view{text}};
    }
    template <class Whole>
    [[nodiscard]] static entitable::result<Whole> whole_number(std::string const& member, double number) {
        constexpr double bound = sizeof(Whole) == 4 ? 2147483648.0 : 9223372036854775808.0;
        if (!(number >= -bound && number < bound) || number != std::floor(number)) {
            return refused("the value of a condition on " + member + " must be an integer of " +
                std::to_string(8 * sizeof(Whole)) + " bits");
        }
        return static_cast<Whole>(number);
    }

    [[nodiscard]] entitable::result<void> add_condition(entitable::asked_query& to, json_value const& condition) const {
        using entitable::filter_operator;
        constexpr std::pair<char const*, filter_operator> operators[] = {{"==", filter_operator::equal},
            {"!=", filter_operator::not_equal}, {"<", filter_operator::less}, {"<=", filter_operator::less_equal},
            {">", filter_operator::greater}, {">=", filter_operator::greater_equal},
            {"starts_with", filter_operator::equal}};
        auto const& parts = condition.members;
        filter_operator const* operation = nullptr;
        for (auto const& [words, meaning] : operators) {
            operation = parts.size() == 3 && parts[1].value.text == words ? &meaning : operation;
        }
        if (operation == nullptr) {
            return refused("a condition of '" + to.name + "' is not [\"member\", \"==\", value]");
        }
        std::string const member = parts[0].value.text;
        if (sample_->find(member) == nullptr) {
            std::string why = "'";
            return refused(why.append(to.name).append("' asks for ").append(member).append(", which no entity has"));
        }
        bool const prefix = parts[1].value.text == "starts_with";
        ENTITABLE_TRY(auto operand, operand_for(member, parts[2].value));
        to.nodes.push_back(
            {*operation, prefix ? entitable::asked_node::test::prefix : entitable::asked_node::test::value, member,
                std::move(operand)});
        if (to.nodes.size() > 1) { to.nodes.push_back({filter_operator::all_of, {}, {}, {}}); }
        return {};
    }

    [[nodiscard]] entitable::result<entitable::asked_query> query_of(json_value const& given) const {
        entitable::asked_query made;
        made.name = text_of(given, "name");
        made.scan_allowed = true;
        if (json_value const* const where = given.find("where")) {
            for (json_member const& each : where->members) { ENTITABLE_CHECK(add_condition(made, each.value)); }
        }
        ENTITABLE_TRY(made.rate.per_second, number_of(given, "per_second", 1));
        ENTITABLE_TRY(made.rate.priority, number_of(given, "priority", 1));
        ENTITABLE_TRY(made.rate.zipf, number_of(given, "zipf", 0));
        ENTITABLE_TRY(double const latency, number_of(given, "latency_ms", 0));
        made.rate.latency = std::chrono::nanoseconds{static_cast<std::int64_t>(latency * 1e6)};
        std::string const values = text_of(given, "values");
        made.rate.values = values == "given" ? entitable::asked_values::given
            : values == "each_alike"         ? entitable::asked_values::each_alike
            : values == "as_stored"          ? entitable::asked_values::as_stored
                                             : entitable::asked_values::automatic;
        return made;
    }

    [[nodiscard]] static entitable::result<void> add_writes(entitable::workload& load, json_value const& given) {
        std::vector<std::string> together;
        if (json_value const* const shared = given.find("together")) {
            for (json_member const& member : shared->members) { together.push_back(member.value.text); }
        }
        ENTITABLE_TRY(double const rate, number_of(given, "per_second", 1));
        ENTITABLE_TRY(double const per_transaction, number_of(given, "per_transaction", 1));
        ENTITABLE_TRY(double const priority, number_of(given, "priority", 1));
        load.writes(text_of(given, "name"),
            {rate, per_transaction, priority, entitable::shared_members::named(std::move(together))});
        return {};
    }

    entitable::table_sample const* sample_;
};

} // namespace examples
