/** Handles an outage of the store. Within the folder an outage is an exception, outside an outage is a value. */
import { Sso2UnavailableError } from '../errors'

/** Result of a method if the store does not answer in time, or refuses a command. */
export type Unavailable = 'unavailable'

/** Result of a method that only writes. */
export type Done = 'done'

/** Creates the error of a command. The error has no cause, because a cause may hold the command's arguments. */
export function storeUnavailable(): Sso2UnavailableError {
  return new Sso2UnavailableError('store', true, 'the session store did not answer')
}

/** Runs commands, and returns an outage as a value. */
export async function unlessUnavailable<T>(run: () => Promise<T>): Promise<T | Unavailable> {
  try {
    return await run()
  } catch (error) {
    if (error instanceof Sso2UnavailableError && error.operation === 'store') return 'unavailable'
    throw error
  }
}

/** As {@link unlessUnavailable}, for commands whose result is not needed. */
export function doneUnlessUnavailable(run: () => Promise<unknown>): Promise<Done | Unavailable> {
  return unlessUnavailable(async () => {
    await run()
    return 'done' as const
  })
}
