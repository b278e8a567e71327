// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `query_pages<Row>`: the result of a query page by page, each with a token to resume after it, even in another process.

#if !defined(ENTITABLE_IMPORTED)
#include <entitable/client/detail/folds.hpp>
#include <entitable/client/row_walk.hpp>

#include <vector>

ENTITABLE_BEGIN_NAMESPACE

/// One or more rows of a query's result.
template <class Row>
struct page_of {
    std::vector<Row> items; ///< items in key order
    /// Token to continue after this page with `query.resume(token)`; nullopt if there are no more rows. Printable text. A service may
    /// return a token with the last page too: the rest is then empty.
    std::optional<std::string> token;
    bool stale{};            ///< set if read from a secondary location, so possibly not the latest
    double request_charge{}; ///< request units of this page and of empty pages before it, if the service reports them

    [[nodiscard]] auto begin() const noexcept { return items.begin(); }      ///< the first row
    [[nodiscard]] auto end() const noexcept { return items.end(); }          ///< end of the last row
    [[nodiscard]] std::size_t size() const noexcept { return items.size(); } ///< number of rows
    /// Returns a row; ends the program if there is none at `index`, by `ENTITABLE_ASSERT`.
    [[nodiscard]] Row const& operator[](std::size_t index) const {
        ENTITABLE_ASSERT(index < items.size(), "a page has no row at this index", detail::misuse("check size() first"));
        return items[index];
    }
};

namespace detail {

/// Returns the page that the walk has read; nullopt at the end. A row that cannot be read is an error each time, and is never skipped.
template <class Entity, class Row>
[[nodiscard]] result<std::optional<page_of<Row>>> page_from(row_walk& walk, result<bool> more) {
    if (!more) { return std::move(more).as_failure(); }
    result<std::optional<page_of<Row>>> read{std::in_place};
    if (!*more) { return read; }
    walk.keep_page(true); // user code may throw, and the next page is then this page again
    page_of<Row>& made = read->emplace();
    made.items.resize(walk.size());
    for (std::size_t index = 0; index < made.items.size(); ++index) {
        if (auto decoded = (read_row<Entity, Row>)(walk.rows()[index], &made.items[index], walk.mode()); !decoded) {
            walk.end_with(decoded.error());
            return std::move(decoded).as_failure();
        }
    }
    made.token = walk.token();
    made.stale = walk.cost().stale != walk.cost_before().stale;
    made.request_charge = walk.cost().request_charge - walk.cost_before().request_charge;
    walk.keep_page(false);
    return read;
}

} // namespace detail

/// Reads a query page by page. InvalidInput after a move. Thread safety: one thread at a time.
template <class Entity, class Row>
class query_pages {
public:
    explicit query_pages(result<shared<detail::row_walk>> walk) : walk_(std::move(walk)) {} ///< made by `query::pages`

    /// Returns the next page with rows; nullopt at the end. After an error each further call returns that error: to continue, resume the
    /// query with the token of the last page.
    [[nodiscard]] result<std::optional<page_of<Row>>> next() {
        if (!walk_) { return failure{walk_.error()}; }
        if (!*walk_) { return detail::moved_from("sequence of pages"); }
        return detail::page_from<Entity, Row>(**walk_, (*walk_)->next_page());
    }

private:
    result<shared<detail::row_walk>> walk_;
};

ENTITABLE_END_NAMESPACE

#endif
