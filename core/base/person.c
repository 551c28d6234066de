#include "base/person.h"

#include <string.h>

#include "base/sha256.h"

#define N_FIELDS 5

/* The same of printable ASCII, which most texts are, without going through Unicode; NULL for others.
 */
static char *
normalise_ascii(const char *text, gboolean is_name) {
  for (const char *at = text; *at != '\0'; at++)
    if (*at < ' ' || *at > '~')
      return NULL;
  char *out = g_new(char, strlen(text) + 1), *to = out;
  gboolean gap = FALSE;
  for (; *text != '\0' && !(is_name && *text == '='); text++) {
    if (*text == ' ' || (is_name && (*text == '^' || *text == ','))) {
      gap = to > out;
      continue;
    }
    if (gap)
      *to++ = ' ';
    gap = FALSE;
    *to++ = g_ascii_tolower(*text);
  }
  *to = '\0';
  return out;
}

/* Case folded, composed, blanks and separators of names as one blank; of a name in several scripts
 * ("Yamada^Tarou=..") the first. "" where nothing is recorded. Owned. */
static char *
normalise(const char *text, gboolean is_name) {
  if (text == NULL)
    return g_strdup("");
  char *plain = normalise_ascii(text, is_name);
  if (plain != NULL)
    return plain;
  g_autofree char *valid = g_utf8_make_valid(text, -1);
  if (is_name)
    valid[strcspn(valid, "=")] = '\0';
  g_autofree char *folded = g_utf8_casefold(valid, -1);
  g_autofree char *composed = g_utf8_normalize(folded, -1, G_NORMALIZE_ALL_COMPOSE);
  g_autoptr(GString) out = g_string_new(NULL);
  gboolean gap = FALSE;
  for (const char *at = composed; *at != '\0'; at = g_utf8_next_char(at)) {
    const gunichar c = g_utf8_get_char(at);
    if (g_unichar_iszerowidth(c) && !g_unichar_ismark(c))
      continue;
    if (g_unichar_isspace(c) || g_unichar_iscntrl(c) || (is_name && (c == '^' || c == ','))) {
      gap = out->len > 0;
      continue;
    }
    if (gap)
      g_string_append_c(out, ' ');
    gap = FALSE;
    g_string_append_unichar(out, c);
  }
  return g_string_free(g_steal_pointer(&out), FALSE);
}

gboolean
demur_person_date(const char *text, gint64 *days) {
  int n[3] = {0};
  g_autofree char *digits = normalise(text, FALSE);
  const gboolean dicom = strlen(digits) == 8 && strspn(digits, "0123456789") == 8;
  const gboolean dashed = strlen(digits) >= 10 && digits[4] == digits[7] &&
                          strchr("-./", digits[4]) != NULL && digits[4] != '\0' &&
                          (digits[10] == '\0' || digits[10] == 't' || digits[10] == ' ');
  if (!dicom && !dashed)
    return FALSE;
  const int at[3] = {0, dicom ? 4 : 5, dicom ? 6 : 8}, length[3] = {4, 2, 2};
  for (int i = 0; i < 3; i++)
    for (int k = 0; k < length[i]; k++) {
      const char c = digits[at[i] + k];
      if (!g_ascii_isdigit(c))
        return FALSE;
      n[i] = 10 * n[i] + (c - '0');
    }
  if (n[0] < 1 || !g_date_valid_dmy((GDateDay)n[2], (GDateMonth)n[1], (GDateYear)n[0]))
    return FALSE;
  GDate date;
  g_date_clear(&date, 1);
  g_date_set_dmy(&date, (GDateDay)n[2], (GDateMonth)n[1], (GDateYear)n[0]);
  *days = (gint64)g_date_get_julian(&date);
  return TRUE;
}

char *
demur_person_date_text(const char *text) {
  gint64 days;
  if (!demur_person_date(text, &days))
    return NULL;
  GDate date;
  g_date_clear(&date, 1);
  g_date_set_julian(&date, (guint32)days);
  return g_strdup_printf("%04u-%02u-%02u", (guint)g_date_get_year(&date),
                         (guint)g_date_get_month(&date), (guint)g_date_get_day(&date));
}

/* IDs that many persons have. */
static gboolean
names_nobody(const char *id) {
  static const char *const placeholders[] = {
      "anon",    "anonymous", "anonymized",  "anonymised", "unknown", "none",  "null",
      "n/a",     "na",        "nil",         "test",       "patient", "no id", "noid",
      "removed", "deleted",   "-",           ".",          "?",       "xxx",   "not available",
      "no name", "unnamed",   "unidentified"};
  for (guint i = 0; i < G_N_ELEMENTS(placeholders); i++)
    if (strcmp(id, placeholders[i]) == 0)
      return TRUE;
  return strspn(id, "0") == strlen(id); /* blank too */
}

typedef struct {
  char *issuer, *id, *name, *birth_date, *sex;
} Facts;

static void
facts_clear(Facts *facts) {
  g_free(facts->issuer);
  g_free(facts->id);
  g_free(facts->name);
  g_free(facts->birth_date);
  g_free(facts->sex);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Facts, facts_clear)

static Facts
facts_of(const DemurPerson *person) {
  Facts facts = {normalise(person->issuer, FALSE), normalise(person->id, FALSE),
                 normalise(person->name, TRUE), normalise(person->birth_date, FALSE),
                 normalise(person->sex, FALSE)};
  gint64 days;
  if (demur_person_date(facts.birth_date, &days)) {
    g_free(facts.birth_date);
    facts.birth_date = g_strdup_printf("%" G_GINT64_FORMAT, days);
  } else {
    facts.birth_date[0] = '\0'; /* "unknown", "00000000" */
  }
  /* One letter; O and U tell nothing. */
  facts.sex[facts.sex[0] == 'f' || facts.sex[0] == 'm' ? 1 : 0] = '\0';
  if (names_nobody(facts.name))
    facts.name[0] = '\0';
  return facts;
}

typedef enum { AGREE, DIFFER, SILENT } Witness;

static Witness
witness(const char *a, const char *b) {
  if (*a == '\0' || *b == '\0')
    return SILENT;
  return strcmp(a, b) == 0 ? AGREE : DIFFER;
}

/* The words of a name but for the first one: "doe jane" and "roe jane" keep their given name. */
static gboolean
keeps_given_name(const char *a, const char *b) {
  const char *x = strchr(a, ' '), *y = strchr(b, ' ');
  return x != NULL && y != NULL && strcmp(x, y) == 0;
}

DemurPersonMatch
demur_person_compare(const DemurPerson *a, const DemurPerson *b) {
  g_auto(Facts) x = facts_of(a), y = facts_of(b);
  const Witness name = witness(x.name, y.name), birth = witness(x.birth_date, y.birth_date),
                sex = witness(x.sex, y.sex), issuer = witness(x.issuer, y.issuer);
  const gboolean against = birth == DIFFER || sex == DIFFER;
  if (names_nobody(x.id) || names_nobody(y.id))
    return against || name == DIFFER ? DEMUR_PERSON_OTHER : DEMUR_PERSON_UNKNOWN;
  if (strcmp(x.id, y.id) != 0)
    return issuer != DIFFER || against || name == DIFFER ? DEMUR_PERSON_OTHER
                                                         : DEMUR_PERSON_UNKNOWN;
  if (issuer == DIFFER)
    return against || name == DIFFER ? DEMUR_PERSON_OTHER : DEMUR_PERSON_UNKNOWN;
  if (against)
    return DEMUR_PERSON_OTHER;
  if (name == AGREE)
    return DEMUR_PERSON_SAME;
  if (name == DIFFER)
    return birth == AGREE && sex == AGREE && keeps_given_name(x.name, y.name)
               ? DEMUR_PERSON_SAME
               : DEMUR_PERSON_UNKNOWN;
  if (birth == AGREE)
    return DEMUR_PERSON_SAME;
  /* Nothing but the ID: enough where neither record knows more. */
  return *x.name == '\0' && *y.name == '\0' && *x.birth_date == '\0' && *y.birth_date == '\0'
             ? DEMUR_PERSON_SAME
             : DEMUR_PERSON_UNKNOWN;
}

char *
demur_person_digest(const DemurPerson *person) {
  g_auto(Facts) facts = facts_of(person);
  const char *const texts[N_FIELDS] = {facts.issuer, facts.id, facts.name, facts.birth_date,
                                       facts.sex};
  DemurSha256 sha;
  demur_sha256_init(&sha);
  for (guint i = 0; i < N_FIELDS; i++)
    demur_sha256_add_text(&sha, texts[i]);
  return demur_sha256_finish_hex(&sha);
}

DemurPersonMatch
demur_person_compare_in_study(const DemurPerson *a, const DemurPerson *b) {
  const DemurPersonMatch match = demur_person_compare(a, b);
  if (match != DEMUR_PERSON_UNKNOWN)
    return match;
  g_autofree char *mine = demur_person_digest(a), *other = demur_person_digest(b);
  return strcmp(mine, other) == 0 ? DEMUR_PERSON_SAME : DEMUR_PERSON_UNKNOWN;
}

char *
demur_person_key(const char *id) {
  return normalise(id, FALSE);
}

gboolean
demur_person_same_id(const char *a, const char *b) {
  g_autofree char *x = normalise(a, FALSE), *y = normalise(b, FALSE);
  return strcmp(x, y) == 0;
}

/* One way in which a person is recorded, and the class that it is put in.
 */
typedef struct {
  char *digest, *key, *name;
  const DemurPerson *person;
  guint class;
} Spelling;

static void
spelling_free(gpointer data) {
  Spelling *spelling = data;
  g_free(spelling->digest);
  g_free(spelling->key);
  g_free(spelling->name);
  g_free(spelling);
}

/* Those of one name stand together, so that they meet before a name that changed. */
static int
order_spellings(gconstpointer a, gconstpointer b) {
  const Spelling *x = *(Spelling *const *)a, *y = *(Spelling *const *)b;
  const int keys = strcmp(x->key, y->key), names = strcmp(x->name, y->name);
  return keys != 0 ? keys : names != 0 ? names : strcmp(x->digest, y->digest);
}

/* The first class of the same key whose every spelling is the same person, else next. */
static guint
find_class(const GPtrArray *sorted, guint at, guint next) {
  const Spelling *one = sorted->pdata[at];
  g_autoptr(GHashTable) refused = g_hash_table_new(NULL, NULL);
  guint found = next;
  if (names_nobody(one->key)) /* the same words alone are the same person; thousands may share it */
    return next;
  for (guint i = at; i-- > 0;) {
    const Spelling *other = sorted->pdata[i];
    if (strcmp(other->key, one->key) != 0)
      break;
    if (demur_person_compare_in_study(one->person, other->person) != DEMUR_PERSON_SAME)
      g_hash_table_add(refused, GUINT_TO_POINTER(other->class));
  }
  for (guint i = at; i-- > 0;) {
    const Spelling *other = sorted->pdata[i];
    if (strcmp(other->key, one->key) != 0)
      break;
    if (other->class < found && !g_hash_table_contains(refused, GUINT_TO_POINTER(other->class)))
      found = other->class;
  }
  return found;
}

guint
demur_person_classes(const DemurPerson *persons, size_t n, guint *classes) {
  g_autoptr(GHashTable) by_words = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  g_autoptr(GHashTable) by_digest = g_hash_table_new(g_str_hash, g_str_equal);
  g_autoptr(GPtrArray) spellings = g_ptr_array_new_with_free_func(spelling_free);
  g_autofree Spelling **of = g_new(Spelling *, MAX(n, 1));
  for (size_t i = 0; i < n; i++) {
    const DemurPerson *p = &persons[i];
    /* As written: a digest is made once for each way of writing. */
    const char *const texts[N_FIELDS] = {p->issuer, p->id, p->name, p->birth_date, p->sex};
    g_autoptr(GString) words = g_string_new(NULL);
    for (guint t = 0; t < N_FIELDS; t++) { /* framed: a text may hold whatever parts them */
      const char *text = texts[t] != NULL ? texts[t] : "";
      g_string_append_printf(words, "%zu %s", strlen(text), text);
    }
    of[i] = g_hash_table_lookup(by_words, words->str);
    if (of[i] != NULL)
      continue;
    g_autofree char *digest = demur_person_digest(p);
    of[i] = g_hash_table_lookup(by_digest, digest);
    if (of[i] == NULL) {
      of[i] = g_new0(Spelling, 1);
      *of[i] = (Spelling){g_steal_pointer(&digest), demur_person_key(p->id),
                          normalise(p->name, TRUE), p, 0};
      g_ptr_array_add(spellings, of[i]);
      g_hash_table_insert(by_digest, of[i]->digest, of[i]);
    }
    g_hash_table_insert(by_words, g_strdup(words->str), of[i]);
  }
  g_ptr_array_sort(spellings, order_spellings);
  guint n_classes = 0;
  for (guint s = 0; s < spellings->len; s++) {
    Spelling *one = spellings->pdata[s];
    one->class = find_class(spellings, s, n_classes);
    n_classes = MAX(n_classes, one->class + 1);
  }
  g_autofree guint *shown = g_new(guint, MAX(n_classes, 1));
  for (guint c = 0; c < n_classes; c++)
    shown[c] = G_MAXUINT;
  guint next = 0;
  for (size_t i = 0; i < n; i++) {
    if (shown[of[i]->class] == G_MAXUINT)
      shown[of[i]->class] = next++;
    classes[i] = shown[of[i]->class];
  }
  return n_classes;
}
