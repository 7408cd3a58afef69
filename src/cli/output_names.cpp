// Names of masks, and the proof that no two files meet.
#include "cli/output_names.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "base/fail.hpp"
#include "base/path_text.hpp"

namespace fuseline::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view mask_suffix = ".mask.png";

bool is_folder(const fs::path& path) {
  std::error_code ignored;
  return fs::is_directory(path, ignored);
}

// One name for one file, whether it exists or not.
fs::path identity(const fs::path& path) {
  std::error_code error;
  fs::path canonical = fs::weakly_canonical(path, error);
  return error ? fs::absolute(path).lexically_normal() : canonical;
}

fs::path mask_name(const fs::path& picture) {
  return picture.stem().native() + std::string(mask_suffix);
}

void check_file_name(const fs::path& output) {
  std::string extension = output.extension().native();
  std::transform(extension.begin(), extension.end(), extension.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  if (extension != ".png")
    fail("{}: masks are written as PNG; give a name that ends in .png, or a folder that ends in /",
         path_text(output));
}

fs::path mask_of(const ImageEntry& entry, const std::string& output, bool output_is_folder) {
  if (output.empty()) return entry.path.parent_path() / mask_name(entry.path);
  if (!output_is_folder) return output;
  return fs::path(output) / entry.relative.parent_path() / mask_name(entry.path);
}

void check_collisions(const std::vector<MaskTask>& tasks) {
  std::set<fs::path> pictures;
  for (const MaskTask& task : tasks) pictures.insert(identity(task.picture));
  std::map<fs::path, const MaskTask*> writers;
  for (const MaskTask& task : tasks) {
    if (task.mask.empty()) continue;
    fs::path file = identity(task.mask);
    if (pictures.contains(file))
      fail("{}: the mask would overwrite this picture; choose another name with -o",
           path_text(task.mask));
    auto [other, added] = writers.try_emplace(file, &task);
    if (!added)
      fail(
          "{}: the masks of {} and {} would have this name; run them one after the other with "
          "different -o",
          path_text(task.mask), path_text(other->second->picture), path_text(task.picture));
  }
}

}  // namespace

std::vector<ImageEntry> list_pictures(const std::vector<std::string>& inputs) {
  if (inputs.empty()) fail("mask: name at least one picture or folder");
  std::vector<fs::path> paths(inputs.begin(), inputs.end());
  std::vector<ImageEntry> entries = list_images(paths);
  std::set<fs::path> named(paths.begin(), paths.end());
  std::erase_if(entries, [&](const ImageEntry& entry) {
    return !named.contains(entry.path) && entry.path.native().ends_with(mask_suffix);
  });
  if (entries.empty())
    fail("{}: no pictures but masks of an earlier run; name a file to take it all the same",
         path_text(paths.front()));
  return entries;
}

std::vector<MaskTask> plan_masks(const std::vector<std::string>& inputs,
                                 const std::vector<ImageEntry>& pictures,
                                 const std::string& output) {
  bool single = inputs.size() == 1 && !is_folder(inputs.front());
  bool output_is_folder = !single || output.ends_with('/') || is_folder(output);
  if (!output.empty() && !output_is_folder) check_file_name(output);
  std::error_code ignored;
  if (!output.empty() && output_is_folder && fs::exists(output, ignored) && !is_folder(output))
    fail("{}: a folder is needed for the masks of several pictures, and this is a file",
         path_text(output));
  std::vector<MaskTask> tasks;
  for (const ImageEntry& entry : pictures) {
    MaskTask task{entry.path, {}, entry.problem};
    if (entry.problem.empty()) task.mask = mask_of(entry, output, output_is_folder);
    tasks.push_back(std::move(task));
  }
  check_collisions(tasks);
  return tasks;
}

}  // namespace fuseline::cli
