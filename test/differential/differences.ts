/**
 * Where `req.session` differs from express-session on purpose. Each name stands in docs/session-differences.md with its reason;
 * each is shown by a scenario at least, and a scenario that differs names its row here.
 */
export const differences = [
  'a live cookie is not sent again',
  'an answer with our cookie is private',
  'an empty session is not stored',
  'a page is served while the store is away',
  'a dead ID stays dead',
  'an odd cookie is no cookie',
  'a login renews the ID',
  'a cookie lives as long as its session may',
  'what guards the cookie is not for handlers to change',
  'the store cannot be listed',
  'an ID that is not ours is nothing',
] as const

/** A row of the list. */
export type Difference = (typeof differences)[number]
