// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// expect: "is not an entity" ENTITABLE

#include "orders.hpp"
#include <entitable/messaging.hpp>

#if defined(BROKEN)
void use(entitable::any_store const& store) { entitable::table_queue<std::string> const jobs{store, "jobs"}; }
#else
void use(entitable::any_store const& store) { entitable::table_queue<order> const jobs{store, "jobs"}; }
#endif
