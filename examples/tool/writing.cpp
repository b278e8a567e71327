// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include "writing.hpp"

#include "text.hpp"
#include <entitable/core/row/system_rows.hpp>
#include <entitable/core/try.hpp>

#include <map>

namespace tool {

using entitable::error_code;
using entitable::mutation;

void add_write_options(CLI::App& command, writing how, write_options& given) {
    command.add_option("STORE", given.store, store_help)->required();
    command.add_option("TABLE", given.table, "Table to change")->required();
    command.add_option_function<std::string>(
        "PARTITION", [&given](std::string const& key) { given.partition = key; },
        "PartitionKey of the row; without it, rows are read as JSON lines from the standard input");
    command.add_option_function<std::string>(
        "ROW", [&given](std::string const& key) { given.row = key; }, "RowKey of the row");
    if (how != writing::remove) {
        command
            .add_option("--set", given.set,
                "Property NAME=VALUE, a text, or NAME:TYPE=VALUE with TYPE one of string, int32, int64, double, "
                "boolean, "
                "datetime, guid, binary; may be repeated")
            ->allow_extra_args(false)
            ->type_name("PROPERTY");
    }
    command.add_option("--if-match", given.if_match, "Write only if the row still has this ETag, as \"get\" prints it")
        ->type_name("ETAG");
    if (how == writing::put) {
        command.add_flag("--create", given.create, "Create the table, and the file of the store, if they do not exist");
    }
    command.add_flag("--dry-run", given.dry_run, "Print what would be done, and write nothing");
    command.add_flag("--yes", given.yes,
        how == writing::put ? "Overwrite rows that exist, without a question"
                            : "Change stored rows, without a question");
    command.add_flag("--unmaintained", given.unmaintained,
        "Write also if the table has indexes or sums, or the row is one of several parts, which are then wrong");
}

namespace {

/// Parses NAME=VALUE or NAME:TYPE=VALUE into a property of the row.
entitable::result<void> add_property(entitable::row_builder& to, std::string const& text) {
    std::size_t const equals = text.find('=');
    if (equals == std::string::npos || equals == 0) {
        return refuse("--set \"" + printable(text) + "\" is not NAME=VALUE or NAME:TYPE=VALUE");
    }
    std::string name = text.substr(0, equals);
    entitable::edm_type type = entitable::edm_type::string;
    if (std::size_t const colon = name.find(':'); colon != std::string::npos) {
        auto const known = type_of_name(name.substr(colon + 1));
        if (!known) {
            return refuse("--set: unknown type \"" + printable(name.substr(colon + 1)) + "\": the types are " +
                std::string{type_names});
        }
        type = *known;
        name.resize(colon);
    }
    auto value = parse_value(type, std::string_view{text}.substr(equals + 1));
    if (!value) { return refuse("--set " + printable(name) + ": " + value.error().message); }
    to.add(name, value->view());
    return {};
}

std::string keys_text(entitable::row_view const& row) {
    return "\"" + printable(row.partition_key) + "\" / \"" + printable(row.row_key) + "\"";
}

/// What a write did, or would do.
enum class change : std::uint8_t { inserted, replaced, stored, merged, removed };

std::string_view to_string(change made, bool dry_run) {
    constexpr std::string_view words[] = {"inserted", "replaced", "stored", "merged", "deleted"};
    constexpr std::string_view future[] = {
        "would be inserted", "would be replaced", "would be stored", "would be merged", "would be deleted"};
    return dry_run ? future[static_cast<std::size_t>(made)] : words[static_cast<std::size_t>(made)];
}

/// Writes rows one by one.
class row_writer {
public:
    row_writer(writing how, write_options const& given, entitable::any_store store, console& with)
        : how_(how), given_(given), store_(std::move(store)), with_(with) {}

    /// Writes a row. `can_ask`: a question may be asked before something stored is changed.
    [[nodiscard]] entitable::result<change> write(entitable::row row, bool can_ask) {
        if (entitable::system_row::is_one(row.row_key())) {
            return refuse("row keys that begin with \"~!\" are reserved for the library");
        }
        if (given_.dry_run) { return foresee(row); }
        switch (how_) {
            case writing::put: return put(std::move(row), can_ask);
            case writing::merge: return merge(std::move(row), can_ask);
            case writing::remove: break;
        }
        return remove(std::move(row), can_ask);
    }

    /// The ETag after the last write; empty after a removal.
    [[nodiscard]] entitable::etag const& version() const noexcept { return version_; }

private:
    [[nodiscard]] entitable::etag_condition condition() const {
        if (given_.if_match.empty()) { return entitable::any_etag; }
        return entitable::etag{given_.if_match};
    }
    [[nodiscard]] entitable::result<void> execute(mutation change) {
        entitable::call context;
        std::string const keys = keys_text(change.entity.view());
        auto done = store_.execute(entitable::write_entity{given_.table, std::move(change)}, context);
        if (done) {
            version_ = done->etag;
            return {};
        }
        switch (done.error().code) {
            case error_code::resource_not_found: return refuse("the row " + keys + " does not exist: put inserts it");
            case error_code::update_condition_not_satisfied:
                return refuse("the row " + keys + " was changed since its ETag was read: get prints the new one");
            case error_code::table_not_found:
                if (how_ == writing::put) {
                    return refuse("the table \"" + given_.table + "\" does not exist: --create creates it");
                }
                break;
            default: break;
        }
        return no_table(std::move(done).as_failure(), given_.table);
    }
    /// Reads the row; nullopt if it does not exist.
    [[nodiscard]] entitable::result<std::optional<entitable::etag>> stored(entitable::row_view const& row) {
        entitable::call context;
        auto found = store_.execute(entitable::get_entity{given_.table, std::string{row.partition_key},
                                        std::string{row.row_key}, {std::string{entitable::system_row::wide_parts}}},
            context);
        if (!found) {
            if (found.error().code == error_code::resource_not_found) { return std::optional<entitable::etag>{}; }
            if (found.error().code == error_code::table_not_found && given_.create) {
                return std::optional<entitable::etag>{};
            }
            return no_table(std::move(found).as_failure(), given_.table);
        }
        if (!given_.unmaintained && found->entity.view().find(entitable::system_row::wide_parts)) {
            return refuse("the row " + keys_text(row) +
                " is the first of several parts: write with the program that declares it, or repeat the command with "
                "--unmaintained");
        }
        return std::optional{std::move(found->etag)};
    }
    [[nodiscard]] entitable::result<void> consent(entitable::row_view const& row, std::string_view verb, bool can_ask) {
        if (given_.yes || !given_.if_match.empty()) { return {}; }
        std::string const question = "The row " + keys_text(row) + " is stored: " + std::string{verb} + " it?";
        if (can_ask && with_.can_ask()) { return confirm(with_, false, question); }
        return refuse(
            "the row " + keys_text(row) + " is stored: repeat the command with --yes to " + std::string{verb} + " it");
    }

    [[nodiscard]] entitable::result<change> put(entitable::row row, bool can_ask) {
        if (!given_.if_match.empty()) {
            ENTITABLE_TRY(auto const found, stored(row.view()));
            static_cast<void>(found);
            ENTITABLE_CHECK(execute(mutation::replace(std::move(row), condition())));
            return change::replaced;
        }
        entitable::call context;
        auto done = store_.execute(entitable::write_entity{given_.table, mutation::insert(row)}, context);
        if (done) {
            version_ = done->etag;
            return change::inserted;
        }
        if (done.error().code != error_code::entity_already_exists) {
            if (done.error().code == error_code::table_not_found) {
                return refuse("the table \"" + given_.table + "\" does not exist: --create creates it");
            }
            return std::move(done).as_failure();
        }
        ENTITABLE_TRY(auto const found, stored(row.view()));
        static_cast<void>(found);
        ENTITABLE_CHECK(consent(row.view(), "overwrite", can_ask));
        ENTITABLE_CHECK(execute(mutation::insert_or_replace(std::move(row))));
        return change::replaced;
    }
    [[nodiscard]] entitable::result<change> merge(entitable::row row, bool can_ask) {
        ENTITABLE_TRY(auto const found, stored(row.view()));
        if (!found) { return refuse("the row " + keys_text(row.view()) + " does not exist: put inserts it"); }
        ENTITABLE_CHECK(consent(row.view(), "change", can_ask));
        ENTITABLE_CHECK(execute(mutation::merge(std::move(row), condition())));
        return change::merged;
    }
    [[nodiscard]] entitable::result<change> remove(entitable::row row, bool can_ask) {
        ENTITABLE_TRY(auto const found, stored(row.view()));
        if (!found) { return refuse("the row " + keys_text(row.view()) + " does not exist"); }
        ENTITABLE_CHECK(consent(row.view(), "delete", can_ask));
        ENTITABLE_CHECK(execute(mutation::remove(std::move(row), condition())));
        return change::removed;
    }
    /// What a write would do.
    [[nodiscard]] entitable::result<change> foresee(entitable::row const& row) {
        ENTITABLE_TRY(auto const found, stored(row.view()));
        if (!found && (how_ != writing::put || !given_.if_match.empty())) {
            return refuse("the row " + keys_text(row.view()) + " does not exist");
        }
        if (found && !condition().accepts(*found)) {
            return refuse("the row " + keys_text(row.view()) + " was changed since its ETag was read");
        }
        return how_ == writing::remove ? change::removed
            : how_ == writing::merge   ? change::merged
            : found                    ? change::replaced
                                       : change::inserted;
    }

    writing how_;
    write_options const& given_;
    entitable::any_store store_;
    console& with_;
    entitable::etag version_;
};

outcome write_lines(row_writer& writer, write_options const& given, console& with) {
    constexpr std::uint64_t most_shown = 20;
    std::map<change, std::uint64_t> done;
    std::uint64_t failed = 0;
    std::uint64_t number = 0;
    std::uint64_t good = 0;
    if (with.handle_interrupt) { with.handle_interrupt(); }
    for (std::string line; !with.interrupted.cancelled() && std::getline(with.in, line);) {
        ++number;
        if (number == 1 && line.starts_with("\xEF\xBB\xBF")) { line.erase(0, 3); }
        if (line.find_first_not_of(" \t\r") == std::string::npos) { continue; }
        auto written = [&]() -> entitable::result<change> {
            ENTITABLE_TRY(entitable::row row, read_json_row(line));
            return writer.write(std::move(row), false);
        }();
        if (written) {
            ++done[*written];
            ++good;
        } else if (++failed <= most_shown) {
            with.err << "line " << number << ": " << printable(written.error().message) << '\n';
        }
    }
    for (auto const& [made, count] : done) {
        with.out << count << (count == 1 ? " row " : " rows ") << to_string(made, given.dry_run) << '\n';
    }
    if (failed > 0) { with.out << failed << (failed == 1 ? " line" : " lines") << " refused\n"; }
    if (with.interrupted.cancelled()) {
        return refuse("interrupted after line " + std::to_string(number) + ": earlier lines are stored");
    }
    return failed == 0 ? exit_code::success : good == 0 ? exit_code::failure : exit_code::some_failed;
}

} // namespace

outcome write_rows(writing how, write_options const& given, console& with) {
    if (given.partition.has_value() != given.row.has_value()) {
        return refuse("a row has two keys: name PARTITION and ROW, or neither to read JSON lines");
    }
    if (!given.if_match.empty()) {
        if (!given.row) { return refuse("--if-match is for one row: name PARTITION and ROW"); }
        if (!entitable::etag{given.if_match}.is_valid()) {
            return refuse("--if-match is not an ETag such as W/\"datetime'2026-01-31T12%3A00%3A00Z'\"");
        }
    }
    if (!given.row && !given.set.empty()) { return refuse("--set is for one row: name PARTITION and ROW"); }
    bool const creates = given.create && !given.dry_run;
    ENTITABLE_TRY(auto const store, creates ? open_or_create_store(given.store) : open_store(given.store));
    if (creates) {
        entitable::call context;
        auto const made = store.execute(entitable::create_table{given.table, true}, context);
        if (!made && made.error().code != error_code::table_already_exists) { return entitable::failure{made.error()}; }
    }
    ENTITABLE_CHECK(check_writable(store, given.table, given.unmaintained));
    row_writer writer{how, given, store, with};
    if (!given.row) { return write_lines(writer, given, with); }
    entitable::row_builder built{*given.partition, *given.row};
    for (std::size_t at = 0; at < given.set.size(); ++at) { ENTITABLE_CHECK(add_property(built, given.set[at])); }
    entitable::row row = built.build();
    std::string const keys = keys_text(row.view());
    ENTITABLE_TRY(change const made, writer.write(std::move(row), true));
    with.out << keys << ' ' << to_string(made, given.dry_run);
    if (!given.dry_run && made != change::removed) { with.out << ", ETag " << printable(writer.version().to_string()); }
    with.out << '\n';
    return exit_code::success;
}

} // namespace tool
