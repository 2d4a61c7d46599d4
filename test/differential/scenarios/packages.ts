/** What packages of the field do with a session, in their manner. */
import { randomBytes } from 'node:crypto'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { NextFunction, Request, RequestHandler, Response } from 'express'
import { around, type Bag, bag, dataOf, ending, type Page, type Scenario } from '../scenario'

/** As passport's session manager: a new ID, the old data where it is wanted, the user, and only then the page. */
async function logIn(req: Request, user: string, keepsData: boolean): Promise<string[]> {
  const old = bag(req)
  const regenerated = await ending((done) => req.session.regenerate(done))
  const session = bag(req)
  if (keepsData) for (const [name, value] of Object.entries(old)) session[name] = value
  session['passport'] = { ...(session['passport'] as object | undefined), user }
  return [regenerated, await ending((done) => req.session.save(done))]
}

async function logOut(req: Request, keepsData: boolean): Promise<string[]> {
  const old = bag(req)
  delete (old['passport'] as Record<string, unknown> | undefined)?.['user']
  const saved = await ending((done) => req.session.save(done))
  const regenerated = await ending((done) => req.session.regenerate(done))
  if (keepsData) for (const [name, value] of Object.entries(old)) bag(req)[name] = value
  return [saved, regenerated]
}

const userOf = (session: Bag) => (session['passport'] as { user?: string } | undefined)?.user ?? null

const me: Page = (req, res) => res.json({ user: userOf(bag(req)), data: dataOf(req.session) })

/** As connect-flash. */
function flash(req: Request, type: string, message?: string): string[] {
  const session = bag(req)
  const all = (session['flash'] ?? {}) as Record<string, string[]>
  session['flash'] = all
  if (message !== undefined) {
    all[type] = [...(all[type] ?? []), message]
    return all[type]
  }
  const { [type]: found = [], ...rest } = all
  session['flash'] = rest
  return found
}

/** As csurf with its secret in the session. */
function csrf(req: Request, res: Response, next: NextFunction): void {
  const session = bag(req)
  session['csrfSecret'] ??= randomBytes(9).toString('hex')
  if (req.method === 'GET' || req.get('x-csrf-token') === session['csrfSecret']) next()
  else res.status(403).json('wrong token')
}

const chooseLanguage: RequestHandler = (req, res, next) => {
  const { lang } = req.query
  if (typeof lang === 'string') bag(req)['lang'] = lang
  res.set('content-language', String(bag(req)['lang'] ?? 'en'))
  next()
}

const signIn: Page = async (req, res) => res.json(await logIn(req, 'ada', true))

/** What one request leaves for the next; scenarios run one after the other. */
const tokens = { last: '' }
const seen = new Set<string>()

export const packages: readonly Scenario[] = [
  {
    name: 'flash messages are shown once',
    pages: {
      '/flash': (req, res) => {
        flash(req, 'info', 'saved')
        flash(req, 'info', 'twice')
        res.redirect('/show')
      },
      '/show': (req, res) => res.json(flash(req, 'info')),
    },
    steps: ['POST /flash', 'GET /show', 'GET /show', 'GET /read'],
  },
  {
    name: 'a token of the form in the session guards its post',
    build: around({ after: () => [csrf] }),
    pages: {
      '/form': (req, res) => {
        tokens.last = String(bag(req)['csrfSecret'])
        res.json({ length: tokens.last.length })
      },
      '/post': (_req, res) => res.json('taken'),
      '/forget': (req, res) => res.json(Reflect.deleteProperty(req.session, 'csrfSecret')),
    },
    steps: [
      'GET /form',
      'GET /form',
      { ask: 'POST /post', headers: { 'x-csrf-token': 'guessed' } },
      {
        ask: 'POST /post',
        get headers() {
          return { 'x-csrf-token': tokens.last }
        },
      },
    ],
  },
  {
    name: 'a login in the manner of passport changes the ID and drops the old data',
    pages: { '/sign-in': async (req, res) => res.json(await logIn(req, 'ada', false)), '/me': me },
    steps: ['GET /write', 'POST /sign-in', 'GET /me', 'GET /me'],
  },
  {
    name: 'a login in the manner of passport that keeps the session info keeps it',
    pages: { '/sign-in': signIn, '/me': me },
    steps: ['GET /write', 'POST /sign-in', 'GET /me', 'GET /me'],
  },
  {
    name: 'a login in the manner of passport whose verification takes a while',
    pages: {
      '/sign-in': async (req, res) => {
        await nextTurn()
        const outcome = await logIn(req, 'ada', true)
        await nextTurn()
        res.redirect(303, `/me?${outcome.join('-')}`)
      },
      '/me': me,
    },
    steps: ['GET /write', 'POST /sign-in', 'GET /me'],
    headers: ['location'],
  },
  {
    name: 'a login in the manner of passport at the very first request',
    pages: { '/sign-in': signIn, '/me': me },
    steps: ['POST /sign-in', 'GET /me'],
  },
  {
    name: 'a logout in the manner of passport leaves nobody',
    pages: {
      '/sign-in': signIn,
      '/sign-out': async (req, res) => {
        const outcome = await logOut(req, false)
        bag(req)['bye'] = true
        res.json(outcome)
      },
      '/me': me,
    },
    steps: ['GET /write', 'POST /sign-in', 'POST /sign-out', 'GET /me'],
  },
  {
    name: 'a logout in the manner of passport that keeps the session info keeps it',
    pages: {
      '/sign-in': signIn,
      '/sign-out': async (req, res) => res.json(await logOut(req, true)),
      '/me': me,
    },
    steps: ['GET /write', 'POST /sign-in', 'POST /sign-out', 'GET /me'],
  },
  {
    name: 'an address to come back to is kept until it is used',
    pages: {
      '/guarded': (req, res) => {
        bag(req)['returnTo'] = req.originalUrl
        res.redirect('/sign-in')
      },
      '/back': (req, res) => {
        const to = String(bag(req)['returnTo'] ?? '/')
        delete bag(req)['returnTo']
        res.redirect(to)
      },
    },
    steps: ['GET /guarded?a=1&b=%20', 'GET /back', 'GET /back'],
    headers: ['location'],
  },
  {
    name: 'a rate limit by session ID counts one visitor as one',
    pages: {
      '/limited': (req, res) => {
        bag(req)['known'] = true
        const isNew = !seen.has(req.sessionID)
        seen.add(req.sessionID)
        res.json({ isNew })
      },
    },
    steps: ['GET /limited', 'GET /limited', 'GET /limited'],
  },
  {
    name: 'an OAuth state in the session is found at the way back, once',
    pages: {
      '/begin': async (req, res) => {
        bag(req)['oauth:state'] = { handle: 'state-1', nonce: [1, 2] }
        res.json({ saved: await ending((done) => req.session.save(done)) })
      },
      '/callback': (req, res) => {
        const state = bag(req)['oauth:state'] ?? null
        delete bag(req)['oauth:state']
        bag(req)['done'] = true
        res.json({ state })
      },
    },
    steps: ['GET /begin', 'GET /callback', 'GET /callback'],
  },
  {
    name: 'a language chosen once is found on every page',
    build: around({ after: () => [chooseLanguage] }),
    steps: ['GET /nothing', 'GET /nothing?lang=sv', 'GET /nothing', 'HEAD /nothing'],
    headers: ['content-language'],
  },
]
