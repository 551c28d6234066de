#include "dicom/receiver-journal.hh"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <sys/file.h>
#include <unistd.h>
#include <vector>

#include "base/error.h"
#include "base/file-output.h"

namespace {

constexpr const char *open_kind = ".open-";
constexpr const char *lost_kind = ".lost-";
constexpr const char *lost_object = ".lost-object-";
constexpr const char *lost_at = ".lost-at-";
constexpr const char *lost_by = ".lost-by-"; // of an older server
constexpr const char *lost_unnamed = ".lost-unnamed";

std::string
mark_of(const std::string &study, const char *kind) {
  return demur_journal_of(study.substr(0, study.rfind('/')).c_str()) +
         study.substr(study.rfind('/')) + kind;
}

// An AE title as a part of a file's name: no slash, and no dot, which begins a kind.
std::string
name_of(const std::string &ae) {
  g_autofree char *escaped = g_uri_escape_string(ae.c_str(), nullptr, FALSE);
  std::string name;
  for (const char *c = escaped; *c != '\0'; c++)
    name += *c == '.' ? std::string("%2E") : std::string(1, *c);
  return name;
}

// Held as long as it lives.
class Lock {
public:
  explicit Lock(const std::string &study)
      : folder_(open(demur_journal_of(study.substr(0, study.rfind('/')).c_str()).c_str(),
                     O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
    while (folder_ >= 0 && flock(folder_, LOCK_EX) != 0 && errno == EINTR)
      ;
  }
  ~Lock() {
    if (folder_ >= 0)
      close(folder_);
  }
  Lock(const Lock &) = delete;
  Lock &operator=(const Lock &) = delete;

private:
  const int folder_;
};

// Whether the kind of mark is of an association that broke off; its number, and the name of who
// called.
bool
is_broken_off(const char *kind, guint64 &number, std::string &name) {
  number = 0;
  if (g_str_has_prefix(kind, lost_by)) {
    name = kind + std::strlen(lost_by);
    return true;
  }
  char *end = nullptr;
  if (!g_str_has_prefix(kind, lost_at))
    return false;
  number = g_ascii_strtoull(kind + std::strlen(lost_at), &end, 10);
  if (!g_str_has_prefix(end, "-by-"))
    return false;
  name = end + std::strlen("-by-");
  return true;
}

// The loss before the mark of being a part: what a kill leaves between them is recalled.
bool
set_loss(const std::string &study, const std::string &kind) {
  return demur_mark_set(study, kind.c_str()) && demur_mark_set(study, demur_mark_broken);
}

struct Mark {
  std::string study, kind;
};

// Those of losses, of associations that are open, and of being a part.
std::vector<Mark>
list_marks(const std::string &folder) {
  std::vector<Mark> marks;
  g_autoptr(GDir) dir = g_dir_open(demur_journal_of(folder.c_str()).c_str(), 0, nullptr);
  const char *name;
  while (dir != nullptr && (name = g_dir_read_name(dir)) != nullptr) {
    const char *kind = std::strstr(name, lost_kind);
    if (kind == nullptr)
      kind = std::strstr(name, open_kind);
    if (kind == nullptr && g_str_has_suffix(name, demur_mark_broken))
      kind = name + std::strlen(name) - std::strlen(demur_mark_broken);
    if (kind != nullptr)
      marks.push_back({folder + "/" + std::string(name, kind), kind});
  }
  return marks;
}

bool
is_mended(const Mark &mark, const DemurMended &mended) {
  const char *kind = mark.kind.c_str();
  if (g_str_has_prefix(kind, lost_object))
    return mended.objects.count(kind + std::strlen(lost_object)) > 0;
  guint64 number = 0;
  std::string name;
  return mended.whole && is_broken_off(kind, number, name) && name == name_of(mended.ae) &&
         number < mended.begun;
}

// An earlier loss by the same caller takes the new number: there is one mark of each caller, and a
// name that replaces another takes no room.
bool
set_broken_off(const std::string &study, const std::string &name, guint64 number) {
  const std::string kind = lost_at + std::to_string(number) + "-by-" + name;
  for (const Mark &mark : list_marks(study.substr(0, study.rfind('/')))) {
    guint64 earlier = 0;
    std::string caller;
    if (mark.study == study && is_broken_off(mark.kind.c_str(), earlier, caller) &&
        caller == name && earlier < number)
      return demur_file_put(mark_of(study, mark.kind.c_str()).c_str(),
                            mark_of(study, kind.c_str()).c_str(), DEMUR_FILE_REPLACE, nullptr) &&
             demur_mark_set(study, demur_mark_broken);
  }
  return set_loss(study, kind);
}

} // namespace

std::string
demur_journal_of(const char *folder) {
  return std::string(folder) + "/.journal";
}

bool
demur_mark_has(const std::string &study, const char *kind) {
  return g_access(mark_of(study, kind).c_str(), F_OK) == 0;
}

bool
demur_mark_set(const std::string &study, const char *kind) {
  g_autoptr(GError) error = nullptr;
  return demur_mark_has(study, kind) ||
         demur_file_write(mark_of(study, kind).c_str(), "", 0, DEMUR_FILE_NEW, &error) ||
         g_error_matches(error, DEMUR_ERROR, DEMUR_ERROR_EXISTS);
}

void
demur_mark_clear(const std::string &study, const char *kind) {
  const std::string path = mark_of(study, kind);
  if (g_unlink(path.c_str()) == 0)
    demur_folder_sync(path.substr(0, path.rfind('/')).c_str());
}

std::string
demur_mark_open(pid_t process, const std::string &ae) {
  return open_kind + std::to_string(process) + "-" + name_of(ae);
}

bool
demur_loss_has(const std::string &study, const char *uid) {
  return demur_mark_has(study, (std::string(lost_object) + uid).c_str());
}

guint64
demur_losses_last(const char *folder) {
  guint64 last = 0;
  for (const Mark &mark : list_marks(folder)) {
    guint64 number = 0;
    std::string name;
    if (is_broken_off(mark.kind.c_str(), number, name) && number > last)
      last = number;
  }
  return last;
}

bool
demur_loss_of_object(const std::string &study, const char *uid) {
  const Lock lock(study);
  return set_loss(study, std::string(lost_object) + uid);
}

bool
demur_loss_unnamed(const std::string &study) {
  const Lock lock(study);
  return set_loss(study, lost_unnamed);
}

bool
demur_open_unname(const std::string &study, const std::string &open) {
  const std::string unnamed = open.substr(0, open.find('-', std::strlen(open_kind)));
  // Another name of a file that is there takes no room.
  return demur_file_put(mark_of(study, open.c_str()).c_str(),
                        mark_of(study, unnamed.c_str()).c_str(), DEMUR_FILE_REPLACE, nullptr);
}

bool
demur_loss_of_open(const std::string &study, const std::string &open, guint64 number) {
  const size_t dash = open.find('-', std::strlen(open_kind));
  const Lock lock(study);
  if (!(dash == std::string::npos ? set_loss(study, lost_unnamed)
                                  : set_broken_off(study, open.substr(dash + 1), number)))
    return false;
  demur_mark_clear(study, open.c_str());
  return true;
}

void
demur_losses_mend(const std::string &study, const DemurMended &mended) {
  if (!demur_mark_has(study, demur_mark_broken))
    return;
  const Lock lock(study);
  std::vector<Mark> gone;
  bool left = false;
  for (const Mark &mark : list_marks(study.substr(0, study.rfind('/')))) {
    if (mark.study != study || !g_str_has_prefix(mark.kind.c_str(), lost_kind))
      continue;
    if (is_mended(mark, mended))
      gone.push_back(mark);
    else
      left = true;
  }
  // Before the losses: one of being a part that a kill left alone would say that they have no name.
  if (!left && !gone.empty())
    demur_mark_clear(study, demur_mark_broken);
  for (const Mark &mark : gone)
    g_unlink(mark_of(study, mark.kind.c_str()).c_str());
  if (!gone.empty())
    demur_folder_sync(demur_journal_of(study.substr(0, study.rfind('/')).c_str()).c_str());
}

std::set<std::string>
demur_losses_recall(const char *folder, guint64 number) {
  std::set<std::string> named, broken, unmarked;
  for (const Mark &mark : list_marks(folder)) {
    if (mark.kind == demur_mark_broken) {
      broken.insert(mark.study);
      continue;
    }
    named.insert(mark.study);
    if (g_str_has_prefix(mark.kind.c_str(), open_kind)
            ? !demur_loss_of_open(mark.study, mark.kind, number)
            : !demur_mark_set(mark.study, demur_mark_broken))
      unmarked.insert(mark.study);
  }
  for (const std::string &study : broken)
    if (named.count(study) == 0 && !demur_loss_unnamed(study))
      unmarked.insert(study);
  return unmarked;
}
