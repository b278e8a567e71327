// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `sample_table`: reads a table, or its beginning, into a sample for advice.

#include <entitable/advice/sample.hpp>
#include <entitable/client/table.hpp>

ENTITABLE_BEGIN_NAMESPACE

/// Options of a sample of a table.
struct sample_table_options {
    std::uint64_t rows{100000}; ///< maximum size of the sample; a larger table is sampled uniformly
    std::uint64_t seed{1};      ///< the same seed gives the same sample
    std::uint64_t
        read_at_most{};   ///< maximum number of rows to read, after which the sample is marked as incomplete; 0: all
    call_options calls{}; ///< options of each request
};

namespace detail {

/// Reads the rows of a table into a sample, page by page.
[[nodiscard]] result<table_sample> read_sample(
    any_store const& through, std::string table, sample_builder builder, sample_table_options const& options);

} // namespace detail

/// Reads the whole table once, in pages of 1,000 rows, and records the sizes of all partitions: a table service cannot return rows drawn at
/// random. Errors: those of the transport.
template <class Entity>
[[nodiscard]] result<table_sample> sample_table(table<Entity> const& from, sample_table_options const& options = {}) {
    using map = mapping<Entity>;
    return detail::read_sample(from.store(), from.name(),
        sample_builder{declaration_of<Entity>(), map::partition_layout, map::row_layout, {options.rows, options.seed}},
        options);
}

/// Does the same for a table whose rows have no type here: keys are used as they are.
[[nodiscard]] inline result<table_sample> sample_rows(
    any_store const& through, std::string table, sample_table_options const& options = {}) {
    return detail::read_sample(
        through, std::move(table), sample_builder{sample_options{options.rows, options.seed}}, options);
}
/// Does the same with a builder for the components of the keys; its own number of rows and seed are used.
[[nodiscard]] inline result<table_sample> sample_rows(
    any_store const& through, std::string table, sample_builder builder, sample_table_options const& options = {}) {
    return detail::read_sample(through, std::move(table), std::move(builder), options);
}

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/advice/measured/impl/sample_table.ipp>
#endif
