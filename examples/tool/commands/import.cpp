// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include "../commands.hpp"
#include "../exchange/progress.hpp"
#include "../exchange/row_maker.hpp"
#include <entitable/bulk.hpp>
#include <entitable/core/text.hpp>
#include <entitable/core/try.hpp>
#include <entitable/entitable.hpp>
#include <entitable/memory.hpp>
#include <entitable/open.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace tool {

namespace {

using entitable::error_code;

struct import_options {
    std::string store;
    std::string table;
    std::string file;
    std::string partition;
    std::string row;
    std::string types;
    std::string format;
    std::string separator{","};
    std::string refused;
    std::uint64_t sample{100'000};
    std::uint64_t max_refused{10'000};
    bool keeps_key_columns{};
    bool replaces{};
    bool merges{};
    bool yes{};
    bool resumes{};
    bool restarts{};
    bool dry_run{};
    bool unmaintained{};
};

/// A file of records, open at its first record.
struct opened_text {
    std::unique_ptr<std::ifstream> file; ///< referred to by the reader
    std::unique_ptr<record_reader> records;
};

bool is_json(import_options const& given) {
    return given.format.empty()
        ? given.file.ends_with(".jsonl") || given.file.ends_with(".ndjson") || given.file.ends_with(".json")
        : given.format == "jsonl";
}

char separator_of(import_options const& given) {
    return given.separator == "tab" || given.separator == "\\t" ? '\t' : given.separator.front();
}

/// Opens the file, or the standard input for "-", and makes a reader for it.
entitable::result<opened_text> open_text(import_options const& given, std::istream& standard_input) {
    opened_text made;
    bool const standard = given.file == "-";
    if (!standard) {
        std::error_code problem;
        if (std::filesystem::is_directory(given.file, problem)) { return refuse(given.file + " is a folder"); }
        made.file = std::make_unique<std::ifstream>(given.file, std::ios::binary);
        if (!*made.file) {
            return refuse("cannot read " + given.file + ": " + std::strerror(errno)); // NOLINT(concurrency-mt-unsafe)
        }
    }
    std::istream& in = standard ? standard_input : *made.file;
    if (is_json(given)) {
        made.records = std::make_unique<json_records>(in);
    } else {
        made.records = std::make_unique<csv_records>(in, separator_of(given));
    }
    ENTITABLE_CHECK(made.records->begin());
    return made;
}

/// Reads the first line of a CSV file into the maker of rows.
entitable::result<void> read_header(import_options const& given, record_reader& records, row_maker& maker) {
    if (is_json(given)) {
        maker.use_members();
        return {};
    }
    if (!records.next()) {
        return refuse(records.input().failed() ? "cannot read " + given.file
                                               : given.file + " is empty; its first line must name the columns");
    }
    if (!records.fault().empty()) { return refuse("line 1: " + records.fault()); }
    return maker.set_header(records.fields());
}

/// The rows of a text, as an input range of results: an unreadable record does not end the others.
class row_range {
public:
    row_range(record_reader& records, row_maker& maker) : records_(&records), maker_(&maker) {}

    struct iterator {
        using iterator_concept = std::input_iterator_tag;
        using value_type = entitable::result<entitable::row>;
        using difference_type = std::ptrdiff_t;

        value_type const& operator*() const { return from->made_; }
        iterator& operator++() {
            from->read();
            return *this;
        }
        void operator++(int) { ++*this; }
        friend bool operator==(iterator const& at, std::default_sentinel_t) { return at.from->ended(); }

        row_range* from;
    };
    [[nodiscard]] iterator begin() {
        read();
        return {this};
    }
    [[nodiscard]] static std::default_sentinel_t end() { return {}; }
    [[nodiscard]] bool ended() const noexcept { return ended_; }

private:
    void read() {
        ended_ = !records_->next();
        if (!ended_) {
            if (!made_) { made_ = entitable::row{}; }
            if (auto filled = maker_->make(*records_, *made_); !filled) { made_ = std::move(filled).as_failure(); }
        }
        // A text that breaks off is not a whole text: the load must not report success.
        if (ended_ && records_->input().failed()) {
            throw entitable::error{error_code::store_failed, "the file cannot be read to its end"};
        }
    }

    record_reader* records_;
    row_maker* maker_;
    entitable::result<entitable::row> made_{entitable::row{}};
    bool ended_{};
};

/// The rows that were refused, as they become known: a file next to the checkpoint, so that a resumed import knows those of earlier runs.
/// A line is an index and the error.
class refusals {
public:
    explicit refusals(std::string path) : log_(std::move(path)) {}

    struct refusal {
        std::uint64_t index;
        std::string text;
    };

    [[nodiscard]] entitable::result<void> open(std::uint64_t size) { return log_.open(size); }
    [[nodiscard]] entitable::result<std::uint64_t> flush() { return log_.flush(); }
    void add(entitable::refused_row const& each) {
        log_.append(std::to_string(each.index) + " " + entitable::text::printable(each.error.message));
    }
    /// Returns all refusals in the order of the input.
    [[nodiscard]] std::vector<refusal> all() const {
        std::vector<refusal> made;
        std::ifstream in{log_.path(), std::ios::binary};
        for (std::string line; std::getline(in, line);) {
            std::uint64_t index = 0;
            auto const read = std::from_chars(line.data(), line.data() + line.size(), index);
            if (read.ec != std::errc{}) { continue; }
            std::size_t const text = static_cast<std::size_t>(read.ptr - line.data()) + 1;
            made.push_back({index, text < line.size() ? line.substr(text) : std::string{}});
        }
        std::stable_sort(
            made.begin(), made.end(), [](auto const& left, auto const& right) { return left.index < right.index; });
        return made;
    }
    void remove() { log_.remove(); }

private:
    line_log log_;
};

/// The checkpoint of an import: the library's, preceded by the size of the file of refusals, which is cut back to it.
class import_checkpoint {
public:
    import_checkpoint(std::string path, refusals& refused) : file_(std::move(path)), refused_(&refused) {}

    [[nodiscard]] entitable::result<std::optional<std::string>> load() const {
        ENTITABLE_TRY(auto const stored, file_.load());
        if (!stored) {
            ENTITABLE_CHECK(refused_->open(0));
            return std::optional<std::string>{};
        }
        std::uint64_t size = 0;
        std::string_view rest = *stored;
        bool good = rest.starts_with(heading);
        if (good) {
            rest.remove_prefix(heading.size());
            auto const read = std::from_chars(rest.data(), rest.data() + rest.size(), size);
            auto const count = static_cast<std::size_t>(read.ptr - rest.data());
            good = read.ec == std::errc{} && count < rest.size() && rest[count] == '\n';
            rest.remove_prefix(good ? count + 1 : 0);
        }
        if (!good) {
            return entitable::failure{error_code::checkpoint_invalid, "the file is not the state of an import"};
        }
        ENTITABLE_CHECK(refused_->open(size));
        return std::optional<std::string>{rest};
    }
    [[nodiscard]] entitable::result<void> save(std::string_view text) const {
        ENTITABLE_TRY(auto const size, refused_->flush());
        return file_.save(std::string{heading} + std::to_string(size) + "\n" + std::string{text});
    }
    /// Keeps the state until the refused rows are written: see `finish`.
    [[nodiscard]] static entitable::result<void> clear() { return {}; }

private:
    static constexpr std::string_view heading = "entitable import 1\nrefused ";
    entitable::file_checkpoint file_;
    refusals* refused_;
};

std::uint64_t hash_of(std::string_view bytes, std::uint64_t from = 14'695'981'039'346'656'037U) {
    for (char const each : bytes) { from = (from ^ static_cast<unsigned char>(each)) * 1'099'511'628'211U; }
    return from;
}

/// Identifies the file and the meaning of its columns: size, time of the last change, beginning and end, and the options.
std::string identity_of(import_options const& given) {
    std::error_code problem;
    auto const size = std::filesystem::file_size(given.file, problem);
    auto const changed = std::filesystem::last_write_time(given.file, problem).time_since_epoch().count();
    std::ifstream in{given.file, std::ios::binary};
    std::string ends(std::size_t{128} << 10U, '\0');
    in.read(ends.data(), std::streamsize{64} << 10U);
    auto count = static_cast<std::size_t>(in.gcount());
    in.clear();
    if (size > (std::size_t{64} << 10U)) {
        in.seekg(-(std::streamoff{64} << 10U), std::ios::end);
        in.read(ends.data() + count, std::streamsize{64} << 10U);
        count += static_cast<std::size_t>(in.gcount());
    }
    std::uint64_t const content = hash_of(std::string_view{ends}.substr(0, count));
    std::uint64_t options = hash_of(given.partition);
    for (auto const* each : {&given.row, &given.types, &given.format, &given.separator}) {
        options = hash_of(*each, options * 31);
    }
    options = hash_of(store_identity(given.store), options * 31 + given.sample * 2 + (given.keeps_key_columns ? 1 : 0));
    return std::to_string(size) + " " + std::to_string(changed) + " " + std::to_string(content) + " " +
        std::to_string(options);
}

/// Writes the refused records, as they are in the file, and the reasons.
class refused_files {
public:
    refused_files(import_options const& given, console& with) : given_(given), with_(with) {}

    [[nodiscard]] std::string records_path() const {
        return given_.refused.empty() ? given_.file + ".refused" : given_.refused;
    }
    [[nodiscard]] std::string reasons_path() const { return records_path() + ".reasons"; }

    /// Refuses to overwrite files of an earlier import.
    [[nodiscard]] entitable::result<void> check() const {
        if (given_.file == "-") { return {}; }
        for (std::string const& path : {records_path(), reasons_path()}) {
            std::error_code problem;
            if (std::filesystem::exists(path, problem)) {
                ENTITABLE_CHECK(confirm(with_, given_.yes,
                    path +
                        " exists; --refused names another file for refused rows. Overwrite it if rows are refused?"));
            }
        }
        return {};
    }

    [[nodiscard]] entitable::result<void> write(std::vector<refusals::refusal> const& all) {
        if (all.empty()) { return {}; }
        if (given_.file == "-") {
            for (std::size_t at = 0; at < all.size() && at < shown; ++at) {
                with_.err << "  row " << grouped(all[at].index + 1) << ": " << all[at].text << '\n';
            }
            note_others(all.size());
            return {};
        }
        std::ofstream records{records_path(), std::ios::binary};
        std::ofstream reasons{reasons_path(), std::ios::binary};
        ENTITABLE_TRY(auto text, open_text(given_, with_.in));
        if (!is_json(given_) && text.records->next()) { records << text.records->raw(); }
        std::uint64_t index = 0;
        std::size_t next = 0;
        for (; next < all.size() && text.records->next(); ++index) {
            if (all[next].index != index) { continue; }
            std::string const line = "line " + grouped(text.records->line()) + ": " + all[next].text + "\n";
            if (next < shown) { with_.err << "  " << line; }
            reasons << line;
            records << text.records->raw();
            if (!text.records->raw().ends_with('\n') && !text.records->raw().ends_with('\r')) { records << '\n'; }
            while (next < all.size() && all[next].index == index) { ++next; }
        }
        records.close();
        reasons.close();
        if (!records || !reasons) { return refuse("cannot write the refused rows to " + records_path()); }
        note_others(all.size());
        with_.err << "refused rows: " << records_path() << "; reasons: " << reasons_path() << '\n';
        return {};
    }

private:
    static constexpr std::size_t shown = 10;
    void note_others(std::size_t count) {
        if (count > shown) { with_.err << "  and " << grouped(count - shown) << " others\n"; }
    }

    import_options const& given_;
    console& with_;
};

class importing {
public:
    importing(import_options const& given, console& with)
        : given_(given), with_(with), refused_files_(given, with), refusals_(given.file + ".import.refused") {}

    [[nodiscard]] outcome run() {
        ENTITABLE_TRY(row_plan plan, read_plan());
        row_maker maker{std::move(plan), given_.separator};
        ENTITABLE_CHECK(check_state());
        bool const standard = given_.file == "-";
        if (!standard) {
            ENTITABLE_TRY(opened_text sampled, open_text(given_, with_.in));
            ENTITABLE_CHECK(read_header(given_, *sampled.records, maker));
            take_sample(*sampled.records, maker);
        }
        ENTITABLE_TRY(opened_text text, open_text(given_, with_.in));
        if (standard) {
            ENTITABLE_CHECK(read_header(given_, *text.records, maker));
            maker.end_sample();
        } else if (!is_json(given_)) {
            static_cast<void>(text.records->next()); // the header, which was read before
        }
        if (!standard) {
            with_.out << given_.file << ": " << (whole_sample_ ? grouped(sampled_) : "about " + grouped(*total_))
                      << (total_ == 1U ? " row\n" : " rows\n");
            maker.describe(with_.out);
            with_.out.flush();
        }
        ENTITABLE_TRY(auto const store, open_target());
        ENTITABLE_CHECK(check_writable(store, given_.table, given_.unmaintained));
        if (given_.replaces || given_.merges) {
            ENTITABLE_CHECK(confirm(with_, given_.yes || given_.dry_run,
                std::string{given_.replaces ? "Replace" : "Change"} + " rows of " + given_.table +
                    " that have the same keys?"));
        }
        return load(store, *text.records, maker);
    }

private:
    [[nodiscard]] entitable::result<row_plan> read_plan() const {
        row_plan made;
        if (!given_.partition.empty()) {
            ENTITABLE_TRY(auto key, key_expression::parse(given_.partition));
            made.partition = std::move(key);
        }
        if (!given_.row.empty()) {
            ENTITABLE_TRY(auto key, key_expression::parse(given_.row));
            made.row = std::move(key);
        }
        ENTITABLE_TRY(made.types, parse_types(given_.types));
        made.keeps_key_columns = given_.keeps_key_columns;
        return made;
    }

    [[nodiscard]] std::string state_path() const { return given_.file + ".import"; }

    [[nodiscard]] entitable::result<void> check_state() const {
        if (given_.file == "-") {
            if (given_.resumes) {
                return refuse("--resume needs a file, because the standard input cannot be read again");
            }
            return {};
        }
        if (given_.dry_run) { return {}; }
        std::error_code problem;
        bool const interrupted = std::filesystem::exists(state_path(), problem);
        if (given_.restarts) {
            std::filesystem::remove(state_path(), problem);
            std::filesystem::remove(given_.file + ".import.refused", problem);
        } else if (interrupted && !given_.resumes) {
            return refuse(
                "an import of " + given_.file + " was interrupted; --resume continues it, and --restart starts over");
        }
        return refused_files_.check();
    }

    void take_sample(record_reader& records, row_maker& maker) {
        while (sampled_ < given_.sample && records.next()) {
            maker.add_sample(records);
            ++sampled_;
        }
        whole_sample_ = sampled_ < given_.sample || !records.next();
        maker.end_sample();
        total_ = sampled_;
        std::error_code problem;
        auto const size = std::filesystem::file_size(given_.file, problem);
        if (!whole_sample_ && !problem && records.input().offset() != 0) {
            double const share = static_cast<double>(size) / static_cast<double>(records.input().offset());
            double const rows = static_cast<double>(sampled_ + 1) * share;
            total_ = (std::max)(sampled_ + 1, static_cast<std::uint64_t>(rows));
        }
    }

    [[nodiscard]] entitable::result<entitable::any_store> open_target() const {
        if (!given_.dry_run) { return open_or_create_store(given_.store); }
        auto opened = open_store(given_.store);
        // A store that a real import would create does not exist yet. Nothing is sent to it.
        bool const is_new = !opened && store_identity(given_.store).starts_with("file:") &&
            !std::filesystem::exists(store_identity(given_.store).substr(5));
        if (is_new) { return entitable::any_store{entitable::memory_backend{}}; }
        return opened;
    }

    [[nodiscard]] outcome load(entitable::any_store const& store, record_reader& records, row_maker& maker) {
        entitable::row_table const table{store, given_.table};
        bool const keeps_state = !given_.dry_run && given_.file != "-";
        if (!given_.dry_run) { ENTITABLE_TRY(made_table_, table.create_if_absent()); }
        entitable::bulk_options options;
        options.keep_refused = 0;
        options.max_refused = given_.max_refused;
        options.merge = given_.merges;
        options.dry_run = given_.dry_run;
        options.total = total_;
        if (keeps_state) {
            options.checkpoint = import_checkpoint{state_path(), refusals_};
            options.input = identity_of(given_);
            options.on_refused = [this](entitable::refused_row const& each) { refusals_.add(each); };
        } else {
            options.on_refused = [this](entitable::refused_row const& each) {
                kept_.push_back({each.index, entitable::text::printable(each.error.message)});
            };
        }
        progress_line line{with_};
        if (with_.err_is_terminal) {
            options.watch_every = std::chrono::milliseconds{200};
            options.watch = [&](entitable::bulk_progress const& now) {
                line.show_rows(now.read - now.held, now.total);
            };
        }
        if (with_.handle_interrupt && keeps_state) {
            with_.handle_interrupt();
            options.cancellation = with_.interrupted;
        }
        row_range rows{records, maker};
        auto const done = given_.replaces || given_.merges ? entitable::bulk_upsert(table, rows, options)
                                                           : entitable::bulk_insert(table, rows, options);
        line.clear();
        return done ? finish(*done) : stop(done.error());
    }

    [[nodiscard]] outcome stop(entitable::error failed) {
        std::error_code problem;
        bool const can_resume = given_.file != "-" && !given_.dry_run && std::filesystem::exists(state_path(), problem);
        if (failed.code == error_code::checkpoint_invalid) {
            failed.message += "; " + state_path() + " is of another file, table or options, --restart starts over";
        } else if (can_resume) {
            failed.message += failed.code == error_code::cancelled ? "" : "; once that is mended";
            failed.message += "; --resume continues where the import stopped";
        }
        return entitable::failure{std::move(failed)};
    }

    [[nodiscard]] outcome finish(entitable::bulk_report const& done) {
        with_.out << (given_.dry_run ? "dry run, nothing was written: " : "") << counted_rows(done.read)
                  << " read: " << grouped(done.written) << (given_.dry_run ? " can be written, " : " written, ");
        if (!given_.dry_run) { with_.out << grouped(done.already_there) << " already there, "; }
        if (done.superseded != 0) { with_.out << grouped(done.superseded) << " superseded, "; }
        with_.out << grouped(done.refused) << " refused\n";
        with_.out.flush();
        if (given_.file != "-" && !given_.dry_run) { ENTITABLE_TRY(refused_size_, refusals_.flush()); }
        auto const all = kept_.empty() && given_.file != "-" && !given_.dry_run ? refusals_.all() : sorted(kept_);
        ENTITABLE_CHECK(refused_files_.write(all));
        if (given_.file != "-" && !given_.dry_run) {
            refusals_.remove();
            ENTITABLE_CHECK(entitable::file_checkpoint{state_path()}.clear());
        }
        return done.refused == 0 ? exit_code::success : exit_code::some_failed;
    }

    [[nodiscard]] static std::vector<refusals::refusal> sorted(std::vector<refusals::refusal> given) {
        std::stable_sort(
            given.begin(), given.end(), [](auto const& left, auto const& right) { return left.index < right.index; });
        return given;
    }

    import_options const& given_;
    console& with_;
    refused_files refused_files_;
    refusals refusals_;
    std::vector<refusals::refusal> kept_; ///< refusals without a state: at most `max_refused`
    std::uint64_t sampled_{};
    bool whole_sample_{};
    bool made_table_{};
    std::uint64_t refused_size_{};
    std::optional<std::uint64_t> total_{};
};

} // namespace

void add_import(command_list& all) {
    auto given = std::make_shared<import_options>();
    CLI::App& command = all.add("import", "Loads rows from a file of CSV or JSON lines",
        "entitable import shop.db books books.csv --partition authors --row book_id:10\n"
        "entitable import shop.db results results.csv --partition event+distance --row \"'BIB:'+bib:5\"\n"
        "entitable import shop.db books books.jsonl --dry-run\n"
        "entitable import env:STORE books books.csv --partition year --row id --types year=String --resume",
        [given](console& with) { return importing{*given, with}.run(); });
    command.description(
        "Loads rows from a file of CSV or JSON lines.\n"
        "The first line of a CSV file names the columns. Types are guessed from the first rows and shown; NAME:TYPE "
        "in "
        "the first line, or --types, sets them. An empty field is an absent value, and \"\" is an empty text. JSON "
        "lines "
        "have the notation of the table service: \"NAME@odata.type\" sets the type of a member. "
        "A key is an expression of columns joined by +, with __ between them in the key: NAME, NAME:WIDTH pads a "
        "whole "
        "number with zeros, NAME:escaped permits any text, 'TEXT' is constant. Columns in keys are not stored again. "
        "Rows that exist with other properties are refused, unless --replace or --merge is given.");
    command.add_option("STORE", given->store, store_help)->required();
    command.add_option("TABLE", given->table, "Table, which is created if it does not exist")->required();
    command.add_option("FILE", given->file, "File of CSV or JSON lines; - is the standard input")->required();
    auto const is_key = [](std::string const& text) {
        auto const read = key_expression::parse(text);
        return read ? std::string{} : read.error().message;
    };
    command
        .add_option("--partition", given->partition, "PartitionKey, as an expression of columns; default: PartitionKey")
        ->check(is_key);
    command.add_option("--row", given->row, "RowKey, as an expression of columns; default: RowKey")->check(is_key);
    command
        .add_option("--types", given->types,
            "Types of columns: NAME=TYPE,...; String, Int32, Int64, Double, Boolean, "
            "DateTime, Guid, Binary")
        ->check([](std::string const& text) {
            auto const read = parse_types(text);
            return read ? std::string{} : read.error().message;
        });
    command.add_option("--format", given->format, "csv or jsonl; default: by the name of the file, else csv")
        ->check(CLI::IsMember{{"csv", "jsonl"}});
    command.add_option("--separator", given->separator, "Character between fields of CSV, or tab; default: a comma")
        ->check([](std::string const& text) {
            bool const good =
                text == "tab" || text == "\\t" || (text.size() == 1 && text != "\"" && text != "\n" && text != "\r");
            return good ? std::string{} : std::string{"--separator must be one character, or tab"};
        });
    command.add_option("--sample", given->sample, "Rows from which types are guessed; default: 100000")
        ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1'000'000'000}));
    command.add_flag("--keep-key-columns", given->keeps_key_columns, "Store the columns of keys as properties too");
    auto* const replaces = command.add_flag("--replace", given->replaces, "Replace rows that exist");
    command.add_flag("--merge", given->merges, "Merge into rows that exist")->excludes(replaces);
    command.add_flag("--yes", given->yes, "Overwrite without a question");
    command.add_option("--refused", given->refused,
        "File for refused rows; default: FILE.refused. Reasons are in the "
        "file with .reasons added. Not with the standard input");
    command.add_option("--max-refused", given->max_refused, "Refused rows that are accepted; default: 10000");
    auto* const resume = command.add_flag("--resume", given->resumes,
        "Continue an interrupted import; its state is in "
        "FILE.import");
    command.add_flag("--restart", given->restarts, "Discard the state of an interrupted import")->excludes(resume);
    command.add_flag("--dry-run", given->dry_run, "Read and check all rows, and write nothing");
    command.add_flag("--unmaintained", given->unmaintained,
        "Write even if the table has indexes or sums, which would become "
        "wrong");
}

} // namespace tool
