// SPDX-License-Identifier: Apache-2.0
#include "experiment/batch/batch_memo.h"

#include <filesystem>
#include <system_error>
#include <utility>

#include "core/error.h"
#include "core/memo/store.h"

namespace sluice {

namespace fs = std::filesystem;

namespace {

/// ConfigError if `file` is what a batch keeps for itself: the snapshot of any, or a file of this one's folder.
void check_name(const std::string& directory, const std::string& file) {
    const fs::path name = fs::path(file).filename();
    std::error_code ignored;
    const fs::path folder =
        fs::weakly_canonical(fs::absolute(file, ignored).parent_path(), ignored);
    const bool here = folder == fs::weakly_canonical(fs::absolute(directory, ignored), ignored);
    const bool own = name == "batch.db" || name == "batch.csv" || name == "check.csv";
    if (name == kStartMemo || (here && own)) {
        throw ConfigError(file, 0, "cannot be the memo: a batch keeps its own in that file");
    }
}

}  // namespace

BatchMemo::BatchMemo(const std::string& directory, std::string file, bool anew)
    : file_(std::move(file)), kept_((fs::path(directory) / kStartMemo).string()), anew_(anew) {
    check_name(directory, file_);
    memo::Loaded loaded = memo::load(file_);
    // Found out before hours of simulation rather than after.
    std::error_code ignored;
    const fs::path folder = fs::absolute(file_, ignored).parent_path();
    if (file_ != memo::default_path() && !fs::is_directory(folder, ignored)) {
        throw ConfigError(file_, 0, "cannot be a memo: its folder does not exist");
    }
    if (!anew_ && fs::exists(kept_, ignored)) {
        take_kept();
        return;
    }
    damaged_ = loaded.damaged;
    take(std::move(loaded.content));
}

void BatchMemo::take(memo::Content content) {
    entries_ = content.size();
    digest_ = memo::digest_of(content).text();
    snapshot_ = std::make_shared<const memo::Snapshot>(content);
    content_ = std::move(content);
}

void BatchMemo::take_kept() {
    memo::Loaded loaded = memo::load(kept_);
    if (loaded.damaged > 0) {
        throw ConfigError(
            kept_, 0,
            "is damaged; --anew, of the whole batch, or another --out begins with the "
            "memo as it is now");
    }
    damaged_ = 0;
    take(std::move(loaded.content));
    is_kept_ = true;
}

void BatchMemo::keep(const std::string& own) {
    const fs::path made = fs::path(own) / (std::string(kStartMemo) + ".new");
    if (!is_kept_) {
        std::error_code error;
        fs::remove(made, error);
        memo::save(made.string(), content_);
        fs::permissions(
            made, fs::perms::owner_read | fs::perms::group_read | fs::perms::others_read, error);
        // Of several shards that begin at a time, the first one's stays.
        if (!anew_) fs::create_hard_link(made, kept_, error);
        const bool other = error == std::errc::file_exists;
        if (anew_ || (error && !other)) fs::rename(made, kept_, error);
        if (error && !other) {
            throw ConfigError(kept_, 0, "cannot be written: " + error.message());
        }
        fs::remove(made, error);
        if (other) take_kept();
    }
    content_ = {};
}

void BatchMemo::add(const memo::Content& learned) {
    added_.emplace();
    try {
        const memo::Saved saved = memo::save(file_, learned);
        added_->entries = saved.entries;
        added_->samples = saved.samples;
    } catch (const ConfigError& error) {
        added_->fault = error.what();
    }
}

}  // namespace sluice
