// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The defects that the conformance suite has to find, each with the behaviour that finds it. Authors of real backends make them:
/// over SQL, over a map of bytes, over a wire. `spoiled_backend` has a switch for each.

#include <cstddef>
#include <string_view>

namespace entitable_test {

// DEFECT(name, behaviour)
#define ENTITABLE_TEST_DEFECTS(DEFECT)                                                                      \
    /* tables */                                                                                            \
    DEFECT(table_is_created_twice, "a table is created and deleted")                                        \
    DEFECT(deletion_of_no_table_succeeds, "a table is created and deleted")                                 \
    DEFECT(dropped_table_keeps_its_rows, "a table is created and deleted")                                  \
    DEFECT(table_conflict_is_an_entity_conflict, "a table is created and deleted")                          \
    DEFECT(write_makes_the_table, "a missing table is reported")                                            \
    DEFECT(missing_table_is_an_empty_one, "a missing table is reported")                                    \
    DEFECT(missing_table_is_a_missing_entity, "a missing table is reported")                                \
    DEFECT(profile_lies_about_case_of_tables, "the letter case of table names")                             \
    DEFECT(table_names_without_a_rule, "table names follow the rule")                                       \
    DEFECT(device_names_are_refused, "device names are valid table names")                                  \
    DEFECT(deletion_hits_longer_names, "deleting a table does not affect tables with longer names")         \
    DEFECT(tables_are_listed_in_lower_case, "tables are listed in pages")                                   \
    DEFECT(last_table_of_a_page_is_lost, "tables are listed in pages")                                      \
    DEFECT(page_of_tables_is_too_large, "tables are listed in pages")                                       \
    DEFECT(tables_are_listed_without_end, "tables are listed in pages")                                     \
    DEFECT(table_token_needs_its_table, "a list of tables continues after tables were deleted")             \
    /* single writes */                                                                                     \
    DEFECT(insert_overwrites, "insert needs a free key")                                                    \
    DEFECT(replace_inserts, "replace removes properties that it does not name")                             \
    DEFECT(replace_is_merge, "replace removes properties that it does not name")                            \
    DEFECT(insert_or_replace_is_merge, "replace removes properties that it does not name")                  \
    DEFECT(merge_inserts, "merge retains properties that it does not name")                                 \
    DEFECT(merge_is_replace, "merge retains properties that it does not name")                              \
    DEFECT(insert_or_merge_is_replace, "merge retains properties that it does not name")                    \
    DEFECT(merge_removes_what_is_absent, "merge retains properties that it does not name")                  \
    DEFECT(absent_is_stored_as_empty, "merge retains properties that it does not name")                     \
    DEFECT(property_names_without_case, "property names are case-sensitive")                                \
    DEFECT(removal_of_nothing_succeeds, "removal")                                                          \
    DEFECT(removal_gives_an_etag, "removal")                                                                \
    DEFECT(removal_takes_its_neighbour, "removal")                                                          \
    DEFECT(empty_partition_is_a_ghost_row, "removal")                                                       \
    DEFECT(conditions_are_ignored, "conditions of replace, merge and remove")                               \
    DEFECT(condition_of_removal_is_ignored, "conditions of replace, merge and remove")                      \
    DEFECT(malformed_etags_are_compared, "conditions of replace, merge and remove")                         \
    DEFECT(etag_kept_by_an_equal_replace, "every write makes a new version")                                \
    DEFECT(etag_kept_by_an_equal_merge, "every write makes a new version")                                  \
    DEFECT(etag_is_a_hash_of_the_content, "every write makes a new version")                                \
    DEFECT(etag_counts_from_one_again, "every write makes a new version")                                   \
    DEFECT(etag_has_whole_seconds, "every write makes a new version")                                       \
    DEFECT(etag_of_another_write, "every write makes a new version")                                        \
    DEFECT(etag_without_its_prefix, "every write makes a new version")                                      \
    DEFECT(timestamp_is_of_the_first_write, "every write makes a new version")                              \
    DEFECT(timestamp_has_whole_seconds, "every write makes a new version")                                  \
    DEFECT(timestamp_of_the_caller, "every write makes a new version")                                      \
    DEFECT(merged_entities_have_no_limit, "a merge cannot exceed the limits")                               \
    /* values */                                                                                            \
    DEFECT(int64_through_a_double, "no value is changed")                                                   \
    DEFECT(small_int64_becomes_int32, "no value is changed")                                                \
    DEFECT(int32_becomes_int64, "values of every type round-trip")                                          \
    DEFECT(boolean_becomes_int32, "values of every type round-trip")                                        \
    DEFECT(infinity_is_the_greatest_double, "no value is changed")                                          \
    DEFECT(nan_is_absent, "no value is changed")                                                            \
    DEFECT(negative_zero_is_zero, "values of every type round-trip")                                        \
    DEFECT(denormal_is_zero, "no value is changed")                                                         \
    DEFECT(double_has_15_digits, "no value is changed")                                                     \
    DEFECT(whole_double_becomes_int32, "no value is changed")                                               \
    DEFECT(text_is_cut_at_nul, "no value is changed")                                                       \
    DEFECT(text_loses_trailing_blanks, "no value is changed")                                               \
    DEFECT(text_is_composed, "no value is changed")                                                         \
    DEFECT(text_has_other_line_ends, "no value is changed")                                                 \
    DEFECT(text_is_cut_at_255_bytes, "no value is changed")                                                 \
    DEFECT(long_text_is_garbled, "no value is changed")                                                     \
    DEFECT(empty_text_is_absent, "values of every type round-trip")                                         \
    DEFECT(binary_is_cut_at_nul, "no value is changed")                                                     \
    DEFECT(binary_has_seven_bits, "no value is changed")                                                    \
    DEFECT(empty_binary_is_absent, "values of every type round-trip")                                       \
    DEFECT(long_binary_is_garbled, "no value is changed")                                                   \
    DEFECT(guid_in_another_order, "no value is changed")                                                    \
    DEFECT(time_in_microseconds, "no value is changed")                                                     \
    DEFECT(time_begins_in_1970, "no value is changed")                                                      \
    /* keys */                                                                                              \
    DEFECT(keys_without_case, "keys that differ are different entities")                                    \
    DEFECT(keys_without_trailing_blanks, "keys that differ are different entities")                         \
    DEFECT(keys_are_composed, "keys that differ are different entities")                                    \
    DEFECT(keys_are_joined, "keys that differ are different entities")                                      \
    DEFECT(keys_are_cut_at_255_bytes, "keys that differ are different entities")                            \
    DEFECT(partition_is_a_prefix, "keys that differ are different entities")                                \
    DEFECT(empty_partition_is_any, "keys that differ are different entities")                               \
    DEFECT(empty_row_key_is_refused, "unusual keys")                                                        \
    DEFECT(keys_are_decoded_twice, "unusual keys")                                                          \
    DEFECT(plus_is_a_blank, "unusual keys")                                                                 \
    DEFECT(quotes_are_doubled, "unusual keys")                                                              \
    DEFECT(entity_comes_without_keys, "values of every type round-trip")                                    \
    DEFECT(keys_end_at_nul, "forbidden keys")                                                               \
    DEFECT(forbidden_keys_are_taken, "forbidden keys")                                                      \
    DEFECT(keys_in_the_order_of_bytes, "keys come in the order of their UTF-16 code units")                 \
    DEFECT(keys_in_the_order_of_a_language, "keys come in the order of their UTF-16 code units")            \
    DEFECT(results_in_reverse_order, "keys come in the order of their UTF-16 code units")                   \
    DEFECT(profile_lies_about_order, "keys come in the order of their UTF-16 code units")                   \
    DEFECT(lower_bound_loses_its_key, "ranges of keys")                                                     \
    DEFECT(lower_bound_keeps_its_key, "ranges of keys")                                                     \
    DEFECT(upper_bound_loses_its_key, "ranges of keys")                                                     \
    DEFECT(upper_bound_keeps_its_key, "ranges of keys")                                                     \
    DEFECT(row_bounds_in_one_partition_only, "ranges of keys")                                              \
    DEFECT(bound_at_the_empty_key_is_none, "ranges of keys")                                                \
    /* queries */                                                                                           \
    DEFECT(nan_equals_itself, "absence, other types and NaN in filters")                                    \
    DEFECT(absent_is_not_equal, "absence, other types and NaN in filters")                                  \
    DEFECT(absent_is_less, "absence, other types and NaN in filters")                                       \
    DEFECT(not_has_three_values, "absence, other types and NaN in filters")                                 \
    DEFECT(numbers_of_other_types_are_compared, "absence, other types and NaN in filters")                  \
    DEFECT(filter_names_without_case, "absence, other types and NaN in filters")                            \
    DEFECT(filtered_text_without_case, "comparisons of each type")                                          \
    DEFECT(filtered_text_without_trailing_blanks, "comparisons of each type")                               \
    DEFECT(filtered_int64_through_a_double, "comparisons of each type")                                     \
    DEFECT(filtered_int64_as_text, "comparisons of each type")                                              \
    DEFECT(filtered_text_by_bytes, "text is compared by UTF-16 code unit")                                  \
    DEFECT(connectives_are_swapped, "and, or, not")                                                         \
    DEFECT(negation_is_lost, "and, or, not")                                                                \
    DEFECT(timestamp_filter_in_seconds, "system properties in filters")                                     \
    DEFECT(malformed_filters_are_taken, "malformed filters are refused")                                    \
    DEFECT(projection_is_ignored, "projections keep keys, Timestamp and ETag")                              \
    DEFECT(projection_of_a_get_is_ignored, "projections keep keys, Timestamp and ETag")                     \
    DEFECT(projection_loses_the_timestamp, "projections keep keys, Timestamp and ETag")                     \
    DEFECT(projection_loses_the_etag, "projections keep keys, Timestamp and ETag")                          \
    DEFECT(projection_comes_before_the_filter, "projections keep keys, Timestamp and ETag")                 \
    /* pages */                                                                                             \
    DEFECT(last_row_of_a_page_is_lost, "pages add up to the whole result")                                  \
    DEFECT(row_at_the_edge_comes_twice, "pages add up to the whole result")                                 \
    DEFECT(rows_come_twice, "pages add up to the whole result")                                             \
    DEFECT(page_is_too_large, "pages add up to the whole result")                                           \
    DEFECT(pages_end_with_their_partition, "pages add up to the whole result")                              \
    DEFECT(pages_have_no_end, "pages add up to the whole result")                                           \
    DEFECT(empty_page_is_the_end, "pages add up to the whole result")                                       \
    DEFECT(page_sizes_have_no_bounds, "page sizes are bounded")                                             \
    DEFECT(filter_is_lost_on_page_two, "a filter holds on every page")                                      \
    DEFECT(projection_is_lost_on_page_two, "a filter holds on every page")                                  \
    DEFECT(tokens_of_other_queries_are_taken, "a token belongs to its query")                               \
    DEFECT(damaged_tokens_are_taken, "a token belongs to its query")                                        \
    DEFECT(tokens_are_not_printable, "a token belongs to its query")                                        \
    DEFECT(tokens_count_rows, "a token marks a position")                                                   \
    DEFECT(token_needs_the_last_row, "a token marks a position")                                            \
    DEFECT(token_needs_the_next_row, "a token marks a position")                                            \
    DEFECT(token_of_no_table_is_an_empty_page, "a token outlives its table")                                \
    /* transactions */                                                                                      \
    DEFECT(hundred_are_too_many, "the maximum number of operations, and a result for each")                 \
    DEFECT(profile_promises_more_operations, "the maximum number of operations, and a result for each")     \
    DEFECT(results_in_reverse, "the maximum number of operations, and a result for each")                   \
    DEFECT(result_is_missing, "the maximum number of operations, and a result for each")                    \
    DEFECT(results_have_one_etag, "the maximum number of operations, and a result for each")                \
    DEFECT(transaction_is_used_up, "a transaction is sent twice")                                           \
    DEFECT(upserts_in_transactions_are_inserts, "all forms of a write in one transaction")                  \
    DEFECT(transactions_are_not_atomic, "all or nothing, and the index of the failed operation")            \
    DEFECT(removals_are_not_rolled_back, "all or nothing, and the index of the failed operation")           \
    DEFECT(conditions_in_transactions_are_ignored, "all or nothing, and the index of the failed operation") \
    DEFECT(index_counts_from_one, "all or nothing, and the index of the failed operation")                  \
    DEFECT(index_is_missing_for_etags, "all or nothing, and the index of the failed operation")             \
    DEFECT(empty_transaction_succeeds, "invalid transactions")                                              \
    DEFECT(operation_too_many_is_taken, "invalid transactions")                                             \
    DEFECT(partitions_are_mixed, "invalid transactions")                                                    \
    DEFECT(entity_twice_is_taken, "invalid transactions")                                                   \
    DEFECT(transaction_has_no_size, "invalid transactions")                                                 \
    DEFECT(large_transaction_is_refused, "a large transaction")                                             \
    DEFECT(half_a_transaction_is_seen, "a transaction is seen as a whole")                                  \
    DEFECT(pages_are_glued, "a page of one partition is one snapshot")                                      \
    /* limits */                                                                                            \
    DEFECT(profile_promises_more_properties, "the number of properties")                                    \
    DEFECT(profile_promises_longer_names, "the names of properties")                                        \
    DEFECT(bad_names_are_taken, "the names of properties")                                                  \
    DEFECT(profile_promises_longer_text, "the sizes of values")                                             \
    DEFECT(largest_text_is_cut, "the sizes of values")                                                      \
    DEFECT(profile_promises_larger_entities, "the size of an entity")                                       \
    DEFECT(profile_promises_longer_keys, "unusual keys")                                                    \
    DEFECT(table_is_looked_for_first, "a request is checked before its table is looked up")                 \
    /* calls */                                                                                             \
    DEFECT(cancellation_of_writes_is_ignored, "a call whose deadline has passed does nothing")              \
    DEFECT(cancellation_of_transactions_is_ignored, "a call whose deadline has passed does nothing")        \
    DEFECT(cancellation_of_queries_is_ignored, "a call whose deadline has passed does nothing")             \
    DEFECT(cancellation_comes_after_the_write, "a call whose deadline has passed does nothing")             \
    DEFECT(deadline_of_reads_is_ignored, "a call whose deadline has passed does nothing")                   \
    DEFECT(deadline_of_tables_is_ignored, "a call whose deadline has passed does nothing")                  \
    DEFECT(deadline_is_a_time_of_day, "a call within its deadline succeeds")                                \
    DEFECT(refusals_have_an_unknown_effect, "insert needs a free key")                                      \
    DEFECT(attempts_are_not_counted, "each attempt is counted and reported")                                \
    DEFECT(attempts_are_reported_twice, "each attempt is counted and reported")                             \
    DEFECT(read_of_the_primary_is_stale, "a read of the primary is not stale")                              \
    DEFECT(query_of_the_primary_is_stale, "a read of the primary is not stale")                             \
    /* several handles, several threads */                                                                  \
    DEFECT(copies_are_stores_of_their_own, "copies share one store")                                        \
    DEFECT(copies_remember_what_they_read, "a write makes the ETags of earlier reads stale")                \
    DEFECT(condition_is_checked_by_a_read_of_its_own, "a write between a check and its write")              \
    DEFECT(condition_is_checked_without_a_lock, "two threads increment a counter")                          \
    DEFECT(insert_looks_first, "two threads insert one key")                                                \
    DEFECT(merge_reads_and_replaces, "two threads merge different properties")                              \
    DEFECT(shown_entity_is_never_absent, "a visitor receives the entity that was read")                     \
    DEFECT(shown_entity_has_no_version, "a visitor receives the entity that was read")                      \
    DEFECT(shown_entity_is_not_cancelled, "a call whose deadline has passed does nothing")                  \
    DEFECT(many_answers_change_places, "concurrent requests have the same results as sequential ones")      \
    DEFECT(many_failures_are_dropped, "concurrent requests have the same results as sequential ones")

/// The defect of a backend.
enum class defect {
    none,           ///< none: every request is forwarded
    none_own_pages, ///< none: queries are answered by the wrapper's own filters, pages and tokens
    none_own_etags, ///< none: ETags are numbers that the wrapper stores
#define ENTITABLE_TEST_DEFECT(name, behaviour) name,
    ENTITABLE_TEST_DEFECTS(ENTITABLE_TEST_DEFECT)
#undef ENTITABLE_TEST_DEFECT
};

/// One defect, as a test names it.
struct named_defect {
    defect what;
    std::string_view name;
    std::string_view behaviour; ///< the behaviour that finds it
};

/// All except the three without a defect.
inline constexpr named_defect defects[] = {
#define ENTITABLE_TEST_DEFECT(name, behaviour) {defect::name, #name, behaviour},
    ENTITABLE_TEST_DEFECTS(ENTITABLE_TEST_DEFECT)
#undef ENTITABLE_TEST_DEFECT
};

#undef ENTITABLE_TEST_DEFECTS

} // namespace entitable_test
