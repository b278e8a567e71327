// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The place of an `asio_table`: names the table on any thread, and opens it on the strand.

#include <entitable/async/asio/asio_loop.hpp>
#include <entitable/async/async_table.hpp>

#include <memory>
#include <string>
#include <utility>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// `in` is used on the strand; everything else may be used on any thread.
class asio_place {
public:
    asio_place(asio_loop const& loop, any_store through, std::string table, call_options how)
        : in_(loop.state()), store(std::move(through)), name(std::move(table)), options(std::move(how)) {}

    [[nodiscard]] boost::asio::any_io_executor on() const { return in_.executor(); }
    /// Returns the table in its loop.
    [[nodiscard]] shared<async_place> const& in(asio_state& loop) {
        if (!at_) { at_ = shared<async_place>::make(loop.loop().core(), store, name, options); }
        return at_;
    }
    /// Starts a call: `make(place)` returns its awaitable, on the strand.
    template <class Make, class... Rest>
    static auto begin(std::shared_ptr<asio_place> const& at, Make make, Rest&&... diagnostics_and_token) {
        return begin_coded_call(
            at->in_, made_in_place<Make>{at, std::move(make)}, std::forward<Rest>(diagnostics_and_token)...);
    }

private:
    template <class Make>
    struct made_in_place {
        std::shared_ptr<asio_place> at;
        Make make;

        decltype(auto) operator()(asio_state& loop) { return make(at->in(loop)); }
    };

    asio_loop_name in_;
    shared<async_place> at_;

public:
    any_store const store;
    std::string const name;
    call_options const options;
};

/// The calls by key strings, which the public tables do not have.
template <class Entity>
class calls_by_key : public async_table<Entity> {
public:
    explicit calls_by_key(shared<async_place> at) : async_table<Entity>(std::move(at)) {}

    using async_table<Entity>::read_keys;
    using async_table<Entity>::change_entity;
    using async_table<Entity>::transact_on_own_stack;
    using async_table<Entity>::remove_keys;
};

} // namespace detail
ENTITABLE_END_NAMESPACE
