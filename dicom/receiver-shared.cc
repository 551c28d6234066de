#include "dicom/receiver-shared.hh"

#include <cerrno>
#include <climits>

#include <unistd.h>

namespace {

constexpr size_t usual_lacking = 10000; // DemurReceiver.max_lacking

} // namespace

void
demur_receiver_count(guint64 &number) {
  __atomic_fetch_add(&number, 1, __ATOMIC_RELAXED);
}

guint64
demur_receiver_next_number(ReceiverShared &shared) {
  return __atomic_add_fetch(&shared.last_number, 1, __ATOMIC_ACQ_REL);
}

void
demur_receiver_say(int pipe, std::string line) {
  if (line.size() >= PIPE_BUF)
    line.resize(PIPE_BUF - 1);
  for (char &c : line)
    if (c == '\n')
      c = ' ';
  line += '\n';
  while (write(pipe, line.data(), line.size()) < 0 && errno == EINTR)
    ;
}

void
demur_receiver_tell(int pipe, const std::string &sentence) {
  demur_receiver_say(pipe, "P " + sentence);
}

size_t
demur_receiver_max_lacking(const DemurReceiver &receiver) {
  return receiver.max_lacking > 0 ? receiver.max_lacking : usual_lacking;
}
