/**
 * Schemas of the options that are used as the site wrote them: hooks, views, `logger`, `agent`, `clock` and `allowWeakSecret`. Only the type of a
 * hook is checked here. The caller of a hook checks the result.
 */
import { z } from 'zod'
import { areAgents } from './agents'

const hook = () => z.custom((value) => typeof value === 'function', 'must be a function').optional()
const name = () => z.string({ error: 'must be a text' }).min(1, 'must not be empty').optional()
const view = (description: string) => hook().meta({ description, defaultText: 'the built-in page' })

/** Schemas of options passed on unchanged. */
export const unchangedOptions = z.object({
  exchangeTicket: hook().meta({
    description:
      'Exchanges a ticket for an access token: `(ticket, { sid, signal })` returns a string, or the JSON of the token endpoint. It shares a limit of 8 seconds with `loadUser`.',
    defaultText: 'a form POST to `tokenUrl`',
  }),
  ticketExchange: z
    .object(
      {
        grantType: name().meta({ description: 'Value of `grant_type`.', defaultText: '`authorization_code`' }),
        ticketParameter: name().meta({ description: 'Parameter that holds the ticket.', defaultText: '`code`' }),
        clientAuth: z.enum(['post', 'basic'], { error: "must be 'post' or 'basic'" }).optional().meta({
          description: "How the client shows who it is: in the body, or by `'basic'` in the Authorization header.",
          defaultText: "`'post'`",
        }),
      },
      { error: 'must be { grantType, ticketParameter, clientAuth }' },
    )
    .optional()
    .describe(
      'Adapts the calls to your token endpoint. With `exchangeTicket` only `clientAuth` is accepted, for `sso.api`.',
    ),
  loadUser: hook().meta({
    description:
      'Loads the user of an access token: `({ accessToken, api, sid })` returns JSON with at least `accountId`. The result becomes `req.sso2.user`.',
    defaultText: 'GET of `userPath`',
  }),
  onLogin: hook().meta({
    description:
      'Is called as `(req, user)` once after each login established on this site: by the landing page, the login form or a status check. It may write `req.session`; `req.sso2` does not know the login yet. The response waits for it, 2 seconds at most. An error is logged and changes nothing.',
    defaultText: 'none',
  }),
  onLogout: hook().meta({
    description:
      "Is called as `(req, result)` once after each logout requested on this site, with `'confirmed'`, `'pending'` or `'no_session'`. The rules of `onLogin` apply.",
    defaultText: 'none',
  }),
  shouldIdentify: hook().meta({
    description:
      'Decides whether a request may be redirected to Identify: `(request) => boolean`. By default a page load may, but not of a crawler that announces itself. A prefetch that it lets through gets 503.',
    defaultText: 'page loads by people',
  }),
  views: z
    .object(
      {
        login: view('The login page.'),
        confirmLogout: view('The page that asks before a logout.'),
        problem: view('The page that says what went wrong.'),
      },
      { error: 'must be { login, confirmLogout, problem }' },
    )
    .optional()
    .describe(
      'Custom pages: each function takes a context, the request and the response, and returns HTML, or a promise of HTML, within 8 seconds (docs/login-pages.md).',
    ),
  allowWeakSecret: z.boolean({ error: 'must be true or false' }).optional().meta({
    description: 'Accepts a `clientSecret` of fewer than 32 bytes, if the platform has issued one.',
    defaultText: 'false',
  }),
  logger: z
    .custom((value) => hasFunctions(value, ['warn', 'info']), 'must be { warn(message), info(message) }')
    .optional()
    .meta({
      description:
        'Receives log lines about problems that prevent logins: one line per minute and cause, without secrets. pino and winston fit.',
      defaultText: 'the console',
    }),
  agent: z
    .custom((value) => areAgents(value), 'must be an http.Agent or https.Agent, or { http, https }')
    .optional()
    .meta({
      description:
        'Agent of all server-to-server calls: an outgoing proxy, an own CA, a client certificate (docs/deployment.md).',
      defaultText: "Node's own, with keep-alive",
    }),
  clock: z
    .custom((value) => hasFunctions(value, ['now']), 'must be { now(): number }')
    .optional()
    .meta({
      description: 'Source of time in milliseconds since 1970, for tests: `emulator.clock` fits.',
      defaultText: "the system's",
    }),
})

/** Does the value have all these methods? Methods of the prototype count, because many loggers are instances of a class. */
function hasFunctions(value: unknown, names: readonly string[]): boolean {
  if (typeof value !== 'object' || value === null) return false
  return names.every((name) => typeof Reflect.get(value, name) === 'function')
}
