/** What hooks and views of the site must be: their kind alone; what they do is seen where they are called. */
import { z } from 'zod'
import { expected } from './checks'

const hook = z.custom((value) => typeof value === 'function', 'must be a function').optional()
const name = z.string({ error: 'must be a text' }).min(1, 'must not be empty').optional()

/** Options that are passed on as they are. */
export const hooks = z.object({
  exchangeTicket: hook,
  identifyUser: hook,
  shouldIdentify: hook,
  views: z
    .strictObject(
      { login: hook, confirmLogout: hook, problem: hook },
      { error: expected('{ login, confirmLogout, problem }') },
    )
    .optional(),
  ticketExchange: z
    .strictObject(
      {
        grantType: name,
        ticketParameter: name,
        clientAuth: z.enum(['post', 'basic'], { error: "must be 'post' or 'basic'" }).optional(),
      },
      { error: expected('{ grantType, ticketParameter, clientAuth }') },
    )
    .optional(),
  allowWeakSecret: z.boolean({ error: 'must be true or false' }).optional(),
  logger: z
    .custom((value) => hasFunctions(value, ['warn', 'info']), 'must be { warn(message), info(message) }')
    .optional(),
  clock: z.custom((value) => hasFunctions(value, ['now']), 'must be { now(): number }').optional(),
})

/** Loggers are often objects of a class: methods of the prototype count. */
function hasFunctions(value: unknown, names: readonly string[]): boolean {
  if (typeof value !== 'object' || value === null) return false
  return names.every((name) => typeof Reflect.get(value, name) === 'function')
}
