#include "dicom/stow-request.h"

#include <string.h>

#include <openssl/crypto.h>

#include "base/json-writer.h"
#include "dicom/multipart.h"
#include "dicom/object-folder.h"

/* Attributes as DICOM JSON writes their tags. */
#define CLASS_UID "00081150"
#define INSTANCE_UID "00081155"
#define RETRIEVE_URL "00081190"
#define FAILURE_REASON "00081197"
#define FAILED_SEQUENCE "00081198"
#define STORED_SEQUENCE "00081199"
#define OTHER_FAILURES "0008119A"

#define STUDIES "/studies"
#define OBJECTS "application/dicom"
#define OUT_OF_RESOURCES 0xA700 /* to 0xA7FF */

/* --- the head --- */

/* 0, or why there is nothing at the path. */
static guint
read_path(const char *path, char **study) {
  *study = NULL;
  const size_t n = strlen(STUDIES);
  if (strncmp(path, STUDIES, n) != 0 || (path[n] != '\0' && path[n] != '/'))
    return DEMUR_HTTP_NOT_FOUND;
  const char *name = path[n] == '/' ? path + n + 1 : path + n;
  if (*name == '\0')
    return 0;
  if (strchr(name, '/') != NULL)
    return DEMUR_HTTP_NOT_FOUND;
  if (!demur_object_is_uid(name))
    return DEMUR_HTTP_BAD_REQUEST;
  *study = g_strdup(name);
  return 0;
}

/* In a time that tells nothing of the token but its length. */
static gboolean
may_store(const char *authorization, const char *token) {
  static const char scheme[] = "Bearer ";
  const size_t n = sizeof scheme - 1;
  if (authorization == NULL || g_ascii_strncasecmp(authorization, scheme, n) != 0)
    return FALSE;
  const char *shown = authorization + n;
  while (*shown == ' ')
    shown++;
  return strlen(shown) == strlen(token) && CRYPTO_memcmp(shown, token, strlen(token)) == 0;
}

static gboolean
is_of_objects(const DemurStowHead *head) {
  g_autofree char *type = demur_multipart_parameter(head->content_type, "type");
  g_autofree char *boundary = demur_multipart_boundary(head->content_type);
  const gboolean plain =
      head->content_encoding == NULL || g_ascii_strcasecmp(head->content_encoding, "identity") == 0;
  return plain && boundary != NULL && type != NULL && g_ascii_strcasecmp(type, OBJECTS) == 0;
}

guint
demur_stow_head_check(const DemurStowHead *head, const DemurStowTerms *terms, char **study) {
  *study = NULL;
  if (terms->token != NULL && !may_store(head->authorization, terms->token))
    return DEMUR_HTTP_UNAUTHORIZED;
  g_autofree char *found = NULL;
  const guint status = read_path(head->path, &found);
  if (status != 0)
    return status;
  if (strcmp(head->method, "POST") != 0)
    return DEMUR_HTTP_NO_METHOD;
  if (!is_of_objects(head))
    return DEMUR_HTTP_NO_TYPE;
  guint64 length = 0;
  if (head->content_length != NULL &&
      !g_ascii_string_to_unsigned(head->content_length, 10, 0, G_MAXUINT64, &length, NULL))
    return DEMUR_HTTP_BAD_REQUEST;
  if (length > terms->max_bytes)
    return DEMUR_HTTP_TOO_LARGE;
  *study = g_steal_pointer(&found);
  return 0;
}

/* --- the answer --- */

typedef struct {
  char *sop_class_uid, *sop_instance_uid; /* NULL: not known */
  guint reason;
} Object;

struct DemurStowAnswer {
  GPtrArray *objects; /* Object */
  guint n_kept, n_refused_for_room;
};

static void
object_free(gpointer data) {
  Object *object = data;
  g_free(object->sop_class_uid);
  g_free(object->sop_instance_uid);
  g_free(object);
}

DemurStowAnswer *
demur_stow_answer_new(void) {
  DemurStowAnswer *answer = g_new0(DemurStowAnswer, 1);
  answer->objects = g_ptr_array_new_with_free_func(object_free);
  return answer;
}

void
demur_stow_answer_free(DemurStowAnswer *answer) {
  if (answer == NULL)
    return;
  g_ptr_array_unref(answer->objects);
  g_free(answer);
}

static char *
uid_of(const char *text) {
  return demur_object_is_uid(text) ? g_strdup(text) : NULL;
}

gboolean
demur_stow_answer_add(DemurStowAnswer *answer, const char *sop_class_uid,
                      const char *sop_instance_uid, guint reason) {
  if (answer->objects->len >= DEMUR_STOW_MAX_OBJECTS)
    return FALSE;
  Object *object = g_new0(Object, 1);
  object->sop_class_uid = uid_of(sop_class_uid);
  object->sop_instance_uid = uid_of(sop_instance_uid);
  object->reason = reason;
  g_ptr_array_add(answer->objects, object);
  answer->n_kept += reason == 0 ? 1 : 0;
  answer->n_refused_for_room += reason >> 8 == OUT_OF_RESOURCES >> 8 ? 1 : 0;
  return TRUE;
}

guint
demur_stow_answer_status(const DemurStowAnswer *answer, DemurStowEnd end) {
  if (end == DEMUR_STOW_TOO_LARGE)
    return DEMUR_HTTP_TOO_LARGE;
  if (end == DEMUR_STOW_BROKEN || answer->objects->len == 0)
    return DEMUR_HTTP_BAD_REQUEST;
  if (answer->n_kept == answer->objects->len)
    return DEMUR_HTTP_OK;
  if (answer->n_kept > 0)
    return DEMUR_HTTP_ACCEPTED;
  return answer->n_refused_for_room > 0 ? DEMUR_HTTP_UNAVAILABLE : DEMUR_HTTP_CONFLICT;
}

static void
write_uid(DemurJson *json, const char *tag, const char *uid) {
  demur_json_begin_object(json, tag);
  demur_json_string(json, "vr", "UI");
  if (uid != NULL) {
    demur_json_begin_array(json, "Value");
    demur_json_string(json, NULL, uid);
    demur_json_end_array(json);
  }
  demur_json_end_object(json);
}

static void
write_object(DemurJson *json, const Object *object) {
  demur_json_begin_object(json, NULL);
  if (object->sop_instance_uid != NULL) {
    write_uid(json, CLASS_UID, object->sop_class_uid);
    write_uid(json, INSTANCE_UID, object->sop_instance_uid);
  }
  if (object->reason != 0) {
    demur_json_begin_object(json, FAILURE_REASON);
    demur_json_string(json, "vr", "US");
    demur_json_begin_array(json, "Value");
    demur_json_int(json, NULL, object->reason);
    demur_json_end_array(json);
    demur_json_end_object(json);
  } else { /* of type 2: nobody retrieves here */
    demur_json_begin_object(json, RETRIEVE_URL);
    demur_json_string(json, "vr", "UR");
    demur_json_end_object(json);
  }
  demur_json_end_object(json);
}

static const char *
sequence_of(const Object *object) {
  return object->reason == 0                ? STORED_SEQUENCE
         : object->sop_instance_uid != NULL ? FAILED_SEQUENCE
                                            : OTHER_FAILURES;
}

char *
demur_stow_answer_text(const DemurStowAnswer *answer) {
  static const char *const sequences[] = {FAILED_SEQUENCE, STORED_SEQUENCE, OTHER_FAILURES};
  DemurJson *json = demur_json_new();
  demur_json_begin_object(json, NULL);
  for (gsize s = 0; s < G_N_ELEMENTS(sequences); s++) {
    gboolean begun = FALSE;
    for (guint i = 0; i < answer->objects->len; i++) {
      const Object *object = answer->objects->pdata[i];
      if (strcmp(sequence_of(object), sequences[s]) != 0)
        continue;
      if (!begun) {
        demur_json_begin_object(json, sequences[s]);
        demur_json_string(json, "vr", "SQ");
        demur_json_begin_array(json, "Value");
      }
      begun = TRUE;
      write_object(json, object);
    }
    if (begun) {
      demur_json_end_array(json);
      demur_json_end_object(json);
    }
  }
  demur_json_end_object(json);
  return demur_json_finish(json);
}
