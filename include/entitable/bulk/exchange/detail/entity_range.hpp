// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Ranges of entities, or of results of entities, as text: the loop of a writer, and the iterator of a reader.

#include <entitable/bulk/exchange/detail/text_source.hpp>
#include <entitable/client/mapping/mapping.hpp>
#include <entitable/core/iterator.hpp>
#include <entitable/core/result.hpp>
#include <entitable/core/try.hpp>

#include <concepts>
#include <cstddef>
#include <ranges>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

template <class T>
struct exchanged_element {
    using type = T;
};
template <class T>
struct exchanged_element<result<T>> {
    using type = T;
};
/// Entity type of a range of entities, or of results of entities.
template <class Range>
using exchanged_entity = typename exchanged_element<std::remove_cvref_t<std::ranges::range_reference_t<Range>>>::type;

template <class Range>
concept range_of_entities = std::ranges::input_range<Range> && mapped_entity<exchanged_entity<Range>>;

/// Calls `write(entity)` for each entity, up to the first error.
template <class Range, class Write>
[[nodiscard]] result<void> write_each(Range&& rows, Write const& write) {
    using entity = exchanged_entity<Range>;
    auto const all = [&]() -> result<void> {
        for (auto&& element : rows) {
            if constexpr (std::same_as<std::remove_cvref_t<decltype(element)>, result<entity>>) {
                if (!element) { return failure{error{element.error()}}; }
                ENTITABLE_CHECK(write(*element));
            } else {
                ENTITABLE_CHECK(write(element));
            }
        }
        return {};
    };
#if ENTITABLE_HAS_EXCEPTIONS
    try {
        return all();
    } catch (error const& problem) { // a range of this library reports its failure this way
        return failure{error{problem}};
    }
#else
    return all();
#endif
}

/// Reads the next entity, or the error of a record, into `current`; false at the end. A reader without an intake was moved from.
template <class Intake, class Entity>
[[nodiscard]] bool read_next_entity(Intake* from, result<Entity>& current, bool& was_refused, std::string_view reader) {
    if (from == nullptr) {
        if (std::exchange(was_refused, true)) { return false; }
        current = moved_from(reader);
        return true;
    }
    result<Entity> made{std::in_place};
    result<void> why;
    switch (from->next(&*made, why)) {
        case intake::entity: current = std::move(made); return true;
        case intake::refused: current = std::move(why).as_failure(); return true;
        case intake::end: break;
    }
    return false;
}

/// The iterator of a reader: single pass. `Reader` has `value_type`, `read_next()` and `current()`.
template <class Reader>
class reader_iterator {
public:
    using value_type = typename Reader::value_type;   ///< what the reader yields
    using difference_type = std::ptrdiff_t;           ///< required by the concept
    using iterator_concept = std::input_iterator_tag; ///< single pass

    reader_iterator() = default;
    explicit reader_iterator(Reader& from) : from_(from.read_next() ? &from : nullptr) {}

    [[nodiscard]] value_type& operator*() const noexcept { return from_->current(); }
    [[nodiscard]] value_type* operator->() const noexcept { return &from_->current(); }
    reader_iterator& operator++() {
        if (!from_->read_next()) { from_ = nullptr; }
        return *this;
    }
    void operator++(int) { ++*this; }
    [[nodiscard]] friend bool operator==(reader_iterator const& left, std::default_sentinel_t) noexcept {
        return left.from_ == nullptr;
    }

private:
    Reader* from_{};
};

} // namespace detail
ENTITABLE_END_NAMESPACE
