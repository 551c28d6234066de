// The journal of a storage server: marks of its studies, empty files FOLDER/.journal/STUDY.KIND. A
// mark is a name alone, so that a disk without room for an object still takes it.
//
//   STUDY.new, STUDY.reading   acknowledged and not read; being read
//   STUDY.open-PROCESS-AE      an association of that calling AE title stores objects of it
//   STUDY.open-PROCESS         .. which lost what the disk took no mark of
//   STUDY.lost-object-UID      that object was refused: lost until it came
//   STUDY.lost-at-N-by-AE      an association of that calling AE title broke off: lost until one of
//                              the same title that began later sent objects of the study, all of
//                              which were kept, and was released. What is earlier is told by number:
//                              a server numbers losses and beginnings in one sequence, beginning
//                              behind the last N of the journal, so that no clock plays a part
//   STUDY.lost-by-AE           .. of an older server: before all that begins now
//   STUDY.lost-unnamed         what was lost is not known: the study stays a part
//   STUDY.broken               there is a loss: the study may be a part
//
// A study is named by its folder, FOLDER/STUDY. Losses are set and cleared by several processes at
// once, one at a time by a lock of the journal's folder, which a killed process gives back.
#pragma once

#include <glib.h>

#include <set>
#include <string>

#include <sys/types.h>

constexpr const char *demur_mark_new = ".new";
constexpr const char *demur_mark_reading = ".reading";
constexpr const char *demur_mark_broken = ".broken";

std::string demur_journal_of(const char *folder);

bool demur_mark_has(const std::string &study, const char *kind);

// On the disk when it returns true.
bool demur_mark_set(const std::string &study, const char *kind);
void demur_mark_clear(const std::string &study, const char *kind);

// The kind of mark of an association that is open. ae: of who called.
std::string demur_mark_open(pid_t process, const std::string &ae);

// The highest number of a loss in the journal of the folder; 0: none.
guint64 demur_losses_last(const char *folder);

// Whether the object with that UID is marked as lost.
bool demur_loss_has(const std::string &study, const char *uid);

// Notes a loss now; false: the disk takes no mark of it.
bool demur_loss_of_object(const std::string &study, const char *uid);
bool demur_loss_unnamed(const std::string &study);

// The association of that mark of being open broke off: its loss, of that number, stands in the place
// of the mark, which stays where that can't be marked (false).
bool demur_loss_of_open(const std::string &study, const std::string &open, guint64 number);

// That association lost what the disk takes no mark of: whatever ends the server, the next one marks
// a loss that is not named. false: the mark is as it was.
bool demur_open_unname(const std::string &study, const std::string &open);

// What an association with a study brought.
struct DemurMended {
  std::set<std::string> objects; // UIDs that were lost before and came
  bool whole;     // it was released, and nothing was refused: it mends what broke off
  std::string ae; // of who called
  guint64 begun;  // its number: losses of lower numbers were before
};

// Clears the losses that are mended so, and where no other is left the study's mark of being a part.
void demur_losses_mend(const std::string &study, const DemurMended &mended);

// At the start of a server: an association that was open when the last one ended broke off, and what
// an older server marked without a name is a loss without one. number: of these losses. The studies
// whose losses the disk takes no mark of.
std::set<std::string> demur_losses_recall(const char *folder, guint64 number);
