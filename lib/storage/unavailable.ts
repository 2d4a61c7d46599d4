/** The store did not answer in time, or could not do what was asked. The cause is dropped: it may hold a command's arguments. */
export class StoreUnavailableError extends Error {
  constructor() {
    super('the session store did not answer')
    this.name = 'StoreUnavailableError'
  }
}
