// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `maintained_rows`: the writer of a table that maintains index rows and sums.

#if !defined(ENTITABLE_IMPORTED)
#include <entitable/client/companion_writer.hpp>
#include <entitable/client/companions/index/detail/index_run.hpp>
#include <entitable/client/detail/update_operation.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Writes entities with their index rows and sums.
class maintained_rows final : public companion_writer {
public:
    explicit maintained_rows(shared<index_family> family) : family_(std::move(family)) {}

    [[nodiscard]] result<transact::response> write(
        transact const& changes, std::span<std::size_t const> removing) const override;
    [[nodiscard]] result<written> write_one(mutation&& change) const override;
    [[nodiscard]] result<transacted> run(result<std::string> partition_key, transaction_options const& options,
        function_ref<result<void>(transaction_scope&)> body) const override;
    [[nodiscard]] result<update_outcome> update(std::string const& partition_key, std::string const& row_key,
        row_change change, update_options const& options) const override;
    [[nodiscard]] result<void> check_ready(std::size_t companion, call& context) const override {
        return family_->check_ready(companion, context);
    }
    [[nodiscard]] bool is_logged() const noexcept override { return static_cast<bool>(family_->log); }
    [[nodiscard]] result<logged_changes> changes(
        std::string_view partition_key, log_position const& after) const override;
    [[nodiscard]] maintained_row kind_of(
        std::string_view partition_key, std::string_view row_key) const noexcept override;
    [[nodiscard]] profile limits() const override;
    [[nodiscard]] shared<companion_writer> through(any_store store, call_options options) const override;
    [[nodiscard]] result<transact::response> write_known(
        transact const& changes, function_ref<std::optional<row_view>(std::string_view row_key)> known) const override;

private:
    [[nodiscard]] bool has_no_companions(mutation const& change) const noexcept;
    /// Whether the change log is all that is maintained for these changes.
    [[nodiscard]] bool are_only_logged(std::span<mutation const> changes) const noexcept;
    /// Writes one entity for which nothing is maintained, under the lease of the declaration.
    [[nodiscard]] result<written> write_alone(mutation&& change) const;
    /// Position of the entity whose row in a unique index has these keys.
    [[nodiscard]] std::optional<std::size_t> position_of_taken(transact const& changes, std::string_view keys) const;

    shared<index_family> family_;
};

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/client/companions/index/impl/maintained_rows.ipp>
#include <entitable/client/companions/index/impl/maintained_rows_as_stored.ipp>
#endif

#endif
