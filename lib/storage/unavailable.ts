/** An outage of the store, as an exception within this folder and as a value outside of it. */
import { Sso2UnavailableError } from '../errors'

/** What a method of the store answers when the store did not, in time, or could not do what was asked. */
export type Unavailable = 'unavailable'

/** What a method answers that only writes. */
export type Done = 'done'

/** The error of one command. The cause is dropped: it may hold the command's arguments. */
export function storeUnavailable(): Sso2UnavailableError {
  return new Sso2UnavailableError('store', true, 'the session store did not answer')
}

/** Runs commands; an outage is a value from here on. */
export async function unlessUnavailable<T>(run: () => Promise<T>): Promise<T | Unavailable> {
  try {
    return await run()
  } catch (error) {
    if (error instanceof Sso2UnavailableError && error.operation === 'store') return 'unavailable'
    throw error
  }
}

/** As {@link unlessUnavailable}, for commands whose answer says nothing. */
export function doneUnlessUnavailable(run: () => Promise<unknown>): Promise<Done | Unavailable> {
  return unlessUnavailable(async () => {
    await run()
    return 'done' as const
  })
}
