#include "dicom/stow-server.hh"

#include "dicom/multipart.h"
#include "dicom/receiver-arrival.hh"
#include "dicom/stow-request.h"

#include "base/error.h"
#include "base/file-input.h"
#include "base/limits.h"
#include "base/translate.h"

#ifdef DEMUR_WITH_STOW

#include <arpa/inet.h>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>
#include <vector>

#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
#include <microhttpd.h>

namespace {

constexpr guint stall_factor = 20;            // an object may take so many timeouts
constexpr size_t connection_memory = 1 << 17; // bytes of a head, and of what is read at once
constexpr guint linger_seconds = 2;           // until a refused peer has read why
constexpr size_t magic_offset = 128;          // PS3.10 7.1
constexpr const char *answer_type = "application/dicom+json";
constexpr const char *tls_versions = "SECURE128:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2";

// The text of a settings file (owned); NULL with error, or where there is none.
char *
read_file(const char *path, GError **error) {
  return path != nullptr ? demur_file_input_read(path, DEMUR_LIMIT_SETTINGS_BYTES, nullptr, error)
                         : nullptr;
}

// What the files hold, as they are now.
struct Files {
  char *certificate = nullptr, *key = nullptr, *authorities = nullptr, *token = nullptr;
  Files() = default;
  Files(const Files &) = delete;
  Files &operator=(const Files &) = delete;
  ~Files() {
    for (char *text : {certificate, key, authorities, token})
      g_free(text);
  }
  bool read(const DemurStow &stow, GError **error) {
    certificate = read_file(stow.certificate, error);
    if (stow.certificate != nullptr && certificate == nullptr)
      return false;
    key = read_file(stow.key, error);
    if (stow.key != nullptr && key == nullptr)
      return false;
    authorities = read_file(stow.authorities, error);
    if (stow.authorities != nullptr && authorities == nullptr)
      return false;
    token = read_file(stow.token, error);
    if (stow.token != nullptr && token == nullptr)
      return false;
    if (token != nullptr)
      g_strstrip(token);
    return true;
  }
};

class Server {
public:
  Server(const DemurReceiver &receiver, ReceiverShared &shared, ReceiverSlot &slot, int pipe)
      : receiver_(receiver), stow_(*receiver.stow), shared_(shared), slot_(slot), pipe_(pipe) {
  }
  ~Server() {
    g_free(study_);
    demur_multipart_free(multipart_);
    demur_stow_answer_free(answer_);
  }
  Server(const Server &) = delete;
  Server &operator=(const Server &) = delete;

  void serve(int connection) {
    g_autoptr(GError) error = nullptr;
    if (!files_.read(stow_, &error))
      return refuse(error->message);
    alarm(stow_.timeout_seconds); // for TLS and the whole head: a byte a second is no way in
    const int kept = fcntl(connection, F_DUPFD_CLOEXEC, 0);
    struct MHD_Daemon *http = start();
    struct sockaddr_storage address;
    socklen_t length = sizeof address;
    if (http == nullptr ||
        getpeername(connection, reinterpret_cast<struct sockaddr *>(&address), &length) != 0) {
      close(kept);
      return refuse("HTTP can't be served");
    }
    fcntl(connection, F_SETFL, fcntl(connection, F_GETFL) | O_NONBLOCK);
    // The descriptor is the library's from here on.
    if (MHD_add_connection(http, connection, reinterpret_cast<struct sockaddr *>(&address),
                           length) != MHD_YES)
      gone_ = true;
    while (!gone_ && MHD_run_wait(http, 1000) == MHD_YES)
      ;
    MHD_stop_daemon(http);
    linger(kept);
  }

private:
  struct MHD_Daemon *start() {
    std::vector<struct MHD_OptionItem> options;
    const auto text = [&options](enum MHD_OPTION option, char *value) {
      if (value != nullptr)
        options.push_back({option, 0, value});
    };
    text(MHD_OPTION_HTTPS_MEM_CERT, files_.certificate);
    text(MHD_OPTION_HTTPS_MEM_KEY, files_.key);
    text(MHD_OPTION_HTTPS_MEM_TRUST, files_.authorities);
    if (files_.certificate != nullptr)
      text(MHD_OPTION_HTTPS_PRIORITIES, const_cast<char *>(tls_versions));
    options.push_back({MHD_OPTION_END, 0, nullptr});
    unsigned flags = MHD_USE_NO_LISTEN_SOCKET;
    if (files_.certificate != nullptr)
      flags |= MHD_USE_TLS;
    return MHD_start_daemon(
        flags, 0, nullptr, nullptr, on_request, this, MHD_OPTION_CONNECTION_TIMEOUT,
        stow_.timeout_seconds, MHD_OPTION_CONNECTION_MEMORY_LIMIT, connection_memory,
        MHD_OPTION_NOTIFY_COMPLETED, on_completed, this, MHD_OPTION_NOTIFY_CONNECTION,
        on_connection, this, MHD_OPTION_ARRAY, options.data(), MHD_OPTION_END);
  }

  // A peer that still sends would lose the answer with the connection.
  static void linger(int connection) {
    char bytes[65536];
    alarm(linger_seconds);
    fcntl(connection, F_SETFL, fcntl(connection, F_GETFL) & ~O_NONBLOCK);
    shutdown(connection, SHUT_WR);
    while (recv(connection, bytes, sizeof bytes, 0) > 0)
      ;
    close(connection);
    alarm(0);
  }

  void refuse(const char *why) {
    demur_receiver_count(shared_.n_refused);
    demur_receiver_tell(pipe_, std::string("a request over HTTP was refused: ") + why);
  }

  static MHD_Result on_request(void *self, struct MHD_Connection *connection, const char *path,
                               const char *method, const char *, const char *bytes, size_t *n,
                               void **begun) {
    auto *server = static_cast<Server *>(self);
    if (*begun == nullptr) {
      *begun = self;
      return server->begin(connection, method, path);
    }
    if (*n == 0)
      return server->finish(connection);
    const MHD_Result taken = server->take(bytes, *n);
    *n = 0;
    return taken;
  }

  static void on_completed(void *self, struct MHD_Connection *, void **,
                           enum MHD_RequestTerminationCode) {
    auto *server = static_cast<Server *>(self);
    if (server->begun_ && !server->ended_)
      server->arrival_.end(false);
    server->ended_ = true;
  }

  static void on_connection(void *self, struct MHD_Connection *, void **,
                            enum MHD_ConnectionNotificationCode what) {
    if (what == MHD_CONNECTION_NOTIFY_CLOSED)
      static_cast<Server *>(self)->gone_ = true;
  }

  static const char *header(struct MHD_Connection *connection, const char *name) {
    return MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name);
  }

  // Whether the caller's certificate is of the authorities, where one must be shown.
  bool shows_certificate(struct MHD_Connection *connection) const {
    if (files_.authorities == nullptr)
      return true;
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_GNUTLS_SESSION);
    unsigned faults = 1;
    return info != nullptr &&
           gnutls_certificate_verify_peers2(static_cast<gnutls_session_t>(info->tls_session),
                                            &faults) == GNUTLS_E_SUCCESS &&
           faults == 0;
  }

  MHD_Result begin(struct MHD_Connection *connection, const char *method, const char *path) {
    if (!shows_certificate(connection))
      return turn_away(connection, DEMUR_HTTP_FORBIDDEN);
    const DemurStowHead head = {method,
                                path,
                                header(connection, MHD_HTTP_HEADER_AUTHORIZATION),
                                header(connection, MHD_HTTP_HEADER_CONTENT_TYPE),
                                header(connection, MHD_HTTP_HEADER_CONTENT_ENCODING),
                                header(connection, MHD_HTTP_HEADER_CONTENT_LENGTH)};
    const DemurStowTerms terms = {files_.token, static_cast<guint64>(stow_.request_mb) << 20};
    const guint status = demur_stow_head_check(&head, &terms, &study_);
    if (status != 0)
      return turn_away(connection, status);
    g_autofree char *boundary = demur_multipart_boundary(head.content_type);
    multipart_ =
        demur_multipart_new(boundary, static_cast<size_t>(stow_.object_mb) << 20, on_part, this);
    // No AE title has so many characters.
    arrival_.begin(std::string("STOW-RS-from-") + slot_.host);
    begun_ = true;
    __atomic_store_n(&slot_.stage, receiver_associated, __ATOMIC_RELEASE);
    alarm(stow_.timeout_seconds * stall_factor);
    return MHD_YES;
  }

  static gboolean on_part(const guint8 *bytes, size_t n, gpointer self, GError **error) {
    return static_cast<Server *>(self)->take_object(bytes, n, error) ? TRUE : FALSE;
  }

  bool take_object(const guint8 *bytes, size_t n, GError **error) {
    alarm(stow_.timeout_seconds * stall_factor);
    ArrivalObject object;
    guint reason;
    if (n < magic_offset + 4 || std::memcmp(bytes + magic_offset, "DICM", 4) != 0) {
      reason = arrival_.reject("a part of the body is no DICOM file");
    } else {
      g_autoptr(GBytes) part = g_bytes_new_static(bytes, n);
      reason = arrival_.keep(part, study_, &object);
    }
    if (demur_stow_answer_add(answer_, object.sop_class_uid.c_str(),
                              object.sop_instance_uid.c_str(), reason))
      return true;
    end_ = DEMUR_STOW_TOO_LARGE;
    demur_error_set(error, DEMUR_ERROR_INPUT, "a request holds too many objects");
    return false;
  }

  // Behind a fault the rest is passed over: an answer goes out behind the body only.
  MHD_Result take(const char *bytes, size_t n) {
    n_bytes_ += n;
    if (n_bytes_ > static_cast<guint64>(stow_.request_mb) << 20) { // one of no length said before
      demur_receiver_tell(pipe_, "a request over HTTP broke off: it is too large");
      return MHD_NO;
    }
    if (end_ != DEMUR_STOW_WHOLE)
      return MHD_YES;
    g_autoptr(GError) cause = nullptr;
    if (!demur_multipart_feed(multipart_, reinterpret_cast<const guint8 *>(bytes), n, &cause))
      fail(cause->message);
    return MHD_YES;
  }

  void fail(const char *why) {
    if (end_ == DEMUR_STOW_WHOLE)
      end_ = demur_multipart_is_too_large(multipart_) ? DEMUR_STOW_TOO_LARGE : DEMUR_STOW_BROKEN;
    demur_receiver_tell(pipe_, std::string("a request over HTTP is not whole: ") + why);
  }

  MHD_Result finish(struct MHD_Connection *connection) {
    g_autoptr(GError) cause = nullptr;
    if (end_ == DEMUR_STOW_WHOLE && !demur_multipart_end(multipart_, &cause))
      fail(cause->message);
    // Before the answer: a peer that has it has a study that came whole, whatever ends this process.
    arrival_.end(end_ == DEMUR_STOW_WHOLE);
    ended_ = true;
    alarm(stow_.timeout_seconds);
    g_autofree char *text = demur_stow_answer_text(answer_);
    return reply(connection, demur_stow_answer_status(answer_, end_), text);
  }

  MHD_Result turn_away(struct MHD_Connection *connection, guint status) {
    refuse(("status " + std::to_string(status)).c_str());
    return reply(connection, status, "{}\n");
  }

  MHD_Result reply(struct MHD_Connection *connection, guint status, const char *text) {
    struct MHD_Response *response = MHD_create_response_from_buffer(
        std::strlen(text), const_cast<char *>(text), MHD_RESPMEM_MUST_COPY);
    if (response == nullptr)
      return MHD_NO;
    MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, answer_type);
    MHD_add_response_header(response, MHD_HTTP_HEADER_CONNECTION, "close");
    if (status == DEMUR_HTTP_UNAUTHORIZED)
      MHD_add_response_header(response, MHD_HTTP_HEADER_WWW_AUTHENTICATE, "Bearer");
    if (status == DEMUR_HTTP_NO_METHOD)
      MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, MHD_HTTP_METHOD_POST);
    if (status == DEMUR_HTTP_UNAVAILABLE)
      MHD_add_response_header(response, MHD_HTTP_HEADER_RETRY_AFTER, "60");
    const MHD_Result queued = MHD_queue_response(connection, status, response);
    MHD_destroy_response(response);
    return queued;
  }

  const DemurReceiver &receiver_;
  const DemurStow &stow_;
  ReceiverShared &shared_;
  ReceiverSlot &slot_;
  const int pipe_;
  Files files_;
  Arrival arrival_{receiver_, shared_, pipe_};
  DemurStowAnswer *const answer_ = demur_stow_answer_new();
  DemurMultipart *multipart_ = nullptr;
  char *study_ = nullptr; // of the path
  guint64 n_bytes_ = 0;
  DemurStowEnd end_ = DEMUR_STOW_WHOLE;
  bool begun_ = false, ended_ = false, gone_ = false;
};

gboolean
fail(GError **error, const char *file, const char *what) {
  g_autofree char *name = g_filename_display_name(file);
  demur_error_set(error, DEMUR_ERROR_INPUT, "STOW-RS: %s %s", name, what);
  return FALSE;
}

gnutls_datum_t
datum_of(char *text) {
  return {reinterpret_cast<unsigned char *>(text), static_cast<unsigned>(std::strlen(text))};
}

gboolean
check_certificates(const DemurStow &stow, const Files &files, GError **error) {
  gnutls_certificate_credentials_t credentials = nullptr;
  if (gnutls_certificate_allocate_credentials(&credentials) != GNUTLS_E_SUCCESS)
    return fail(error, stow.certificate, N_("can't be looked at"));
  gboolean good = TRUE;
  if (files.certificate != nullptr && files.key != nullptr) {
    const gnutls_datum_t certificate = datum_of(files.certificate), key = datum_of(files.key);
    if (gnutls_certificate_set_x509_key_mem(credentials, &certificate, &key, GNUTLS_X509_FMT_PEM) !=
        GNUTLS_E_SUCCESS)
      good = fail(error, stow.certificate,
                  N_("and its key can't be used (PEM, one of the other, without a password)"));
  }
  if (good && files.authorities != nullptr) {
    const gnutls_datum_t authorities = datum_of(files.authorities);
    if (gnutls_certificate_set_x509_trust_mem(credentials, &authorities, GNUTLS_X509_FMT_PEM) < 1)
      good =
          fail(error, stow.authorities, N_("can't be read as certificates of authorities (PEM)"));
  }
  gnutls_certificate_free_credentials(credentials);
  return good;
}

} // namespace

gboolean
demur_stow_check(const DemurStow *stow, GError **error) {
  struct in6_addr address;
  if (inet_pton(AF_INET, stow->address, &address) != 1 &&
      inet_pton(AF_INET6, stow->address, &address) != 1)
    return fail(error, stow->address, N_("is no address of IPv4 or IPv6"));
  Files files;
  if (!files.read(*stow, error))
    return FALSE;
  if (files.token != nullptr && *files.token == '\0')
    return fail(error, stow->token, N_("holds no token"));
  return check_certificates(*stow, files, error);
}

void
demur_stow_serve(const DemurReceiver &receiver, ReceiverShared &shared, ReceiverSlot &slot,
                 int pipe, int connection) {
  std::signal(SIGPIPE, SIG_IGN);
  Server(receiver, shared, slot, pipe).serve(connection);
}

#else

gboolean
demur_stow_check(const DemurStow *, GError **error) {
  demur_error_set(error, DEMUR_ERROR_UNSUPPORTED,
                  "this program was built without libmicrohttpd: it takes no objects over HTTP; "
                  "remove the port of [stow]");
  return FALSE;
}

void
demur_stow_serve(const DemurReceiver &, ReceiverShared &, ReceiverSlot &, int, int) {
}

#endif
