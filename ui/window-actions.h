/* Every action that a person can ask for, its key, and where it stands in the menu: the one table
 * that the keys, the key page, the menu and the documents come from. */
#pragma once

#include <gtk/gtk.h>

#include "ui/page.h"

G_BEGIN_DECLS

typedef enum {
  DEMUR_ACTIONS_PROGRAM,
  DEMUR_ACTIONS_CASES,
  DEMUR_ACTIONS_IMAGE,
  DEMUR_ACTIONS_COHORT,
  DEMUR_N_ACTION_GROUPS,
} DemurActionGroup;

typedef struct {
  DemurActionGroup group;
  const char *keys;   /* accelerators with blanks between, any of them; NULL: none */
  DemurPage page;     /* where the keys act */
  const char *action; /* detailed name ("win.preset(1)"); NULL: a widget's own keys, told only */
  const char *title;  /* marked; NULL: another key of the row above, not told */
  const char *menu;   /* label in the menu, marked; NULL: not in it */
  int section;        /* of the menu, from 0 */
} DemurWindowAction;

const DemurWindowAction *demur_window_actions(size_t *n);

/* Tells GTK the keys that act everywhere. The others reach the window only where nothing focused
 * has used them, so that letters typed into an entry stay letters. */
void demur_window_actions_set_accels(GtkApplication *application);

/* Activates what the key does on the page; FALSE: nothing. */
gboolean demur_window_actions_key(GtkWidget *window, guint key, DemurPage page);

/* The menu (owned). */
GMenuModel *demur_window_actions_menu(void);
/* A group's title, marked (ui/words.h). */
const char *demur_window_actions_group(DemurActionGroup group);

/* The keys as docs/workstation.md and the manual page hold them (owned); tests keep them equal. */
char *demur_window_actions_markdown(void);
char *demur_window_actions_mdoc(void);

G_END_DECLS
