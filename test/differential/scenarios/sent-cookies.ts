/** What browsers, and those who want to be taken for one, send as a cookie. */
import type { NextFunction, Request, Response } from 'express'
import { around, type Deviation, type Scenario, usual, type Visitor } from '../scenario'

export const sentCookies: readonly Scenario[] = [
  {
    name: 'a cookie that comes twice is none',
    steps: ['GET /write', { ask: 'GET /read', cookie: (name, value) => `${name}=${value}; ${name}=${value}` }],
    differs: [odd(1, 'stranger'), odd(1, 'reader')],
  },
  {
    name: 'a cookie that comes twice is none behind cookie-parser either',
    build: around({ before: () => [likeCookieParser] }),
    steps: ['GET /write', { ask: 'GET /read', cookie: (name, value) => `${name}=${value}; ${name}=x` }, 'GET /read'],
    differs: [odd(1, 'stranger'), odd(1, 'reader')],
  },
  {
    name: 'an odd spelling of the name is not ours behind cookie-parser either',
    build: around({ before: () => [likeCookieParser] }),
    steps: ['GET /write', { ask: 'GET /read', cookie: (name, value) => `a=1; \u00a0${name}=${value}` }, 'GET /read'],
    differs: [{ row: 'an ambiguous cookie is ignored', at: 1, ours: { body: {} } }],
  },
  {
    name: 'a cookie with a wrong signature is none',
    steps: [
      'GET /write',
      { ask: 'GET /read', cookie: (name, value) => `${name}=${value.slice(0, -3)}AAA` },
      { ask: 'GET /write', cookie: (name) => `${name}=s%3Anobody.nothing` },
      'GET /read',
    ],
  },
  {
    name: 'other cookies around ours do no harm',
    steps: ['GET /write', { ask: 'GET /read', cookie: (name, value) => `a=1;  ${name}=${value} ; b="2"; c` }],
  },
]

/** The browser is told to forget its cookies of this name. */
function odd(at: number, visitor: Visitor): Deviation {
  const ours = { body: {}, cookies: [{ ...usual, life: 'gone' }] }
  return { row: 'an ambiguous cookie is ignored', visitor, at, ours }
}

/** As the package of this name: the first value of a name counts, and any white space around it goes. */
function likeCookieParser(req: Request, _res: Response, next: NextFunction): void {
  const pairs = (req.headers.cookie ?? '').split(';').map((pair) => pair.split('=').map((part) => part.trim()))
  const values = pairs.reverse().map(([name = '', value = '']) => [name, decodeURIComponent(value)])
  Object.assign(req, { cookies: Object.fromEntries(values), signedCookies: {} })
  next()
}
