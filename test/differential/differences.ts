/**
 * Where `req.session` differs from express-session on purpose. Each name stands in docs/sessions.md with its reason;
 * each is shown by a scenario at least, and a scenario that differs names its row here.
 */
export const differences = [
  'a response with our cookie is private',
  'an empty session is not stored',
  'a page is served while the store is away',
  'a destroyed session ID cannot be used again',
  'an ambiguous cookie is ignored',
  'a login renews the ID',
  'a cookie lives as long as its session may',
  'security attributes of the cookie cannot be changed',
  'only session IDs made by this package are looked up',
] as const

export type Difference = (typeof differences)[number]
