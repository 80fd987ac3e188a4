// The catalog of dibs' own items, kept in two files that can be removed at any time: an image of
// all items at some commit (`items.index`), and a line for each commit since (`items.changes`).
//
// Asked for a commit, it goes from the image along the lines to it. What no line tells, git does,
// and then there is one. When the lines become many, a new image is made.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "git/branch_files.h"
#include "items/catalog.h"
#include "items/catalog_change.h"
#include "items/catalog_writer.h"
#include "sys/file_system.h"

namespace dibs {

class CatalogCache {
 public:
  struct Place {
    std::string directory;   // .git/dibs
    std::string common_dir;  // .git
    unsigned file_mode = kPrivateFile;
    // What this boot is called. An image is not flushed and counts until the next: it is quickly
    // made again, and whoever asks first would wait for the disk. Empty: nobody can tell, so it is.
    std::string boot = {};
  };
  CatalogCache(FileSystem& files, const GitProgram& git, Place place)
      : files_(files), git_(git), place_(std::move(place)), branch_(git, place_.common_dir) {}

  // As of a commit; with an empty one there are no items.
  [[nodiscard]] Result<Catalog> at(const std::string& commit, const Workflow& workflow);
  // Whoever made a commit knows what it changed. Does nothing when the lines do not lead to `from`:
  // the next question finds out.
  void note(const CatalogStep& step);

 private:
  /// An image, and how far the lines lead on from it.
  struct Led {
    Catalog catalog;
    std::string to;
    std::size_t bytes = 0;  // of the lines
    bool whole = true;      // false: a line was cut short
  };

  [[nodiscard]] Result<Catalog> find(const std::string& commit, const Workflow& workflow);
  [[nodiscard]] Result<std::optional<Led>> led(const std::string& goal, const Workflow& workflow);
  [[nodiscard]] Result<std::optional<CatalogStep>> step_between(const std::string& from,
                                                                const std::string& to);
  [[nodiscard]] Result<Catalog> make_anew(const std::string& commit, const Workflow& workflow);
  // Gives all items to the writer, and tells what is broken.
  using Fill = std::function<Result<std::vector<BrokenItem>>(CatalogWriter& writer)>;
  [[nodiscard]] Result<Catalog> make(const Fill& fill, const std::string& commit,
                                     const Workflow& workflow);
  [[nodiscard]] Done write(const Fill& fill, const std::string& commit, const Workflow& workflow);
  [[nodiscard]] std::string index() const { return place_.directory + "/items.index"; }
  [[nodiscard]] std::string changes() const { return place_.directory + "/items.changes"; }

  FileSystem& files_;
  const GitProgram& git_;
  Place place_;
  BranchFiles branch_;
};

}  // namespace dibs
