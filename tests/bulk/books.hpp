// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The entity of the tests of bulk loads.

#include <entitable/bulk.hpp>
#include <entitable/entitable.hpp>

#include <iterator>
#include <type_traits>
#include <vector>

namespace bulk_test {

struct book {
    std::int32_t year{};
    std::int32_t id{};
    std::string title;
    std::optional<double> rating;
};
ENTITABLE(book, partition_key(year), row_key(id), properties(title, rating))

inline std::vector<book> some_books(std::int32_t count, std::int32_t years = 7) {
    std::vector<book> made;
    for (std::int32_t id = 0; id < count; ++id) {
        made.push_back({2000 + id % years, id, "book " + std::to_string(id), {}});
    }
    return made;
}

/// The results of `make` for 0, 1, 2 ...: an input range that is generated while it is read. Clang 14 has no views.
template <class Make>
struct numbered {
    struct iterator {
        using iterator_concept = std::input_iterator_tag;
        using value_type = std::invoke_result_t<Make const&, std::int32_t>;
        using difference_type = std::ptrdiff_t;

        value_type operator*() const { return of->make(at); }
        iterator& operator++() {
            ++at;
            return *this;
        }
        void operator++(int) { ++at; }
        friend bool operator==(iterator const& left, std::default_sentinel_t) { return left.at == left.of->count; }

        numbered const* of;
        std::int32_t at;
    };
    [[nodiscard]] iterator begin() const { return {this, 0}; }
    [[nodiscard]] std::default_sentinel_t end() const { return {}; }

    std::int32_t count;
    Make make;
};
template <class Make>
numbered(std::int32_t, Make) -> numbered<Make>;

/// A text that is too large for a transaction: more than 64 KiB.
inline std::string too_long() { return std::string(40'000, 'x'); }

} // namespace bulk_test
