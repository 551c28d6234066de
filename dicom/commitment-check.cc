#include "dicom/commitment-check.hh"
#include "dicom/files.h"

#include <cstring>
#include <map>

namespace {

constexpr int max_depth = 3; // FOLDER/STUDY/SERIES

// SOPInstanceUID -> path, for the wanted ones.
void
find_objects(const std::string &folder, int depth, std::map<std::string, std::string> &wanted) {
  g_autoptr(GDir) dir = g_dir_open(folder.c_str(), 0, nullptr);
  const char *name;
  while (dir != nullptr && (name = g_dir_read_name(dir)) != nullptr) {
    if (name[0] == '.')
      continue;
    const std::string path = folder + "/" + name;
    if (!g_str_has_suffix(name, ".dcm")) {
      if (depth < max_depth)
        find_objects(path, depth + 1, wanted);
      continue;
    }
    const auto at = wanted.find(std::string(name, std::strlen(name) - 4));
    if (at != wanted.end())
      at->second = path;
  }
}

Uint16
failure_of(const CommitmentItem &item, const std::string &path) {
  g_autoptr(DemurSource) source =
      !path.empty() ? demur_source_open(path.c_str(), nullptr) : nullptr;
  g_autoptr(DemurHeader) header = source != nullptr ? demur_header_read(&source, nullptr) : nullptr;
  if (header == nullptr || item.instance != header->sop_instance_uid)
    return commitment_no_object;
  return g_strcmp0(header->sop_class_uid, item.sop_class.c_str()) == 0 ? Uint16(0)
                                                                       : commitment_conflict;
}

} // namespace

void
demur_commitment_check(const char *folder, CommitmentMessage &message) {
  std::map<std::string, std::string> paths;
  for (const CommitmentItem &item : message.items)
    paths[item.instance] = "";
  find_objects(folder, 1, paths);
  std::vector<CommitmentItem> kept;
  message.failed.clear();
  for (CommitmentItem &item : message.items) {
    item.failure = failure_of(item, paths[item.instance]);
    (item.failure == 0 ? kept : message.failed).push_back(item);
  }
  message.items = kept;
}
