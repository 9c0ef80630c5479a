/**
 * For a form that stays open after it was submitted: sets the next value unless the user has edited the field since. What is typed while a
 * request runs is not lost.
 */
export const unlessEdited =
  <T>(submitted: T, next: T) =>
  (current: T): T =>
    Object.is(current, submitted) ? next : current
