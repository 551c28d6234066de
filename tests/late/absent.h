/* A room whose module the test takes away. */
#pragma once

int demur_absent_answer(void);
