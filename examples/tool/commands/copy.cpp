// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include "../commands.hpp"
#include "../exchange/key_expression.hpp"
#include "../exchange/progress.hpp"
#include "../exchange/value_text.hpp"
#include <entitable/client/row_table.hpp>
#include <entitable/copy.hpp>
#include <entitable/core/load/bulk_checkpoint.hpp>
#include <entitable/core/text.hpp>
#include <entitable/core/try.hpp>
#include <entitable/entitable.hpp>

#include <charconv>
#include <chrono>
#include <filesystem>
#include <map>

namespace tool {

namespace {

using entitable::error_code;

struct copying_options {
    std::string from;
    std::string from_table;
    std::string to;
    std::string to_table;
    std::string partition;
    std::string row;
    std::string state;
    bool resumes{};
    bool restarts{};
    bool overwrites{};
    bool yes{};
    bool unverified{};
    bool unmaintained{};
};

/// Thrown by the progress of a copy to end it after a page.
struct interrupted_copy {};

/// How far a copy has come, in a file of three lines: the copy, the rows so far, the position.
class copy_state {
public:
    copy_state(std::string path, std::string identity) : file_(std::move(path)), identity_(std::move(identity)) {}

    /// Reads the position; nullopt if there is no state. Errors: CheckpointInvalid for the state of another copy.
    [[nodiscard]] entitable::result<std::optional<std::string>> load() {
        ENTITABLE_TRY(auto const stored, file_.load());
        if (!stored) { return std::optional<std::string>{}; }
        std::string_view rest = *stored;
        std::string_view const heading = entitable::text::take_part(rest, '\n');
        std::string_view const identity = entitable::text::take_part(rest, '\n');
        std::string_view const rows = entitable::text::take_part(rest, '\n');
        auto const read = std::from_chars(rows.data(), rows.data() + rows.size(), rows_before_);
        if (heading != first_line || read.ec != std::errc{} || !rest.ends_with(".")) {
            return entitable::failure{error_code::checkpoint_invalid, "the file is not the state of a copy"};
        }
        if (identity != identity_) {
            return entitable::failure{error_code::checkpoint_invalid, "the state is of a copy of other tables or keys"};
        }
        rest.remove_suffix(1);
        return std::optional<std::string>{rest};
    }
    [[nodiscard]] entitable::result<void> save(std::string const& position, std::uint64_t rows) const {
        std::string text{first_line};
        text += "\n" + identity_ + "\n" + std::to_string(rows_before_ + rows) + "\n" + position + ".";
        return file_.save(text);
    }
    [[nodiscard]] entitable::result<void> clear() const { return file_.clear(); }
    [[nodiscard]] std::uint64_t rows_before() const noexcept { return rows_before_; }

private:
    static constexpr std::string_view first_line = "entitable copy 1";
    entitable::file_checkpoint file_;
    std::string identity_;
    std::uint64_t rows_before_{};
};

class copying {
public:
    copying(copying_options const& given, console& with)
        : given_(given),
          with_(with),
          state_path_(given.state.empty() ? given.from_table + "-to-" + given.to_table + ".copy" : given.state),
          state_(state_path_, identity()) {}

    [[nodiscard]] outcome run() {
        if (given_.from_table == given_.to_table && same_store(given_.from, given_.to)) {
            return refuse("the source and the target are the same table");
        }
        ENTITABLE_CHECK(read_keys());
        std::error_code problem;
        bool const interrupted = std::filesystem::exists(state_path_, problem);
        if (given_.restarts) {
            ENTITABLE_CHECK(state_.clear());
        } else if (interrupted && !given_.resumes) {
            return refuse("a copy was interrupted (" + state_path_ +
                "); --resume continues it, --restart starts over, --state names another file");
        }
        entitable::copy_options options;
        options.verify = !given_.unverified;
        options.overwrite = given_.overwrites;
        auto position = state_.load();
        if (!position) { return with_hint(position.error(), "; --restart starts over"); }
        options.from = *std::move(position);
        ENTITABLE_TRY(auto const from, open_store(given_.from));
        ENTITABLE_CHECK(check_source(from));
        ENTITABLE_TRY(auto const to, open_or_create_store(given_.to));
        ENTITABLE_CHECK(check_undeclared(to, given_.to_table, given_.unmaintained));
        if (given_.overwrites) {
            ENTITABLE_CHECK(confirm(with_, given_.yes, "Overwrite rows of " + given_.to_table + " that differ?"));
        }
        ENTITABLE_TRY(bool const created, entitable::row_table(to, given_.to_table).create_if_absent());
        static_cast<void>(created);
        return copy(from, to, options);
    }

private:
    /// The same stores, tables and keys; for stores whose addresses can contain secrets only their kind.
    [[nodiscard]] std::string identity() const {
        std::string made;
        for (std::string const& each : {store_identity(given_.from), given_.from_table, store_identity(given_.to),
                 given_.to_table, given_.partition, given_.row}) {
            made += entitable::text::printable(each) + " | ";
        }
        return made;
    }

    [[nodiscard]] entitable::result<void> read_keys() {
        if (!given_.partition.empty()) { ENTITABLE_TRY(partition_, key_expression::parse(given_.partition)); }
        if (!given_.row.empty()) { ENTITABLE_TRY(row_, key_expression::parse(given_.row)); }
        return {};
    }

    /// Checks that the source exists before the target is made.
    [[nodiscard]] entitable::result<void> check_source(entitable::any_store const& from) const {
        entitable::query_entities asked;
        asked.table = given_.from_table;
        asked.page_size = 1;
        return for_each_row(
            from, std::move(asked), [](entitable::row_view) -> entitable::result<bool> { return false; });
    }

    [[nodiscard]] entitable::result<std::string> key_of(
        entitable::row_view row, std::optional<key_expression> const& expression, std::string_view unchanged) {
        if (!expression) { return std::string{unchanged}; }
        texts_.resize(expression->columns().size());
        std::string made;
        auto const find = [&](std::size_t at) -> std::optional<std::string_view> {
            std::string const& name = expression->columns()[at];
            if (name == "PartitionKey") { return row.partition_key; }
            if (name == "RowKey") { return row.row_key; }
            auto const found = row.find(name);
            if (!found) { return std::nullopt; }
            texts_[at].clear();
            append_value_text(texts_[at], *found);
            return texts_[at];
        };
        ENTITABLE_CHECK(expression->append(made, find));
        return made;
    }

    [[nodiscard]] outcome copy(
        entitable::any_store const& from, entitable::any_store const& to, entitable::copy_options const& options) {
        if (with_.handle_interrupt) { with_.handle_interrupt(); }
        progress_line line{with_};
        entitable::result<void> saved;
        auto last_save = std::chrono::steady_clock::now();
        auto const watch = [&](entitable::copy_progress const& now) {
            line.show_rows(state_.rows_before() + now.read, std::nullopt);
            bool const ends = with_.interrupted.cancelled();
            auto const time = std::chrono::steady_clock::now();
            if (now.next && (ends || time - last_save >= std::chrono::seconds{1} || now.pages == 1)) {
                last_save = time;
                saved = state_.save(*now.next, now.read);
                if (!saved) { throw interrupted_copy{}; }
            }
            if (ends && now.next) { throw interrupted_copy{}; }
        };
        auto const change = [&](entitable::row_view each) -> entitable::result<std::optional<entitable::row>> {
            ENTITABLE_TRY(std::string const partition_key, key_of(each, partition_, each.partition_key));
            ENTITABLE_TRY(std::string const row_key, key_of(each, row_, each.row_key));
            return std::optional<entitable::row>{entitable::row{partition_key, row_key, each.payload}};
        };
        entitable::result<entitable::copy_progress> done{entitable::copy_progress{}};
        try {
            done = partition_ || row_
                ? entitable::copy_rows(from, given_.from_table, to, given_.to_table, change, watch, options)
                : entitable::copy_rows(from, given_.from_table, to, given_.to_table, watch, options);
        } catch (interrupted_copy const&) {
            line.clear();
            if (!saved) { return std::move(saved).as_failure(); }
            return refuse("interrupted; --resume continues where the copy stopped");
        }
        line.clear();
        if (!done) {
            std::error_code problem;
            return with_hint(done.error(),
                std::filesystem::exists(state_path_, problem) ? "; once that is mended, --resume continues" : "");
        }
        ENTITABLE_CHECK(state_.clear());
        if (options.from) { with_.out << "resumed after " << counted_rows(state_.rows_before()) << '\n'; }
        with_.out << counted_rows(done->read) << " read: " << grouped(done->written) << " written, "
                  << grouped(done->present) << " already there, " << grouped(done->verified)
                  << " read back and compared\n";
        if (done->system_rows != 0) { with_.out << grouped(done->system_rows) << " of them rows of the library\n"; }
        return exit_code::success;
    }

    [[nodiscard]] static entitable::failure with_hint(entitable::error failed, std::string const& hint) {
        if (failed.code == error_code::entity_already_exists) {
            failed.message += "; the target has a different row with this key, which --overwrite --yes replaces";
        }
        failed.message += hint;
        return entitable::failure{std::move(failed)};
    }

    copying_options const& given_;
    console& with_;
    std::string state_path_;
    copy_state state_;
    std::optional<key_expression> partition_;
    std::optional<key_expression> row_;
    std::vector<std::string> texts_;
};

} // namespace

void add_copy(command_list& all) {
    auto given = std::make_shared<copying_options>();
    CLI::App& command = all.add("copy", "Copies a table to any store, also under other keys",
        "entitable copy shop.db books env:CLOUD books\n"
        "entitable copy shop.db books shop.db booksByAuthor --partition authors --row RowKey\n"
        "entitable copy env:CLOUD orders archive.db orders --resume",
        [given](console& with) { return copying{*given, with}.run(); });
    command.description(
        "Copies a table to any store, also under other keys.\n"
        "Rows are inserted, read back and compared; a row that exists with the same properties counts as copied, and "
        "a "
        "different one ends the copy. Without other keys the copy includes the rows of the library: queues, wide "
        "entities, states of indexes. With other keys such tables are refused. A copy is not a snapshot: rows that "
        "are "
        "written meanwhile may be missing. Keys are expressions of properties, PartitionKey and RowKey, as in import; "
        "properties in keys stay properties.");
    command.add_option("FROM", given->from, store_help)->required();
    command.add_option("TABLE", given->from_table, "Table to copy")->required();
    command.add_option("TO", given->to, "Address of the target store")->required();
    command.add_option("TO_TABLE", given->to_table, "Table to write, which is created if it does not exist")
        ->required();
    auto const is_key = [](std::string const& text) {
        auto const read = key_expression::parse(text);
        return read ? std::string{} : read.error().message;
    };
    command.add_option("--partition", given->partition, "New PartitionKey, for example year+month:2")->check(is_key);
    command.add_option("--row", given->row, "New RowKey")->check(is_key);
    command.add_flag("--overwrite", given->overwrites, "Replace rows of the target that differ");
    command.add_flag("--yes", given->yes, "Overwrite without a question");
    command.add_option(
        "--state", given->state, "File for the position; default: TABLE-to-TO_TABLE.copy in this folder");
    auto* const resume = command.add_flag("--resume", given->resumes, "Continue an interrupted copy");
    command.add_flag("--restart", given->restarts, "Discard the position of an interrupted copy")->excludes(resume);
    command.add_flag("--no-verify", given->unverified, "Do not read back the written rows");
    command.add_flag("--unmaintained", given->unmaintained,
        "Write even if the target has indexes or sums, which would become wrong");
}

} // namespace tool
