// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `any_transport`: any transport as one type, so that `table<E>` is one type whatever it runs on.

#include <entitable/core/shared.hpp>
#include <entitable/transport/many.hpp>
#include <entitable/transport/transport.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// The requests of which a caller may want to have many under way.
template <class T>
concept sent_in_numbers = std::same_as<T, get_entity> || std::same_as<T, query_entities> ||
    std::same_as<T, write_entity> || std::same_as<T, transact>;

/// The requests as virtual functions.
class transport_interface : public counted {
public:
    virtual ~transport_interface() = default;
    [[nodiscard]] virtual entitable::profile profile() const = 0;
    [[nodiscard]] virtual result<create_table::response> execute(create_table const&, call&) = 0;
    [[nodiscard]] virtual result<delete_table::response> execute(delete_table const&, call&) = 0;
    [[nodiscard]] virtual result<list_tables::response> execute(list_tables const&, call&) = 0;
    [[nodiscard]] virtual result<get_entity::response> execute(get_entity const&, call&) = 0;
    [[nodiscard]] virtual result<query_entities::response> execute(query_entities const&, call&) = 0;
    [[nodiscard]] virtual result<write_entity::response> execute(write_entity const&, call&) = 0;
    [[nodiscard]] virtual result<transact::response> execute(transact const&, call&) = 0;
    [[nodiscard]] virtual result<void> visit_entity(entity_address const&, call&, entity_visitor const&) = 0;
    virtual void execute_many(request_feed<get_entity>&, std::size_t in_flight, call&) = 0;
    virtual void execute_many(request_feed<query_entities>&, std::size_t in_flight, call&) = 0;
    virtual void execute_many(request_feed<write_entity>&, std::size_t in_flight, call&) = 0;
    virtual void execute_many(request_feed<transact>&, std::size_t in_flight, call&) = 0;
};

template <transport T>
class transport_model final : public transport_interface {
public:
    explicit transport_model(T const& wrapped) : wrapped_(wrapped) {}
    entitable::profile profile() const override { return wrapped_.profile(); }
    result<create_table::response> execute(create_table const& request, call& context) override {
        return entitable::execute(wrapped_, request, context);
    }
    result<delete_table::response> execute(delete_table const& request, call& context) override {
        return entitable::execute(wrapped_, request, context);
    }
    result<list_tables::response> execute(list_tables const& request, call& context) override {
        return entitable::execute(wrapped_, request, context);
    }
    result<get_entity::response> execute(get_entity const& request, call& context) override {
        return entitable::execute(wrapped_, request, context);
    }
    result<query_entities::response> execute(query_entities const& request, call& context) override {
        return entitable::execute(wrapped_, request, context);
    }
    result<write_entity::response> execute(write_entity const& request, call& context) override {
        return entitable::execute(wrapped_, request, context);
    }
    result<transact::response> execute(transact const& request, call& context) override {
        return entitable::execute(wrapped_, request, context);
    }
    result<void> visit_entity(entity_address const& address, call& context, entity_visitor const& visit) override {
        return entitable::visit_entity(wrapped_, address, context, visit);
    }
    void execute_many(request_feed<get_entity>& feed, std::size_t in_flight, call& context) override {
        entitable::execute_many(wrapped_, feed, in_flight, context);
    }
    void execute_many(request_feed<query_entities>& feed, std::size_t in_flight, call& context) override {
        entitable::execute_many(wrapped_, feed, in_flight, context);
    }
    void execute_many(request_feed<write_entity>& feed, std::size_t in_flight, call& context) override {
        entitable::execute_many(wrapped_, feed, in_flight, context);
    }
    void execute_many(request_feed<transact>& feed, std::size_t in_flight, call& context) override {
        entitable::execute_many(wrapped_, feed, in_flight, context);
    }

private:
    T wrapped_;
};

} // namespace detail

/// A transport whose type was forgotten. Holds a copy, which shares the state of the original; copies of
/// it are cheap. Thread safety: that of the transport, which is to be safe.
class any_transport {
public:
    using is_transport = void;             ///< opts in to `transport`
    using visits_entities = any_transport; ///< opts in to `visits_entities`

    /// Keeps a copy of any transport; copies of this share it.
    template <class T>
        requires(!std::same_as<T, any_transport> && transport<T>)
    any_transport(T const& wrapped) : interface_(new detail::transport_model<T>(wrapped)) {}

    /// Of the transport it holds.
    [[nodiscard]] entitable::profile profile() const { return interface_->profile(); }

    /// Passes a request on.
    template <table_request Request>
    [[nodiscard]] result<response_of<Request>> execute(Request const& request, call& context) const {
        return interface_->execute(request, context);
    }

    /// As the transport does it, or by `get_entity`.
    [[nodiscard]] result<void> visit_entity(
        entity_address const& address, call& context, entity_visitor const& visit) const {
        return interface_->visit_entity(address, context, visit);
    }

    /// As the transport does it; one after the other where it has no way of its own.
    template <detail::sent_in_numbers Request>
    void execute_many(request_feed<Request>& feed, std::size_t in_flight, call& context) const {
        interface_->execute_many(feed, in_flight, context);
    }

private:
    shared<detail::transport_interface> interface_;
};

ENTITABLE_END_NAMESPACE
