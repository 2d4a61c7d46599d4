/** What browsers, and those who want to be taken for one, send as a cookie. */
import { type Deviation, type Scenario, usual, type Visitor } from '../scenario'

export const sentCookies: readonly Scenario[] = [
  {
    name: 'a cookie that comes twice is none',
    steps: ['GET /write', { ask: 'GET /read', cookie: (name, value) => `${name}=${value}; ${name}=${value}` }],
    differs: [odd(1, 'stranger'), odd(1, 'reader')],
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
